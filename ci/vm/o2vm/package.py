# SPDX-License-Identifier: MIT
"""Debian's kernel package: apt finds and fetches it, and it is unpacked but never installed."""
import glob
import os
import re
import subprocess

from .common import BadKernel, CannotRun, find_program, say


def resolve(name, apt_options=()):
    """Follow a kernel meta-package (linux-image-amd64) to the package that holds a kernel."""
    apt_cache = find_program("apt-cache", "apt")
    for _ in range(3):
        if re.match(r"linux-image-\d", name):
            return name
        done = subprocess.run([apt_cache, *apt_options, "depends", "--important", name], capture_output=True, text=True,
                              check=False)
        found = re.search(r"Depends: (linux-image-\S+)", done.stdout)
        if not found:
            break
        name = found.group(1)
    raise CannotRun(f"apt knows no kernel package behind {name}; run `apt-get update` once, or give --kernel-deb FILE")


def download(package, directory, apt_options=()):
    """Fetch the package with apt-get download, which needs no privilege and installs nothing."""
    say(f"fetching {package} (70 to 110 MB, once)")
    done = subprocess.run([find_program("apt-get", "apt"), *apt_options, "-q", "download", package], cwd=directory,
                          capture_output=True, text=True, check=False)
    found = glob.glob(os.path.join(directory, "linux-image-*.deb"))
    if done.returncode != 0 or not found:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise CannotRun(f"cannot download {package}: {reason} (a stale index? `apt-get update`; or --kernel-deb FILE)")
    return found[0]


def unpack(deb, tree):
    """Unpack the package below the new directory `tree`.  Returns the path of its kernel image; its modules are in `tree`."""
    done = subprocess.run([find_program("dpkg-deb", "dpkg"), "-x", deb, tree], capture_output=True, text=True, check=False)
    images = glob.glob(os.path.join(tree, "boot", "vmlinuz-*"))
    if done.returncode != 0 or len(images) != 1:
        raise BadKernel(f"{deb} is not a kernel package: {done.stderr.strip() or 'no boot/vmlinuz-*'}")
    return images[0]
