# SPDX-License-Identifier: MIT
"""The guest's initial file system: busybox, modules, and two scripts, in an uncompressed cpio that is written without root."""
import os
import stat

from .common import VM_DIR, CannotRun, find_program

NEWC_MAGIC = "070701"
ALIGN_BYTES = 4
DIRECTORIES = ("bin", "dev", "proc", "sys", "host", "control", "scratch", "modules")
APPLETS = ("sh", "cat", "chroot", "cp", "dmesg", "head", "insmod", "kill", "ln", "mkdir", "mkfifo", "mount", "ping",
           "poweroff", "ps", "readlink", "sed", "setsid", "sleep", "tail", "tr", "usleep")


class Newc:
    """Writer of the "new ASCII" cpio format (Linux Documentation/driver-api/early-userspace/buffer-format.rst)."""

    def __init__(self, out):
        self.out = out
        self.inode = 0

    def entry(self, name, mode, data=b""):
        self.inode += 1
        raw_name = name.encode() + b"\0"
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(raw_name), 0)
        head = (NEWC_MAGIC + "".join(f"{field:08X}" for field in fields)).encode() + raw_name
        self.padded(head)
        self.padded(data)

    def padded(self, data):
        self.out.write(data + b"\0" * (-len(data) % ALIGN_BYTES))


def slurp(path):
    with open(path, "rb") as f:
        return f.read()


def inputs(kernel_dir):
    """The content of the image: {name in the image: bytes}, files only."""
    files = {
        "bin/busybox": slurp(find_program("busybox", "busybox-static")),
        "init": slurp(os.path.join(VM_DIR, "init")),
        "rxe-up": slurp(os.path.join(VM_DIR, "rxe-up")),
    }
    if b"ld-linux" in files["bin/busybox"][:4096]:
        raise CannotRun("busybox is not statically linked; `ci/setup vm` installs package busybox-static")
    for name in sorted(os.listdir(os.path.join(kernel_dir, "modules"))):
        files["modules/" + name] = slurp(os.path.join(kernel_dir, "modules", name))
    return files


def write(files, out_path):
    with open(out_path, "wb") as f:
        cpio = Newc(f)
        for directory in DIRECTORIES:
            cpio.entry(directory, stat.S_IFDIR | 0o755)
        for applet in APPLETS:
            cpio.entry("bin/" + applet, stat.S_IFLNK | 0o777, b"busybox")
        for name, data in files.items():
            cpio.entry(name, stat.S_IFREG | 0o755, data)
        cpio.entry("TRAILER!!!", 0)
