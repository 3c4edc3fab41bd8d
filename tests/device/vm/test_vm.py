#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests of ci/vm and ci/setup: about seven short guests. Prints "N passed, N failed"; exit status 0, 1, or 77 (cannot run)."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
REPO_DIR = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(REPO_DIR, "ci", "vm"))
from o2vm import guest, host, verdict  # noqa: E402

RUN = os.path.join(REPO_DIR, "ci", "vm", "run")
PREPARE = os.path.join(REPO_DIR, "ci", "vm", "prepare")
SETUP = os.path.join(REPO_DIR, "ci", "setup")
CACHE = os.environ.get("O2REF_VM_CACHE") or os.path.join(REPO_DIR, "build", "vm")
PINGPONG_ITERATIONS = 200
PINGPONG_BYTES = 4096

WORK = tempfile.mkdtemp(prefix="o2ref-test-vm-")
counts = {True: 0, False: 0}


def check(what, held, detail=""):
    counts[bool(held)] += 1
    if not held:
        print(f"FAIL {what}" + (f": {detail}" if detail else ""), flush=True)


def vm(*arguments, **keywords):
    """Run ci/vm/run once, with a log directory for this test."""
    log = os.path.join(WORK, f"log-{time.monotonic_ns()}")
    done = subprocess.run([RUN, "--log-dir", log, *arguments], capture_output=True, check=False, **keywords)
    done.log = log
    done.text = done.stderr.decode(errors="replace")
    return done


