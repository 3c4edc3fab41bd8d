#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests of ci/vm/pair: judged traffic between two guests, a guest that dies, and the other ways in which a pair ends.

usage: pair.py [--kernel-b PACKAGE] [--suite-b NAME] [--lst N] [--far N] [--ssh] [O2REF [TEST]...]

--lst N: run N operations of LNet selftest (default: 400).  --far N: run N transfers between ends in the two guests, with
each guest as the source (default: 40).  --ssh: these start their far end through OpenSSH's server in the other guest; the
server must be installed on this machine.  TEST: Pairs.test_moves and so on.  Prints "N passed, N
failed"; exit status 0, 1, or 77 (cannot run).  About six minutes without KVM.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "ci" / "vm"))
from o2vm import common  # noqa: E402

PAIR, PREPARE = ROOT / "ci" / "vm" / "pair", ROOT / "ci" / "vm" / "prepare"
PROGRAM = str(ROOT / "build" / "gcc" / "o2ref")
KERNEL_B = []
LST = 400
# {defect of the far end alone: finding}: pages in another order, bytes not copied back from a bounce buffer, an address that
# its key does not cover, a key other than the one that covers the memory.
FAR_MUTANTS = {"fmr-page-order": "wrong-bytes", "bounce-not-back": "wrong-bytes", "offset-for-address": r"(rung|verdict)/\S+",
               "wrong-key-published": r"(rung|verdict)/\S+"}
FAR = 40
SSHD = None  # --ssh: its path
FAR_TIMEOUT = 25  # of a far end that is killed
SECONDS = 3600  # time limit of one pair
DIES_S = 200  # time limit if a guest dies: deadlines of seconds, and 50 s of the other guest's kernel
OF_COMMAND = 1  # the status of a command whose peer has gone
ON = "--device $O2REF_WIRE_RXE"
AT = "$O2REF_WIRE_PEER@o2ib"
READY = ["--after", "serving as"]
SIZES = (4096, 65536, 262144, 1048576)
WEIGHTS = (40, 12, 4, 2)  # share of each size in the operations: the larger, the fewer
CHECKS = ("none", "simple", "full")
BULKS = 2 * len(CHECKS) * sum(WEIGHTS)  # reads and writes


