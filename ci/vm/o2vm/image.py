# SPDX-License-Identifier: MIT
"""The cache of ready-to-boot images: made once, under a lock, visible only when complete."""
import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile

from . import initramfs, kernel, suite
from .common import VM_DIR, say

# Part of every kernel directory's name: raise it when what unpack() writes changes.
LAYOUT_VERSION = 1
OLD_IMAGES_KEPT = 4


class Image:
    def __init__(self, kernel_dir, initrd):
        self.vmlinux = os.path.join(kernel_dir, "vmlinux")
        self.initrd = initrd
        with open(os.path.join(kernel_dir, "release"), encoding="ascii") as f:
            self.release = f.read().strip()


@contextlib.contextmanager
def locked(cache_dir):
    os.makedirs(cache_dir, exist_ok=True)
    with open(os.path.join(cache_dir, ".lock"), "w", encoding="ascii") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def kernel_key(package, deb, suite_name):
    """A directory name for this kernel and this list of modules."""
    digest = hashlib.sha256("\n".join(kernel.wanted_modules()).encode())
    if deb:
        info = os.stat(deb)
        digest.update(f"{os.path.abspath(deb)} {info.st_size} {info.st_mtime_ns}".encode())
    name = os.path.basename(deb) if deb else package + (f"-{suite_name}" if suite_name else "")
    return f"kernel-{name}-v{LAYOUT_VERSION}-{digest.hexdigest()[:8]}"


def fetch(package, suite_name, work):
    """The package's file, in `work`."""
    options = suite.apt_options(suite_name, os.path.join(work, "apt")) if suite_name else []
    return kernel.download_package(kernel.resolve_package(package, options), work, options)


def ensure_kernel(cache_dir, package, deb, suite_name, refresh):
    """The unpacked kernel's directory. Once there, apt is not asked again unless refresh is set."""
    out = os.path.join(cache_dir, kernel_key(package, deb, suite_name))
    if os.path.isdir(out) and not refresh:
        return out
    with tempfile.TemporaryDirectory(dir=cache_dir, prefix="unpack-") as work:
        source = deb or fetch(package, suite_name, work)
        fresh = os.path.join(work, "kernel")
        os.mkdir(fresh)
        kernel.unpack(source, fresh)
        shutil.rmtree(out, ignore_errors=True)
        os.rename(fresh, out)
    return out


def ensure_initrd(cache_dir, kernel_dir):
    files = initramfs.inputs(kernel_dir)
    digest = hashlib.sha256(slurp_self())
    for name, data in files.items():
        digest.update(name.encode() + b"\0" + data)
    out = os.path.join(cache_dir, f"initramfs-{digest.hexdigest()[:16]}.cpio")
    if not os.path.exists(out):
        initramfs.write(files, out + ".part")
        os.rename(out + ".part", out)
        drop_old(cache_dir)
    return out


def slurp_self():
    return initramfs.slurp(os.path.join(VM_DIR, "o2vm", "initramfs.py"))


def drop_old(cache_dir):
    images = [os.path.join(cache_dir, name) for name in os.listdir(cache_dir) if name.startswith("initramfs-")]
    for path in sorted(images, key=os.path.getmtime)[:-OLD_IMAGES_KEPT]:
        os.unlink(path)


def ensure(cache_dir, package, deb=None, suite_name=None, refresh=False):
    """The bootable image, of a package file, of a suite, or as apt has it; CannotRun where something is missing. Two callers at once: one makes it, the other waits."""
    with locked(cache_dir):
        kernel_dir = ensure_kernel(cache_dir, package, deb, suite_name, refresh)
        image = Image(kernel_dir, ensure_initrd(cache_dir, kernel_dir))
    if refresh:
        say(f"kernel {image.release} in {cache_dir}")
    return image
