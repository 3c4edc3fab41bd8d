# SPDX-License-Identifier: MIT
"""Choose KVM or TCG.  A /dev/kvm that opens, and even makes a VM, may not run a guest, so a kernel is booted to find out."""
import os
import select
import subprocess
import time

from .common import CannotRun, find_program

PROBE_SECONDS = 10
# The first line of a kernel that has finished decompression and early set-up.
PROBE_TEXT = b"Linux version"

# Without erms and fsrm the kernel does not copy by `rep movs`, which TCG runs byte by byte.  Without xsave no program uses AVX,
# which TCG emulates in slow calls.  Without la57 page tables have one level less to walk.
TCG_CPU = "max,-erms,-fsrm,-xsave,-la57"


def qemu_path():
    return find_program("qemu-system-x86_64", "qemu-system-x86")


def check_host():
    """Raise CannotRun if this machine cannot run a guest at all."""
    if os.uname().machine != "x86_64":
        raise CannotRun(f"the guest is x86-64 and runs the host's programs, but the host is {os.uname().machine}")
    qemu_path()


def arguments(accel):
    return ["-accel", "kvm", "-cpu", "max"] if accel == "kvm" else ["-accel", "tcg", "-cpu", TCG_CPU]


def kernel_arguments(accel):
    """Under TCG a busy host stalls the guest, so a lockup is reported only after 120 s, the largest value that is possible."""
    return [] if accel == "kvm" else ["watchdog_thresh=60", "rcupdate.rcu_cpu_stall_timeout=120"]


def kvm_boots(kernel):
    command = [qemu_path(), "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-machine", "q35", "-m", "256",
               "-kernel", kernel, "-append", "earlyprintk=ttyS0 console=ttyS0 panic=-1", "-serial", "stdio",
               *arguments("kvm")]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as qemu:
        try:
            return wait_for(qemu.stdout, PROBE_TEXT, PROBE_SECONDS)
        finally:
            qemu.kill()


def wait_for(stream, text, seconds):
    deadline = time.monotonic() + seconds
    seen = b""
    while time.monotonic() < deadline:
        if not select.select([stream], [], [], deadline - time.monotonic())[0]:
            return False
        chunk = os.read(stream.fileno(), 65536)
        if not chunk:
            return False
        seen += chunk
        if text in seen:
            return True
    return False


def boot_id():
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
        return f.read().strip()


def memo_path(cache_dir):
    return os.path.join(cache_dir, "kvm-" + boot_id())


def remember(cache_dir, answer):
    memo = memo_path(cache_dir)
    with open(f"{memo}.{os.getpid()}", "w", encoding="ascii") as f:
        f.write(answer)
    os.rename(f"{memo}.{os.getpid()}", memo)


def choose(kernel, cache_dir):
    """"kvm" or "tcg"; a result of booting a kernel is cached until the host boots again."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    if not os.path.exists(memo_path(cache_dir)):
        remember(cache_dir, "kvm" if kvm_boots(kernel) else "tcg")
    with open(memo_path(cache_dir), encoding="ascii") as f:
        return f.read()
