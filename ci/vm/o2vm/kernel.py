# SPDX-License-Identifier: MIT
"""Prepare a kernel for the guest: the file that QEMU boots, and the modules in load order."""
import bz2
import gzip
import lzma
import os
import re
import shutil
import struct

from . import modules
from .common import BadKernel, pipe_through, say

# Offsets of the x86 boot protocol header (Linux Documentation/x86/boot.rst).
SETUP_SECTS_OFFSET = 0x1F1
MAGIC_OFFSET, MAGIC = 0x202, b"HdrS"
VERSION_OFFSET, VERSION_BASE = 0x20E, 0x200
PAYLOAD_OFFSET_OFFSET = 0x248
PAYLOAD_LENGTH_OFFSET = 0x24C
SECTOR_BYTES = 512
SIZE_TRAILER_BYTES = 4  # the build appends the unpacked size to the compressed payload

ELF_MAGIC = b"\x7fELF"
PT_NOTE = 4
PVH_NOTE = struct.pack("<I", 18) + b"Xen\0"  # XEN_ELFNOTE_PHYS32_ENTRY (Linux include/xen/interface/elfnote.h)


# The kernel's possible compressions, by the first bytes of the payload; Debian uses xz up to 6.1, and zstd later.
DECOMPRESSORS = {
    b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ\x00": lzma.decompress, b"\x5d\x00\x00": lzma.decompress,
    b"\x28\xb5\x2f\xfd": lambda payload: pipe_through("zstd", "zstd", ["-dcq"], payload),
    b"\x02\x21\x4c\x18": lambda payload: pipe_through("lz4", "lz4", ["-dcq"], payload),
}


def decompress(payload, path):
    # gzip stores the unpacked size itself, so with gzip the build appends no size.
    for magic, function in DECOMPRESSORS.items():
        if payload.startswith(magic):
            try:
                return function(payload if magic == b"\x1f\x8b" else payload[:-SIZE_TRAILER_BYTES])
            except (OSError, EOFError, ValueError, lzma.LZMAError) as problem:
                raise BadKernel(f"{path}: its compressed kernel cannot be unpacked: {problem}") from problem
    raise BadKernel(f"{path}: the kernel is compressed in a way that is not known here (begins {payload[:6].hex()}); "
                    "give the file vmlinux of the build tree instead")


def text_at(image, offset):
    return image[offset:image.find(b"\0", offset)].decode("ascii", "replace")


class File:
    """A kernel image: a bzImage, or the ELF file that it is made of."""

    def __init__(self, path):
        self.path = path
        try:
            with open(path, "rb") as f:
                self.image = f.read()
        except OSError as problem:
            raise BadKernel(f"{path}: {problem.strerror}") from problem
        self.is_elf = self.image.startswith(ELF_MAGIC)
        if not self.is_elf and self.image[MAGIC_OFFSET:MAGIC_OFFSET + len(MAGIC)] != MAGIC:
            raise BadKernel(f"{path} is no kernel: neither a bzImage (vmlinuz) nor an ELF file (vmlinux)")
        if not self.is_elf and len(self.image) < PAYLOAD_LENGTH_OFFSET + 4:
            raise BadKernel(f"{path} is cut: {len(self.image)} bytes")

    def release(self):
        if self.is_elf:
            found = re.search(rb"Linux version (\S+) ", self.image)
            text = found.group(1).decode("ascii", "replace") if found else ""
        else:
            text = text_at(self.image, VERSION_BASE + struct.unpack_from("<H", self.image, VERSION_OFFSET)[0]).split(" ")[0]
        if not re.fullmatch(r"[\w.+~-]+", text):
            raise BadKernel(f"{self.path} does not say of which release it is")
        return text

    def elf(self):
        """The ELF file in a bzImage.  QEMU boots it by its PVH note, without firmware and decompression (seconds with TCG)."""
        start = ((self.image[SETUP_SECTS_OFFSET] or 4) + 1) * SECTOR_BYTES
        start += struct.unpack_from("<I", self.image, PAYLOAD_OFFSET_OFFSET)[0]
        length = struct.unpack_from("<I", self.image, PAYLOAD_LENGTH_OFFSET)[0]
        vmlinux = decompress(self.image[start:start + length], self.path)
        if not vmlinux.startswith(ELF_MAGIC):
            raise BadKernel(f"{self.path}: the payload is not an ELF file")
        return vmlinux


def has_pvh(elf, path):
    """Whether QEMU can boot the ELF file itself (CONFIG_PVH)."""
    try:
        table, size, count = struct.unpack_from("<Q14xHH", elf, 32)
        for number in range(count):
            kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", elf, table + number * size)
            if kind == PT_NOTE and PVH_NOTE in elf[offset:offset + length]:
                return True
    except struct.error as problem:
        raise BadKernel(f"{path} is cut: its ELF file has {len(elf)} bytes") from problem
    return False


def write_boot(file, out_path):
    """Write the file for QEMU's -kernel: an ELF file with a PVH entry, else the bzImage, which needs the firmware."""
    if file.is_elf:
        if not has_pvh(file.image, file.path):
            raise BadKernel(f"{file.path} cannot be booted by itself (built without CONFIG_PVH); give the tree's "
                            "arch/x86/boot/bzImage instead")
        os.symlink(os.path.abspath(file.path), out_path)
        return
    elf = file.elf()
    if has_pvh(elf, file.path):
        with open(out_path, "wb") as f:
            f.write(elf)
    else:
        say(f"{file.path} was built without CONFIG_PVH: the guest starts by firmware, some seconds later")
        shutil.copy(file.path, out_path)


def install(path, modules_dir, out_dir):
    """Fill out_dir with boot, release, modules/NN-name.ko (NN is the load order)."""
    file = File(path)
    release = file.release()
    chosen = modules.closure(modules.find_tree(modules_dir, release), release, modules.listed())
    write_boot(file, os.path.join(out_dir, "boot"))
    os.makedirs(os.path.join(out_dir, "modules"))
    for number, (name, data) in enumerate(chosen):
        with open(os.path.join(out_dir, "modules", f"{number:02d}-{name}.ko"), "wb") as f:
            f.write(data)
    with open(os.path.join(out_dir, "release"), "w", encoding="ascii") as f:
        f.write(release + "\n")