def lst_lines(total):
    """Commands for so many operations: pings, and reads and writes of each size, with each kind of check."""
    rounds = max(1, total // (BULKS + 44))
    count = 0
    for size, weight in zip(SIZES, WEIGHTS):
        for test in ("read", "write"):
            for check in CHECKS:
                count += weight * rounds
                yield weight * rounds, f"{PROGRAM} lst {ON} --size {size} --check {check} --count {weight * rounds} {AT} {test}"
    yield max(1, total - count), f"{PROGRAM} lst {ON} --count {max(1, total - count)} {AT} ping"


def ssh_words(folder):
    """What starts a command in the other guest by ssh, and what b runs for that; keys and settings are made in the folder."""
    for key in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/{key}"], check=True)
    served = {"HostKey": f"{folder}/host", "AuthorizedKeysFile": f"{folder}/user.pub", "Port": 4711, "PermitRootLogin": "prohibit-password",
              "StrictModes": "no", "UsePAM": "no", "PidFile": "none"}
    asked = {"IdentityFile": f"{folder}/user", "IdentitiesOnly": "yes", "Port": 4711, "BatchMode": "yes", "LogLevel": "ERROR",
             "StrictHostKeyChecking": "no", "UserKnownHostsFile": "/dev/null"}
    for name, settings in (("served", served), ("asked", asked)):
        Path(folder, name).write_text("".join(f"{key} {value}\n" for key, value in settings.items()), encoding="ascii")
    # b reports that it is ready by the server's message "Server listening".
    serve = f"mkdir -p /run/sshd; exec {SSHD} -D -e -f {folder}/served -o SetEnv=O2REF_GID_INDEX=$O2REF_GID_INDEX 2>&1"
    # The connection ends with the server's process for it, which has started the far end.
    cut = ("set -- $(cat /proc/$(busybox pidof o2props-verbs)/stat); kill -9 $4\n"
           "for i in $(seq 300); do [ -e /proc/$1/exe ] || exec echo the far end has gone; sleep 0.1; done")
    return f"ssh -F {folder}/asked $O2REF_WIRE_PEER", serve, cut


def far_runs(props, at, cut):
    """FAR transfers between ends in the two guests, with each guest as the source; then some with a defect only in b."""
    run = f"run transfer {ON} --seed 0x17"
    yield f"{props} {run} --far '{at}' --moved {FAR} --json-file $O2REF_SHARE/sink.json"
    yield f"{props} {run} --far '{at}' --far-side source --moved {FAR} --json-file $O2REF_SHARE/source.json"
    for mutant in FAR_MUTANTS:
        words = f"\"sh -c 'exec {at} \\\"\\$@\\\" --mutant {mutant}' sh\""
        out = f"$O2REF_SHARE/{mutant}"
        yield f"{props}-mutants {run} --far {words} --cases 400 --shrink-calls 8 --findings 1 --out {out} 2>&1; echo {mutant} ends with $?"
        yield f"{props}-mutants replay {out}/transfer-*.json {ON} --far {words}; echo {mutant} again ends with $?"
    # The far end is killed in the middle, and the run goes on with another one.  nc keeps the stream open: the end is silent.
    yield f"mkfifo /tmp/go; {at} sh {cut} < /tmp/go 2>&1 & cut=$!; exec 9> /tmp/go"
    yield f"{props} {run} --far '{at}' --far-timeout {FAR_TIMEOUT} --cases 60 --shrink-calls 0 --current-case $O2REF_SHARE/case 2>&1 & pid=$!"
    yield "for i in $(seq 600); do grep -qs -- '--first [1-9][0-9]' $O2REF_SHARE/case && break; sleep 0.1; done"
    yield "echo now >&9; exec 9>&-; wait $cut; wait $pid; echo killed ends with $?"


def ends_of(out, run):
    """The last lines of runs of far_runs, without the parts of a transfer."""
    at = next((i for i, line in enumerate(out) if line.startswith(f"a: {run} ends with")), len(out))
    return "\n".join([line for line in out[:at + 1] if not re.match(r"a:   \[\d+\] ", line)][-20:])


class Pairs(unittest.TestCase):
    def setUp(self):
        self.log = tempfile.mkdtemp(prefix="o2ref-test-pair-")
        self.addCleanup(shutil.rmtree, self.log)

    def start(self, a, b, *words):
        return subprocess.Popen([PAIR, "--log-dir", self.log, "--o2ref", PROGRAM, *KERNEL_B, "--a", a, "--b", b, *words],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_pair(self, a, b, *words):
        """(exit status, lines of standard output, standard error)."""
        with self.start(a, b, *words) as running:
            out, err = running.communicate(timeout=SECONDS)
        if running.returncode == common.EX_CANNOT_RUN:
            self.fail(err)
        return running.returncode, out.splitlines(), err

    def test_moves(self):
        """put, get and LNet selftest; each guest also has its own devices; the judge finds nothing."""
        commands = list(lst_lines(LST))
        moves = [f"{PROGRAM} {command} {ON} --count 20 --size {size} --verify {AT}"
                 for command in ("put", "get") for size in (3976, 65536)]
        a = "set -e; uname -r; ls -d /sys/class/infiniband/rxa /sys/class/infiniband/rxb; echo $O2REF_SHARE > $O2REF_SHARE/who\n"
        a += "\n".join(moves + [line for _, line in commands])
        # A client that has its GET_DONE may leave before the server's device gets the acknowledgement: a failure at the server.
        b = f"uname -r; echo $O2REF_SHARE > $O2REF_SHARE/who; {PROGRAM} serve --verify --lst {ON}; true"
        capture = os.path.join(self.log, "some.pcapng")
        status, out, err = self.run_pair(a, b, *READY, "--capture", capture)
        self.assertEqual(status, 0, (out, err))
        done = [int(match[1]) for match in map(re.compile(r"a: (?:lst|put|get): (\d+) done, 0 failed").match, out) if match]
        self.assertEqual(sum(done), 20 * len(moves) + sum(count for count, _ in commands), out)
        self.assertEqual([line for line in out if re.search(r" [1-9]\d* wrong|wrong [1-9]", line)], [])
        self.assertRegex("\n".join(out), rf"b: verify: {20 * len(moves) // 2} checked, 0 wrong")
        self.assertRegex("\n".join(out), rf"b: lst: {len(commands)} sessions, 0 expired; .* wrong 0")
        if LST > 400:
            print("\n".join(line for line in out if line[:2] in ("a:", "ju")))
        self.assertIn("judge: 0 must, 0 should, ", "\n".join(out))
        self.assertRegex(err, r"vm: \d+ packets in " + re.escape(capture))
        self.assertTrue(Path(capture).read_bytes().startswith(b"\x0a\x0d\x0d\x0a"))
        self.assertEqual(sorted(os.listdir(self.log)), ["share", "some.pcapng"], "what a success leaves")

    def test_a_guest_dies(self):
        """In the middle b's kernel panics, or b reboots, which ends its QEMU: a's command ends by its own deadline."""
        a = f"exec {PROGRAM} put {ON} --mode fmr --timeout 5 --count 1000000 {AT}"
        for key, expected, said in (("c", common.EX_PANIC, "b: guest kernel panic: Kernel panic - not syncing"),
                                    ("b", common.EX_NO_ANSWER, "vm: b: guest died without a panic")):
            with self.subTest(key=key):
                b = (f"{PROGRAM} serve {ON} --mode fmr --verbose | while read line; do case $line in serving*) echo up ;; "
                     "*PUT*) echo dies > $O2REF_SHARE/current-case; echo " + key + " > /proc/sysrq-trigger; sleep 1000 ;; esac; done")
                began = time.monotonic()
                status, out, err = self.run_pair(a, b, "--after", "up", "--timeout", str(2 * DIES_S))
                self.assertEqual(status, expected, (out, err))
                self.assertIn(said, err)
                self.assertEqual("b: guest was at: dies" in err, key == "c", err)
                self.assertRegex("\n".join(out), r"a: put: \d+ done, [1-9]\d* failed")
                self.assertRegex(err, r"a: o2ref: PUT \d+ at .*")
                self.assertRegex(err, rf"vm: a: status ({OF_COMMAND}|{common.EX_KERNEL_WARNING}), b: status {expected}\n")
                if f"vm: a: status {common.EX_KERNEL_WARNING}" in err:
                    # A packet that the dead machine did not acknowledge keeps its queue pair alive (docs/vm.md).
                    self.assertIn(f"vm: a: the command's own status was {OF_COMMAND}\n", err)
                    for line in re.findall(r"a: guest kernel warning: (.*)", err):
                        self.assertRegex(line, r"rxe_pool\.c:\d+ __rxe_cleanup|^taint changed")
                self.assertLess(time.monotonic() - began, DIES_S)
                self.assertIn("judge: 0 must, 0 should, ", "\n".join(out))
                for name in ("a/dmesg.txt", "b/console.log", "b/stdout", "wire.pcapng"):
                    self.assertTrue(os.path.exists(os.path.join(self.log, name)), name)

    def test_far(self):
        """A transfer between two machines (o2props run --far): it holds, and defects of the far end are found."""
        capture = os.path.join(self.log, "far.pcapng")
        words = ROOT / "tests" / "device" / "vm" / "at", "echo listening; exec busybox nc -ll -p 4711 -e /bin/sh", "busybox killall -9 o2props-verbs"
        at, serve, cut = ssh_words(self.log) if SSHD else words
        script = Path(self.log, "cut")
        script.write_text(f"read now\n{cut}\n", encoding="ascii")
        status, out, err = self.run_pair("\n".join(["uname -r", *far_runs(Path(PROGRAM).parent / "o2props", at, script)]),
                                         f"uname -r; {serve}", "--after", "listening",
                                         "--keep", "--timeout", str(SECONDS), *(["--no-capture"] if FAR > 100 else ["--capture", capture]))
        text = "\n".join(out)
        for side in ("sink", "source"):
            result = json.loads(Path(self.log, "share", "a", f"{side}.json").read_text(encoding="utf-8"))
            self.assertEqual((result["findings"], result["missing"]), ([], []), text)
            self.assertGreaterEqual(result["moved"], FAR)
            self.assertEqual(result["held"]["before"], result["held"]["after"])
            if FAR >= 1000:
                self.assertEqual([mode for mode, row in result["pairs"].items() if 0 in row.values()], [], "did not move to each mode")
        for mutant, signature in FAR_MUTANTS.items():
            for run in (mutant, f"{mutant} again"):
                if f"a: {run} ends with 1" not in out:
                    self.fail(f"{run} did not end with 1:\n{ends_of(out, run)}")
            self.assertRegex(text, rf"a: FINDING transfer on rxw: {signature} ")
        self.assertIn("a: killed ends with 1", out, text)
        self.assertRegex(text, r"far/exited: .* is 255" if SSHD else r"far/(exited|closed|silent): ")
        self.assertEqual("a: the far end has gone" in out, bool(SSHD), text)
        self.assertRegex(text, "a: transfer on rxw: 59 cases: .*; 1 findings, 0 situations missing")
        self.assertRegex(text, rf"replay: o2props run transfer --device rxw --far '{re.escape(str(at))}' --far-side sink "
                               rf"--far-timeout {FAR_TIMEOUT} --seed 0x17 --first \d+ --cases 1\n")
        self.assertEqual(status, 0, (out, err))
        if FAR > 100:
            print(text)

    def test_a_bad_wire(self):
        """netem delays and loses packets in a guest: all messages still arrive, and the judge finds nothing."""
        a = "set -e; tc qdisc add dev $O2REF_WIRE_NETDEV root netem loss 1% delay 1ms\n"
        a += "\n".join(f"{PROGRAM} {command} {ON} --mode fmr --count 60 --size 65536 --verify {AT}" for command in ("put", "get"))
        status, out, err = self.run_pair(a, f"{PROGRAM} serve {ON} --mode fmr; true", *READY)
        self.assertEqual(status, 0, (out, err))
        self.assertEqual(sum("60 done, 0 failed" in line for line in out), 2, out)
        self.assertEqual(sum("60 checked, 0 wrong" in line for line in out), 2, out)
        lost = next(line for line in out if line.startswith("judge: note    transport/lost"))
        self.assertIn("192.168.78.1@o2ib (to 192.168.78.2@o2ib)", lost)
        self.assertIn("judge: 0 must, 0 should, ", "\n".join(out))

    def test_ends(self):
        """The exit status, set-up scripts, warnings, and the end of b's command."""
        setup = os.path.join(self.log, "set-up")
        Path(setup).write_text("tc qdisc add dev $O2REF_WIRE_NETDEV root netem delay 1ms\n", encoding="ascii")
        # SIGTERM ends b's sleep; b's shell continues, and its further output and its status count.
        status, out, err = self.run_pair("tc qdisc show dev $O2REF_WIRE_NETDEV; echo WARNING: mine > /dev/kmsg",
                                         "sleep 1000; echo end of $?; exit 9", "--setup-a", setup, "--no-capture")
        self.assertEqual((status, "b: end of 143" in out), (common.EX_KERNEL_WARNING, True), (out, err))
        self.assertIn("a: guest kernel warning: WARNING: mine", err)
        self.assertIn("vm: a: status 70, b: status 9", err)
        self.assertIn("netem", "\n".join(out))
        Path(setup).write_text("echo so it is; exit 5\n", encoding="ascii")
        status, out, err = self.run_pair("echo never", "echo never", "--setup-b", setup)
        self.assertEqual((status, out.count("a: never")), (common.EX_NO_ANSWER, 0), (out, err))
        self.assertIn("vm: b: guest set-up failed: its own set-up: status 5: so it is", err)

    def test_time_is_over(self):
        """b does not react to SIGTERM when a has ended; or a and b run into --timeout."""
        status, out, err = self.run_pair("true", "trap '' TERM; echo deaf; while :; do sleep 1; done", "--after", "deaf", "--no-capture")
        self.assertEqual((status, out), (common.EX_TIMEOUT, ["b: deaf"]), err)
        self.assertIn("vm: a: status 0, b: status 124", err)
        status, out, err = self.run_pair("sleep 1000", "echo and off; sleep 1000", "--timeout", "3", "--no-capture", "--wait-b")
        self.assertEqual((status, out), (common.EX_TIMEOUT, ["b: and off"]), err)
        self.assertIn("vm: a: status 124, b: status 124", err)
        # a ends at once, and b on SIGTERM: no time runs out.
        status, out, err = self.run_pair("true", "sleep 1000", "--no-capture")
        self.assertEqual((status, out), (0, []), err)

    def test_what_is_awaited_never_comes(self):
        status, out, err = self.run_pair("echo never", "echo other; exit 3", *READY, "--no-capture")
        self.assertEqual(("a: never" in out, status), (False, common.EX_NO_ANSWER), (out, err))
        self.assertIn("a: not begun: b's command ended and had not printed 'serving as'", err)

    def test_a_signal(self):
        with self.start("echo up; sleep 1000", "sleep 1000") as running:
            self.assertEqual(running.stdout.readline(), "a: up\n")
            running.send_signal(signal.SIGTERM)
            _, err = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 128 + signal.SIGTERM, err)
        self.assertNotIn("Traceback", err)
        self.assertNotIn("died", err)


def main():
    global PROGRAM, LST, FAR, SSHD, FAR_TIMEOUT
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel-b", metavar="PACKAGE", default=common.DEFAULT_KERNEL_PACKAGE)
    parser.add_argument("--suite-b", metavar="NAME")
    parser.add_argument("--lst", metavar="N", type=int, default=LST)
    parser.add_argument("--far", metavar="N", type=int, default=FAR)
    parser.add_argument("--ssh", action="store_true")
    parser.add_argument("program", nargs="?", default=PROGRAM)
    parser.add_argument("tests", nargs="*", metavar="TEST")
    args = parser.parse_args()
    PROGRAM, LST, FAR = os.path.abspath(args.program), args.lst, args.far
    SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin") if args.ssh else None
    if args.ssh:
        FAR_TIMEOUT = 90  # under TCG two logins at once take long
    if args.ssh and SSHD is None:
        print("pair.py: cannot run here: package openssh-server is not installed")
        return common.EX_CANNOT_RUN
    suite = ["--suite", args.suite_b] if args.suite_b else []
    for kernel in ([], ["--kernel", args.kernel_b, *suite]):
        ready = subprocess.run([PREPARE, *kernel], capture_output=True, text=True, check=False)
        if ready.returncode != 0:
            print(ready.stderr.strip())
            if not kernel:
                return ready.returncode
            print(f"both guests run {common.DEFAULT_KERNEL_PACKAGE}")
        elif kernel:
            KERNEL_B.extend(["--kernel-b", args.kernel_b, *(["--suite-b", args.suite_b] if args.suite_b else [])])
    loader = unittest.defaultTestLoader
    module = sys.modules[__name__]
    tests = loader.loadTestsFromNames(args.tests, module) if args.tests else loader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(tests)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
