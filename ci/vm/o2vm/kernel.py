# SPDX-License-Identifier: MIT
"""Debian's kernel package, unpacked into the cache and never installed: vmlinux and the guest's modules."""
import glob
import lzma
import os
import re
import shutil
import struct
import subprocess
import tempfile

from .common import VM_DIR, CannotRun, find_program, say

# Offsets of the x86 boot protocol header (Linux Documentation/x86/boot.rst).
SETUP_SECTS_OFFSET = 0x1F1
PAYLOAD_OFFSET_OFFSET = 0x248
PAYLOAD_LENGTH_OFFSET = 0x24C
SECTOR_BYTES = 512
SIZE_TRAILER_BYTES = 4  # the build appends the unpacked size to the compressed payload

XZ_MAGIC = b"\xfd7zXZ\x00"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
SIGNATURE_MARK = b"~Module signature appended~\n"
SIGNATURE_INFO_BYTES = 12  # struct module_signature, whose last 4 bytes are the big-endian length


def wanted_modules():
    with open(os.path.join(VM_DIR, "modules"), encoding="utf-8") as f:
        return [line.strip() for line in f if line.strip() and not line.startswith("#")]


def resolve_package(name, apt_options=()):
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


def download_package(package, directory, apt_options=()):
    """apt-get download needs no privilege and installs nothing."""
    say(f"fetching {package} (70 to 110 MB, once)")
    done = subprocess.run([find_program("apt-get", "apt"), *apt_options, "-q", "download", package], cwd=directory,
                          capture_output=True, text=True, check=False)
    found = glob.glob(os.path.join(directory, "linux-image-*.deb"))
    if done.returncode != 0 or not found:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise CannotRun(f"cannot download {package}: {reason} (a stale index? `apt-get update`; or --kernel-deb FILE)")
    return found[0]


def decompress(payload, path):
    """Debian compresses kernels with xz up to 6.1, and with zstd later."""
    if payload.startswith(XZ_MAGIC):
        return lzma.decompress(payload)
    if not payload.startswith(ZSTD_MAGIC):
        raise CannotRun(f"{path}: the kernel is compressed by neither xz nor zstd (begins {payload[:6].hex()})")
    done = subprocess.run([find_program("zstd", "zstd"), "-dcq"], input=payload, capture_output=True, check=False)
    if done.returncode != 0:
        raise CannotRun(f"{path}: zstd: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def extract_vmlinux(bzimage_path, out_path):
    """The ELF inside a bzImage: booted by its PVH note it skips firmware and decompression (seconds under TCG)."""
    with open(bzimage_path, "rb") as f:
        image = f.read()
    setup_sects = image[SETUP_SECTS_OFFSET] or 4
    start = (setup_sects + 1) * SECTOR_BYTES + struct.unpack_from("<I", image, PAYLOAD_OFFSET_OFFSET)[0]
    length = struct.unpack_from("<I", image, PAYLOAD_LENGTH_OFFSET)[0]
    payload = image[start:start + length]
    vmlinux = decompress(payload[:-SIZE_TRAILER_BYTES], bzimage_path)
    if not vmlinux.startswith(b"\x7fELF"):
        raise CannotRun(f"{bzimage_path}: the payload is not an ELF file")
    with open(out_path, "wb") as f:
        f.write(vmlinux)


def strip_signature(module):
    """The guest need not verify what we unpacked from a signed package; saves its RSA arithmetic under TCG."""
    if not module.endswith(SIGNATURE_MARK):
        return module
    end = len(module) - len(SIGNATURE_MARK)
    length = struct.unpack(">I", module[end - 4:end])[0]
    return module[:end - SIGNATURE_INFO_BYTES - length]


def canonical(name):
    return name.replace("-", "_")


def read_module(path):
    with open(path, "rb") as f:
        data = f.read()
    return lzma.decompress(data) if path.endswith(".xz") else data


def module_closure(modules_dir, wanted):
    """[(name, bytes)] in load order. The .ko files carry their dependencies, so no depmod is needed."""
    paths = {}
    for directory, _, files in os.walk(os.path.join(modules_dir, "kernel")):
        for name in files:
            if ".ko" in name:
                paths[canonical(name.split(".ko")[0])] = os.path.join(directory, name)
    builtin = set()
    with open(os.path.join(modules_dir, "modules.builtin"), encoding="ascii") as f:
        for line in f:
            builtin.add(canonical(os.path.basename(line.strip()).split(".ko")[0]))
    order = []
    seen = set()

    def visit(name):
        name = canonical(name)
        if name in seen or name in builtin:
            return
        seen.add(name)
        if name not in paths:
            raise CannotRun(f"the kernel package has no module {name}")
        data = read_module(paths[name])
        found = re.search(rb"\0depends=([^\0]*)\0", data)
        for dependency in (found.group(1).decode() if found else "").split(","):
            if dependency:
                visit(dependency)
        order.append((name, data))

    for name in wanted:
        visit(name)
    return order


def unpack(deb, out_dir):
    """Fill out_dir with vmlinux, config, release, modules/NN-name.ko (NN is the load order)."""
    with tempfile.TemporaryDirectory(dir=os.path.dirname(out_dir)) as tree:
        done = subprocess.run([find_program("dpkg-deb", "dpkg"), "-x", deb, tree], capture_output=True, text=True, check=False)
        images = glob.glob(os.path.join(tree, "boot", "vmlinuz-*"))
        if done.returncode != 0 or len(images) != 1:
            raise CannotRun(f"{deb} is not a kernel package: {done.stderr.strip() or 'no boot/vmlinuz-*'}")
        release = os.path.basename(images[0])[len("vmlinuz-"):]
        lib = "usr/lib/modules" if os.path.isdir(os.path.join(tree, "usr/lib/modules")) else "lib/modules"
        os.makedirs(os.path.join(out_dir, "modules"))
        extract_vmlinux(images[0], os.path.join(out_dir, "vmlinux"))
        shutil.copy(os.path.join(tree, "boot", "config-" + release), os.path.join(out_dir, "config"))
        for number, (name, data) in enumerate(module_closure(os.path.join(tree, lib, release), wanted_modules())):
            with open(os.path.join(out_dir, "modules", f"{number:02d}-{name}.ko"), "wb") as f:
                f.write(strip_signature(data))
        with open(os.path.join(out_dir, "release"), "w", encoding="ascii") as f:
            f.write(release + "\n")
