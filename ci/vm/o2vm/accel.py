# SPDX-License-Identifier: MIT
"""KVM or TCG. /dev/kvm that opens, and even makes a VM, may still not run a guest: only a booted kernel counts."""
import os
import select
import subprocess
import time

from .common import CannotRun, find_program

PROBE_SECONDS = 10
# The first line of a kernel that has left its own decompression and early set-up behind.
PROBE_TEXT = b"Linux version"

# Without erms and fsrm the kernel copies by other means than `rep movs`, which TCG runs byte by byte. Without xsave nobody
# uses AVX, which TCG emulates in slow calls; without la57 the page tables that it walks have one level less.
TCG_CPU = "max,-erms,-fsrm,-xsave,-la57"


def qemu_path():
    return find_program("qemu-system-x86_64", "qemu-system-x86")


def check_host():
    """CannotRun where this machine cannot run a guest at all."""
    if os.uname().machine != "x86_64":
        raise CannotRun(f"the guest is x86-64 and runs the host's programs, but the host is {os.uname().machine}")
    qemu_path()


def arguments(accel):
    return ["-accel", "kvm", "-cpu", "max"] if accel == "kvm" else ["-accel", "tcg", "-cpu", TCG_CPU]


def kernel_arguments(accel):
    """Under TCG a host that is busy is a guest that stands still: that is no lockup before 120 s, the most that can be asked for."""
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
    """"kvm" or "tcg"; the answer is remembered until the host boots again."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    if not os.path.exists(memo_path(cache_dir)):
        remember(cache_dir, "kvm" if kvm_boots(kernel) else "tcg")
    with open(memo_path(cache_dir), encoding="ascii") as f:
        return f.read()
