# SPDX-License-Identifier: MIT
"""Root file systems of Debian's suites, made by debootstrap from the mirror that this machine's apt sources name."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "vm"))

from o2vm.common import CannotRun  # noqa: E402
from o2vm.suite import mirror  # noqa: E402

# The index of sid expires after a week; a mirror may be older than that.
ANY_AGE = 'Acquire::Check-Valid-Until "false";\n'
# File systems that the root needs, mounted only while one command runs.
MOUNTS = ('mount -t proc proc "$0/proc" && mount -t tmpfs -o mode=1777 none "$0/dev/shm" && '
          'mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 none "$0/dev/pts" && ')


def run(*command, timeout=1200, **options):
    return subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=timeout, check=False, **options)


def make(base, suite):
    """Make base/root a root of the suite, unless it exists; raises CannotRun."""
    if (base / "ready").exists():
        return
    if os.geteuid() != 0:
        raise CannotRun("only root can make a root file system")
    if shutil.which("debootstrap") is None:
        raise CannotRun("debootstrap is not installed")
    shutil.rmtree(base, ignore_errors=True)
    base.mkdir(parents=True)
    done = run("debootstrap", "--variant=minbase", suite, base / "root", mirror())
    if done.returncode != 0:
        raise CannotRun(f"debootstrap: {done.stdout.splitlines()[-1] if done.stdout else done.returncode}")
    settings = base / "root" / "etc" / "apt" / "apt.conf.d"
    # Copy apt's settings for reaching the mirrors, except files of packages, which the root's own packages bring.
    for file in sorted(Path("/etc/apt/apt.conf.d").glob("*")):
        ours = re.search(r"(?mi)^\s*Acquire::", file.read_text(encoding="utf-8", errors="replace"))
        if ours and run("dpkg-query", "-S", file).returncode != 0:
            shutil.copy(file, settings)
    (settings / "90o2ref").write_text(ANY_AGE, encoding="ascii")
    (base / "ready").touch()


def expect_mounts(root):
    done = inside(root, "true")
    if done.returncode != 0:
        raise CannotRun(f"/proc cannot be mounted: {done.stdout.strip()}")


def inside(root, *command, environment=(), **options):
    """Run a command as root in the root file system, without this machine's environment."""
    script = MOUNTS + 'exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"'
    return run("unshare", "--mount", "--pid", "--fork", "sh", "-c", script, root, *environment, *command, **options)
