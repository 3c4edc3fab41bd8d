# SPDX-License-Identifier: MIT
"""The kernel modules that the guest loads: their names, their order, and where they are in a kernel's tree of modules."""
import gzip
import lzma
import os
import re
import struct

from .common import VM_DIR, BadKernel, pipe_through, say

SIGNATURE_MARK = b"~Module signature appended~\n"
SIGNATURE_INFO_BYTES = 12  # struct module_signature; its last 4 bytes are the big-endian length
UNPACKERS = {".ko": bytes, ".ko.xz": lzma.decompress, ".ko.gz": gzip.decompress,
             ".ko.zst": lambda data: pipe_through("zstd", "zstd", ["-dcq"], data)}
PLACES = ("lib/modules", "usr/lib/modules")  # below INSTALL_MOD_PATH, or a package's root


def listed():
    """[(name, whether it is required)] from ci/vm/modules."""
    with open(os.path.join(VM_DIR, "modules"), encoding="utf-8") as f:
        names = [line.strip() for line in f if line.strip() and not line.startswith("#")]
    return [(name.lstrip("?"), not name.startswith("?")) for name in names]


def find_tree(directory, release):
    """The directory of this release's modules: the directory given, or the one below it that `make modules_install` makes."""
    places = [directory, *(os.path.join(directory, place, release) for place in PLACES)]
    found = next((place for place in places if os.path.isfile(os.path.join(place, "modules.builtin"))), None)
    if not found:
        raise BadKernel(f"{directory} has no modules of kernel {release}: neither modules.builtin nor lib/modules/{release}/"
                        "modules.builtin is there (`make modules_install INSTALL_MOD_PATH=DIR` makes it)")
    return found


def strip_signature(module):
    """Remove a module's signature: the guest need not verify its user's modules, and RSA arithmetic is slow under TCG."""
    if not module.endswith(SIGNATURE_MARK):
        return module
    end = len(module) - len(SIGNATURE_MARK)
    length = struct.unpack(">I", module[end - 4:end])[0]
    return module[:end - SIGNATURE_INFO_BYTES - length]


def canonical(name):
    return name.replace("-", "_")


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    return UNPACKERS[path[path.index(".ko", path.rindex("/")):]](data)


def files_of(tree):
    """{canonical name: path}.  A module outside "kernel" (in updates or extra) replaces the one of the same name in it."""
    paths = {}
    for folder in sorted(os.listdir(tree), key=lambda name: (name != "kernel", name)):
        if os.path.islink(os.path.join(tree, folder)):
            continue  # "build" and "source" are links to the kernel's source tree
        for directory, _, names in os.walk(os.path.join(tree, folder)):
            for name in names:
                stem, dot, end = name.partition(".ko")
                if dot + end in UNPACKERS:
                    paths[canonical(stem)] = os.path.join(directory, name)
    return paths


def built_in(tree):
    with open(os.path.join(tree, "modules.builtin"), encoding="ascii") as f:
        return {canonical(os.path.basename(line.strip()).split(".ko")[0]) for line in f}


def closure(tree, release, wanted):
    """[(name, bytes)] in load order.  The .ko files name their dependencies, so depmod is not needed."""
    paths, builtin = files_of(tree), built_in(tree)
    order = []
    seen = set()

    def info(data, key):
        found = re.search(rb"\0" + key + rb"=([^\0]*)\0", data)
        return found.group(1).decode(errors="replace") if found else ""

    def visit(name, needed_by):
        name = canonical(name)
        if name in seen or name in builtin:
            return
        seen.add(name)
        if name not in paths:
            raise BadKernel(f"kernel {release} has no module {name}, which {needed_by} (docs/vm.md, \"A kernel of one's own\")")
        data = read(paths[name])
        made_for = info(data, b"vermagic").split(" ")[0]
        if made_for != release:
            raise BadKernel(f"{paths[name]} was made for kernel {made_for or '(no vermagic)'}, not for {release}")
        for dependency in filter(None, info(data, b"depends").split(",")):
            visit(dependency, f"{name} needs")
        order.append((name, strip_signature(data)))

    for name, needed in wanted:
        if needed or canonical(name) in paths or canonical(name) in builtin:
            visit(name, "the guest needs")
        else:
            say(f"kernel {release} has no module {name}: left out")
    return order
