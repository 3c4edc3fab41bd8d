# SPDX-License-Identifier: MIT
"""Options that the programs of ci/vm share, and how their values are parsed and errors reported."""
import argparse
import os
import sys

from . import common, image


class Parser(argparse.ArgumentParser):
    def error(self, message):
        print(f"{self.prog}: {message}", file=sys.stderr)
        sys.exit(common.EX_USAGE)


def number(low, high):
    """Parser of a whole number in this range."""
    def read(text):
        if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number from {low} to {high}")
        return int(text)

    return read


def file(text):
    if not os.path.isfile(text):
        raise argparse.ArgumentTypeError(f"{text}: no such file")
    return text


def directory(text):
    if not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"{text}: no such directory")
    return os.path.abspath(text)


def accelerator(text):
    if text not in ("auto", "kvm", "tcg"):
        raise argparse.ArgumentTypeError(f"{text!r}: expected auto, kvm or tcg")
    return text


def assignment(text):
    name, equals, value = text.partition("=")
    if not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME or NAME=VALUE")
    return name, value if equals else os.environ.get(name, "")


def add_cache(parser):
    parser.add_argument("--cache", metavar="DIR", type=os.path.abspath, default=common.default_cache_dir(),
                        help="folder of the guest's kernels and images (default $O2REF_VM_CACHE, else build/vm)")


def add_package(parser):
    parser.add_argument("--kernel", metavar="PACKAGE", default=common.DEFAULT_KERNEL_PACKAGE,
                        help="Debian kernel package to fetch (default %(default)s)")
    parser.add_argument("--kernel-deb", metavar="FILE", type=file, help="a kernel package already on disk, instead of --kernel")
    parser.add_argument("--suite", metavar="NAME", help="take the package from this suite (bookworm-backports) on the "
                        "mirror that apt's sources name; they need not list the suite")


def add_kernel(parser):
    """Options for the kernel: a package, or the user's own files."""
    add_package(parser)
    parser.add_argument("--kernel-file", metavar="FILE", type=file, help="use this kernel: bzImage (vmlinuz) or vmlinux")
    parser.add_argument("--modules", metavar="DIR", type=directory,
                        help="modules of --kernel-file: the DIR of `make modules_install INSTALL_MOD_PATH=DIR`")


def source(parser, args):
    """The kernel that --kernel, --kernel-deb, --suite, --kernel-file and --modules name."""
    if bool(args.kernel_file) != bool(args.modules):
        given, missing = ("--kernel-file", "--modules") if args.kernel_file else ("--modules", "--kernel-file")
        parser.error(f"{given} {args.kernel_file or args.modules}: needs {missing}, too")
    if args.kernel_file and (args.kernel_deb or args.suite or args.kernel != common.DEFAULT_KERNEL_PACKAGE):
        parser.error(f"--kernel-file {args.kernel_file}: a file needs no --kernel, --kernel-deb or --suite")
    return image.Source(args.kernel, args.suite, args.kernel_deb, args.kernel_file, args.modules)


def side_source(parser, side, args):
    """The kernel that --kernel-SIDE (a package, a package's file or an image), --modules-SIDE and --suite-SIDE name."""
    name, modules_dir, suite = (getattr(args, f"{option}_{side}") for option in ("kernel", "modules", "suite"))
    is_file = "/" in name or os.path.isfile(name)
    if is_file and not os.path.isfile(name):
        parser.error(f"argument --kernel-{side}: {name}: no such file")
    is_deb = is_file and name.endswith(".deb")
    if is_file and suite:
        parser.error(f"argument --suite-{side}: {suite}: {name} is a file, of no suite")
    if is_file and not is_deb and not modules_dir:
        parser.error(f"argument --kernel-{side}: {name}: needs --modules-{side}, too")
    if modules_dir and (is_deb or not is_file):
        parser.error(f"argument --modules-{side}: {modules_dir}: {name} is a package, with modules of its own")
    if is_deb:
        return image.Source(deb=name)
    return image.Source(file=name, modules=modules_dir) if is_file else image.Source(name, suite)


def add_machine(parser, share):
    """Options for the guest, its time limits, and its logs."""
    parser.add_argument("--timeout", metavar="SECONDS", type=number(1, 1_000_000), default=600,
                        help="time limit of COMMAND (default %(default)s)")
    parser.add_argument("--boot-timeout", metavar="SECONDS", type=number(1, 1_000_000), default=60,
                        help="time limit for the guest to come up (default %(default)s)")
    parser.add_argument("--share", metavar="DIR", help=f"host directory behind {share} (default: one in the log directory)")
    parser.add_argument("--log-dir", metavar="DIR", help="folder for logs (default build/vm/log/TIME-PID); deleted on success")
    parser.add_argument("--keep", action="store_true", help="keep the logs even if the run succeeds")
    parser.add_argument("--env", metavar="NAME[=VALUE]", type=assignment, action="append", default=[],
                        help="set or pass on a variable; O2REF_* and *SAN_OPTIONS are always passed on")
    parser.add_argument("--accel", metavar="auto|kvm|tcg", type=accelerator, default=os.environ.get("O2REF_VM_ACCEL", "auto"),
                        help="default auto ($O2REF_VM_ACCEL): KVM if it can boot a kernel, else TCG")
    parser.add_argument("--smp", metavar="N", type=number(1, 64), default=1, help="virtual processors (default %(default)s)")
    parser.add_argument("--memory", metavar="MIB", type=number(256, 1 << 20), default=1024,
                        help="guest memory (default %(default)s)")
    add_cache(parser)