def qemu_pids():
    """Process ids of guests that this test started, found by the log directory on their command line."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if WORK.encode() in f.read() and os.readlink(f"/proc/{pid}/exe").endswith("qemu-system-x86_64"):
                    found.append(int(pid))
        except OSError:
            pass
    return found


GUEST_SCRIPT = f"""
printf 'to stdout\\n'; printf 'to stderr\\n' >&2; echo again > /dev/stderr
exec 3> "$O2REF_SHARE/report"
pwd >&3
ulimit -l >&3
ls /dev/infiniband/rdma_cm >&3
echo a lockup $(cat /proc/sys/kernel/watchdog_thresh) >&3
for dev in $O2REF_RXE_A $O2REF_RXE_B; do ibv_devinfo -v -d $dev > "$O2REF_SHARE/$dev" || exit 9; done
sent=/sys/class/infiniband/$O2REF_RXE_A/ports/1/hw_counters/sent_pkts
wire=/sys/class/net/$O2REF_NETDEV_A/statistics/tx_packets
echo before $(cat $sent $wire) >&3
ibv_rc_pingpong -e -d $O2REF_RXE_A -g $O2REF_GID_INDEX -s {PINGPONG_BYTES} -n {PINGPONG_ITERATIONS} > /tmp/server 2>&1 &
sleep 0.5
ibv_rc_pingpong -e -d $O2REF_RXE_B -g $O2REF_GID_INDEX -s {PINGPONG_BYTES} -n {PINGPONG_ITERATIONS} 127.0.0.1 > /tmp/client 2>&1
echo client $? >&3
wait
echo after $(cat $sent $wire) >&3
touch /usr/o2ref-must-not-appear 2> /dev/null && echo writable >&3
echo "$FROM_CALLER" >&3
sleep 1000 &
exit 3
"""


def test_devices_and_streams():
    share = os.path.join(WORK, "share")
    done = vm("--share", share, "--env", "FROM_CALLER=it's \"quoted\" $HOME", "--", "sh", "-c", GUEST_SCRIPT, cwd=WORK)
    check("status of the command comes back", done.returncode == 3, f"{done.returncode}, {done.text}")
    check("standard output is the command's alone", done.stdout == b"to stdout\n", done.stdout)
    check("standard error is apart", "to stderr\nagain\n" in done.text and "to stdout" not in done.text, done.text)
    check("time to answer is printed", "guest answered after" in done.text, done.text)
    with open(os.path.join(share, "report"), encoding="utf-8") as f:
        report = f.read().splitlines()
    check("same working directory, below /tmp, too", report[0] == WORK, report)
    check("memory may be locked without limit", report[1] == "unlimited", report)
    check("connection manager's node is there", report[2] == "/dev/infiniband/rdma_cm", report)
    for dev in ("rxa", "rxb"):
        with open(os.path.join(share, dev), encoding="utf-8") as f:
            info = f.read()
        check(f"{dev} is active with MTU 4096", "PORT_ACTIVE" in info and "active_mtu:\t\t4096" in info, info[:400])
    thresh = next(line for line in report if line.startswith("a lockup "))
    check("a busy host is no lockup", thresh == f"a lockup {60 if '(tcg' in done.text else 10}", report)
    before, after = ([int(word) for word in line.split()[1:]] for line in report if line.split()[0] in ("before", "after"))
    check("ibv_rc_pingpong between the devices", "client 0" in report, report)
    check("rxe counted the packets", after[0] - before[0] >= PINGPONG_ITERATIONS, report)
    check("the packets crossed the netdev", after[1] - before[1] >= PINGPONG_ITERATIONS, report)
    check("the host's files are read-only", "writable" not in report, report)
    check("variables arrive unchanged", report[-1] == "it's \"quoted\" $HOME", report)
    for name in ("console.log", "dmesg.txt", "ibv_devinfo.txt", "hw_counters.txt"):
        path = os.path.join(done.log, name)
        check(f"{name} is kept on failure", os.path.isfile(path))
    with open(os.path.join(done.log, "ibv_devinfo.txt"), encoding="utf-8") as f:
        check("kept ibv_devinfo names both devices", {"rxa", "rxb"} <= set(f.read().split()))


def test_success_binary():
    done = vm("--", "sh", "-c", "x=$(mktemp); head -c 3000000 /dev/urandom > $x; md5sum < $x >&2; cat $x")
    digest = subprocess.run(["md5sum"], input=done.stdout, capture_output=True, check=True).stdout.decode()
    check("status 0", done.returncode == 0, done.text)
    check("3 MB of random output are byte-exact", len(done.stdout) == 3000000 and digest in done.text, done.text)
    check("logs of a success are dropped", not os.path.exists(done.log))


def test_panic():
    script = 'echo "reg_plan fmr seed 0x2a" > $O2REF_SHARE/current-case; echo c > /proc/sysrq-trigger; sleep 60'
    done = vm("--", "sh", "-c", script)
    check("a panic gives 71", done.returncode == 71, f"{done.returncode}, {done.text}")
    check("the panic is named", "guest kernel panic: Kernel panic - not syncing" in done.text, done.text)
    check("the case that caused it is printed", "reg_plan fmr seed 0x2a" in done.text, done.text)


def test_warning():
    done = vm("--", "sh", "-c", "echo 'WARNING: test' > /dev/kmsg")
    check("a kernel warning gives 70", done.returncode == 70, f"{done.returncode}, {done.text}")
    check("the warning is named", "guest kernel warning: WARNING: test" in done.text, done.text)


def test_timeout():
    start = time.monotonic()
    done = vm("--timeout", "2", "--", "sh", "-c", "echo begun; sleep 1000")
    check("a timeout gives 124", done.returncode == 124, f"{done.returncode}, {done.text}")
    check("a timeout is said", "timed out after 2 s" in done.text, done.text)
    check("output up to the timeout is there", done.stdout == b"begun\n", done.stdout)
    check("dmesg of a timeout is kept", os.path.isfile(os.path.join(done.log, "dmesg.txt")))
    check("a timeout does not take the full minute", time.monotonic() - start < 60)


def test_signals():
    for number, expected in ((signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)):
        log = os.path.join(WORK, f"signal-{number}")
        with subprocess.Popen([RUN, "--log-dir", log, "--", "sh", "-c", "echo up; sleep 1000"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
            check("guest is up", running.stdout.readline() == b"up\n")
            check("one QEMU runs", len(qemu_pids()) == 1)
            running.send_signal(number)
            check(f"signal {number} ends the run", running.wait() == expected, running.returncode)
        deadline = time.monotonic() + 5
        while qemu_pids() and time.monotonic() < deadline:
            time.sleep(0.05)
        check(f"no QEMU is left after signal {number}", not qemu_pids())


def refused(what, done, text):
    said = (done.stdout + done.stderr).decode(errors="replace")
    check(f"{what}: status 77", done.returncode == 77, f"{done.returncode}, {said}")
    check(f"{what}: one clear line", text in said and len(said.splitlines()) == 1, said)


def test_refusals():
    check("no command is wrong usage", vm().returncode == 2)
    check("a bad option is wrong usage", vm("--smp", "0", "--", "true").returncode == 2)
    check("setup refuses an unknown group", subprocess.run([SETUP, "nonsense"], capture_output=True, check=False).returncode == 2)
    devices = os.listdir(host.SYSFS) if os.path.isdir(host.SYSFS) else []
    if not any(map(host.is_rxe, devices)):
        refused("--host without a device", vm("--host", "--", "true"), "no soft-RoCE device")
    else:
        print("not run: refusal of --host (this host has a soft-RoCE device)")
    done = subprocess.run([PREPARE, "--suite", "no-such-suite", "--cache", os.path.join(WORK, "suite-cache")],
                          capture_output=True, check=False)
    refused("prepare of a suite that is nowhere", done, "no suite no-such-suite")
    few = os.path.join(WORK, "few-tools")
    os.mkdir(few)
    for tool in ("bash", "sed", "sort", "awk", "xargs", "grep", "dirname", "id", "cat"):
        os.symlink(shutil.which(tool), os.path.join(few, tool))
    done = subprocess.run([SETUP, "vm"], env={"PATH": few}, capture_output=True, check=False)
    refused("setup without apt", done, "not a Debian-like system")
    if os.geteuid() != 0 or subprocess.run(["unshare", "-mn", "true"], capture_output=True, check=False).returncode != 0:
        print("not run: refusals without QEMU and without network (they need root and unshare)")
        return
    hide = 'mount --bind /dev/null /usr/bin/qemu-system-x86_64 && exec "$@"'
    done = subprocess.run(["unshare", "-m", "sh", "-c", hide, "sh", RUN, "--", "true"], capture_output=True, check=False)
    refused("run without QEMU", done, "qemu-system-x86_64 is missing")
    hide = 'mount -t tmpfs none /var/lib/apt/lists && exec "$@"'
    done = subprocess.run(["unshare", "-mn", "sh", "-c", hide, "sh", PREPARE, "--cache", os.path.join(WORK, "empty-cache")],
                          capture_output=True, check=False)
    refused("prepare without a kernel package", done, "no kernel package")
    done = subprocess.run(["unshare", "-mn", "sh", "-c", hide, "sh", PREPARE, "--suite", "bookworm-backports", "--cache",
                           os.path.join(WORK, "suite-cache")], capture_output=True, check=False)
    refused("prepare of a suite without a known mirror", done, "name no mirror")


def test_prepare_twice_at_once():
    """Two callers with a cache that has the kernel but no initramfs: both succeed, one image is made."""
    cache = os.path.join(WORK, "cache")
    os.mkdir(cache)
    for name in os.listdir(CACHE):
        if name.startswith("kernel-linux-image-amd64-"):
            os.symlink(os.path.join(os.path.abspath(CACHE), name), os.path.join(cache, name))
    both = [subprocess.Popen([PREPARE, "--cache", cache], stderr=subprocess.PIPE) for _ in range(2)]
    said = [one.communicate()[1] for one in both]
    check("two prepares at once", [one.returncode for one in both] == [0, 0], said)
    check("one initramfs", sum(name.startswith("initramfs-") for name in os.listdir(cache)) == 1, os.listdir(cache))


def test_verdict():
    bad = ("[   12.345678] WARNING: CPU: 0 PID: 12 at drivers/infiniband/sw/rxe/rxe_pool.c:255 __rxe_cleanup+0x1/0x2 [rdma_rxe]",
           "[    1.000000] BUG: kernel NULL pointer dereference, address: 0000000000000010",
           "[    1.000000] general protection fault, probably for non-canonical address 0xdead: 0000 [#1]",
           "[    1.000000] refcount_t: underflow; use-after-free.",
           "[  130.000000] INFO: task o2props:77 blocked for more than 60 seconds.",
           "[   30.000000] watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [x:1]",
           "[    1.000000] Oops: 0000 [#1] PREEMPT SMP",
           "[  130.000000] rcu: INFO: rcu_preempt self-detected stall on CPU",
           "[  130.000000] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
           "[   90.000000] watchdog: Watchdog detected hard LOCKUP on cpu 0",
           "[    1.000000] UBSAN: array-index-out-of-bounds in drivers/infiniband/sw/rxe/rxe_mr.c:77:9",
           "[   20.000000] unregister_netdevice: waiting for va to become free. Usage count = 2",
           "[    1.000000] BUG kmalloc-64 (Tainted: G            E     ): Poison overwritten",
           "[    1.000000] kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)")
    good = ("[    2.000000] infiniband rxa: set active", "[    2.0] dummy0 speed is unknown, defaulting to 1000",
            "[    3.000000] rdma_rxe: rxa: non-flush error status = 10", "[    1.5] virtio_ring: module verification failed: "
            "signature and/or required key missing - tainting kernel", "[    0.1] DEBUG: nothing", "[ 0.2] debugging WARNINGS: no")
    for line in bad:
        check("verdict sees " + line[14:50], len(verdict.warnings(line)) == 1)
    check("verdict lets harmless lines pass", verdict.warnings("\n".join(good)) == [], verdict.warnings("\n".join(good)))
    check("a warning is reported once", len(verdict.warnings(bad[0] + "\n" + bad[0].replace("12.34", "99.34"))) == 1)
    check("a panic names its cause", "NULL pointer" in (verdict.panic(bad[1] + "\n[ 1.1] Kernel panic - not syncing: Fatal") or ""))
    check("no panic, none seen", verdict.panic("\n".join(bad)) is None)
    check("taint change", "warning" in (verdict.taint_change(8192, 8192 | 512) or "") and not verdict.taint_change(8192, 8192))


def test_stream_mark():
    """The end mark is removed however reads split it, and nothing else is removed."""
    mark = b"\0mark-\0mark-x\n"
    payload = b"a\0mark-\0mar" + b"\0\0mark-"
    for cut in range(len(payload + mark) + 1):
        reader, writer = os.pipe()
        stream = guest.Stream(guest.to_descriptor(writer), mark)
        whole = payload + mark
        for part in (whole[:cut], whole[cut:]):
            if part:
                stream.take(part)
        os.close(writer)
        got = os.read(reader, 4096)
        os.close(reader)
        if got != payload or not stream.ended:
            check(f"end mark split at {cut}", False, got)
            return
    check("end mark split anywhere", True)


TESTS = (test_verdict, test_stream_mark, test_success_binary, test_devices_and_streams, test_panic, test_warning, test_timeout,
         test_signals, test_refusals, test_prepare_twice_at_once)


def main():
    start = time.monotonic()
    ready = subprocess.run([PREPARE], capture_output=True, text=True, check=False)
    if ready.returncode != 0:
        print(ready.stderr.strip())
        return ready.returncode
    try:
        for test in TESTS:
            began = time.monotonic()
            test()
            print(f"{test.__name__}: {time.monotonic() - began:.1f} s", flush=True)
    finally:
        if counts[False]:
            print(f"kept: {WORK}")
        else:
            shutil.rmtree(WORK, ignore_errors=True)
    print(f"{counts[True]} passed, {counts[False]} failed ({time.monotonic() - start:.0f} s)")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
