# SPDX-License-Identifier: MIT
"""The cache of bootable images: each is made once, under a lock, and is visible only when complete."""
import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass

from . import initramfs, kernel, modules, package, suite
from .common import BadKernel, CannotRun, DEFAULT_KERNEL_PACKAGE, VM_DIR, make_folder, say

# Part of the name of every kernel directory: increase it when the output of install() changes.
LAYOUT_VERSION = 2
OLD_KEPT = 4


@dataclass
class Source:
    """The origin of a kernel: a Debian package, a package's file, or a kernel image and its tree of modules."""
    package: str = DEFAULT_KERNEL_PACKAGE
    suite: str = None
    deb: str = None
    file: str = None
    modules: str = None

    def key(self):
        """A directory name for this kernel and this list of modules."""
        digest = hashlib.sha256(repr(modules.listed()).encode())
        for path in self.files():
            info = os.stat(path)
            digest.update(f"{os.path.abspath(path)} {info.st_size} {info.st_mtime_ns}\n".encode())
        name = f"{self.package}-{self.suite}" if self.suite else self.package
        if self.deb or self.file:
            name = os.path.basename(self.deb or self.file)
        return f"{'own' if self.file else 'kernel'}-{name}-v{LAYOUT_VERSION}-{digest.hexdigest()[:8]}"

    def files(self):
        """The local files that it is made of; a rebuilt file changes the key."""
        if self.file:
            tree = modules.find_tree(self.modules, kernel.File(self.file).release())
            return [self.file, *sorted(modules.files_of(tree).values())]
        return [self.deb] if self.deb else []

    def install(self, work, out_dir):
        """Fill out_dir; `work` is an empty directory for intermediate files."""
        if self.file:
            return kernel.install(self.file, self.modules, out_dir)
        options = suite.apt_options(self.suite, os.path.join(work, "apt")) if self.suite and not self.deb else []
        deb = self.deb or package.download(package.resolve(self.package, options), work, options)
        tree = os.path.join(work, "tree")
        try:
            return kernel.install(package.unpack(deb, tree), tree, out_dir)
        except BadKernel as problem:
            raise problem if self.deb else CannotRun(problem)


class Image:
    def __init__(self, kernel_dir, initrd):
        self.boot = os.path.join(kernel_dir, "boot")
        self.initrd = initrd
        with open(os.path.join(kernel_dir, "release"), encoding="ascii") as f:
            self.release = f.read().strip()


@contextlib.contextmanager
def locked(cache_dir):
    make_folder(cache_dir)
    with open(os.path.join(cache_dir, ".lock"), "w", encoding="ascii") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def ensure_kernel(cache_dir, source, refresh):
    """The unpacked kernel's directory.  If it exists, apt is not asked again unless refresh is set."""
    out = os.path.join(cache_dir, source.key())
    if os.path.isdir(out) and not refresh:
        return out
    with tempfile.TemporaryDirectory(dir=cache_dir, prefix="unpack-") as work:
        fresh = os.path.join(work, "kernel")
        os.mkdir(fresh)
        source.install(work, fresh)
        shutil.rmtree(out, ignore_errors=True)
        os.rename(fresh, out)
    drop_old(cache_dir, "own-", shutil.rmtree)
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
        drop_old(cache_dir, "initramfs-", os.unlink)
    return out


def slurp_self():
    return initramfs.slurp(os.path.join(VM_DIR, "o2vm", "initramfs.py"))


def drop_old(cache_dir, prefix, remove):
    """Delete all but the newest OLD_KEPT entries with this prefix."""
    found = [os.path.join(cache_dir, name) for name in os.listdir(cache_dir) if name.startswith(prefix)]
    for path in sorted(found, key=os.path.getmtime)[:-OLD_KEPT]:
        remove(path)


def ensure(cache_dir, source, refresh=False):
    """The bootable image; raises CannotRun if something is missing.  A second caller waits while the first one makes it."""
    with locked(cache_dir):
        kernel_dir = ensure_kernel(cache_dir, source, refresh)
        image = Image(kernel_dir, ensure_initrd(cache_dir, kernel_dir))
    if refresh:
        say(f"kernel {image.release} in {cache_dir}")
    return image
