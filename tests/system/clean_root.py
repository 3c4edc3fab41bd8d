#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test the porting guide (docs/oracle.md) on a clean machine: a new Debian 12 with our package, the packages that the guide's
first line installs, and a user, but without this repository.

usage: clean_root.py [BUILD]
BUILD: a build folder in which everything was built; default build/gcc.  debootstrap makes the root once, in build/clean-root;
each run uses a copy.  Last line "N passed, N failed".
exit status: 0 the guide works as described; 1 it does not; 77 this machine cannot make such a root (the reason is printed)
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "ci"))

import guide  # noqa: E402
from o2ci import roots  # noqa: E402
from o2ci.roots import CannotRun, run  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
BASE = ROOT / "build" / "clean-root"
SUITE = "bookworm"
USER = "1000:1000"
EXIT_CANNOT_RUN = 77
# The root needs /proc; it is mounted only while one command runs.
INSIDE = ("unshare", "--mount", "sh", "-c",
          'mount -t proc proc "$0/proc" && user=$1 && shift && exec chroot --userspec="$user" "$0" env -i '
          '--chdir=/home/porter PATH=/usr/bin:/bin HOME=/home/porter LANG=C.UTF-8 "$@"')
APT = ("apt-get", "-q", "-y", "--no-install-recommends")


def must(*command, **options):
    done = run(*command, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


def make_package(build, folder):
    must("cpack", "-G", "DEB", "-B", folder, "--config", build / "CPackConfig.cmake", cwd=build)
    package, = folder.glob("o2ref_*.deb")
    return package


def install(root, package, document):
    """Install what the guide's line for root installs, with our package in place of the published one."""
    line = re.search(r"^    # apt install (.*)$", document, re.M)
    names = [f"/{package.name}" if name.endswith(".deb") else name for name in line[1].split()]
    shutil.copy(package, root / package.name)
    done = run("chroot", root, *APT, "update")
    if done.returncode == 0:
        done = run("chroot", root, *APT, "install", *names)
    if done.returncode != 0:
        raise CannotRun(f"apt-get: {done.stdout.splitlines()[-1]}")
    must("chroot", root, "useradd", "--uid", "1000", "--create-home", "porter")


def try_guide(root, document):
    passed = failed = 0
    prefix = (*INSIDE, root, USER)
    for step, printed, good in guide.run(guide.steps(document, guide.HEADING), root, prefix):
        passed, failed = passed + good, failed + (not good)
        print(f"$ {step.command}\n{printed}", end="")
        if not good:
            print(f"--- the guide shows:\n{step.shown}---")
    return passed, failed


def main():
    build = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "gcc").resolve()
    document = (ROOT / "docs" / "oracle.md").read_text(encoding="utf-8")
    try:
        roots.make(BASE, SUITE)
        roots.expect_mounts(BASE / "root")
        with tempfile.TemporaryDirectory(dir=BASE) as folder:
            root = Path(folder) / "root"
            must("cp", "-a", BASE / "root", root)
            install(root, make_package(build, Path(folder)), document)
            passed, failed = try_guide(root, document)
    except CannotRun as reason:
        print(f"cannot run: {reason}")
        return EXIT_CANNOT_RUN
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
