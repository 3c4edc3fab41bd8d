#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test the modules of ci/vm without a guest: a pair's capture, the user's own kernel, output of two guests, command lines.

usage: test_vm_tools.py [O2REF]   the program; default build/gcc/o2ref.  Last line "N passed, N failed".
"""

import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
VM = ROOT / "ci" / "vm"
sys.path[:0] = [str(VM), str(ROOT / "tests" / "system"), str(ROOT / "tests" / "lib")]
import suite  # noqa: E402
from cli.pcap_cases import packets_of  # noqa: E402
from o2vm import capture, common, image, kernel, modules, options, pcapng, rundir, said  # noqa: E402

PROGRAM = suite.program()
CAPTURES = sorted((ROOT / "corpus" / "captures" / "pcap").glob("*.pcap"))
RELEASE = "6.99.0-mine+"


def converted(data):
    out = io.BytesIO()
    return pcapng.convert(io.BytesIO(data), out, "a and b"), out.getvalue()


def packets_of_blocks(data):
    """packets_of for a pcapng file; each block must be complete, with its length at both ends."""
    at, kinds, found = 0, [], []
    while at < len(data):
        kind, length = struct.unpack_from("=II", data, at)
        assert length % 4 == 0 and struct.unpack_from("=I", data, at + length - 4) == (length,), at
        kinds.append(kind)
        if kind == 6:
            _, high, low, seen, _ = struct.unpack_from("=IIIII", data, at + 8)
            found.append((((high << 32) + low) * 1000, data[at + 28:at + 28 + seen]))
        at += length
    assert kinds == [0x0A0D0D0A, 1] + [6] * len(found), kinds
    return found


class Capture(unittest.TestCase):
    """A recording as pcap, as QEMU writes it, and as the pcapng file made from it."""

    def judged(self, data):
        done = subprocess.run([PROGRAM, "judge", "--json", "-"], input=data, stdout=subprocess.PIPE, check=False)
        return done.returncode, json.loads(done.stdout)

    def test_every_recording(self):
        for path in CAPTURES:
            with self.subTest(path.name):
                data = path.read_bytes()
                count, new = converted(data)
                packets = list(packets_of(data))
                self.assertEqual(packets_of_blocks(new), packets)
                self.assertEqual(count, len(packets))
                self.assertEqual(self.judged(new), self.judged(data))

    def test_times_of_another_reader(self):
        """tshark reads the same times and bytes, and the comment."""
        def lines(name, data):
            with tempfile.NamedTemporaryFile(suffix=name) as file:
                file.write(data)
                file.flush()
                return subprocess.run(["tshark", "-r", file.name, "-t", "e", "-T", "fields", "-e", "frame.time_epoch", "-e", "frame.len",
                                       "-e", "udp.payload"], capture_output=True, check=True).stdout

        data = CAPTURES[0].read_bytes()
        self.assertEqual(lines(".pcapng", converted(data)[1]), lines(".pcap", data))
        self.assertIn(b"a and b", converted(data)[1])

    def test_a_record_that_is_cut(self):
        data = CAPTURES[0].read_bytes()
        packets = list(packets_of(data))
        whole = len(packets)
        last = len(packets[-1][1]) + 16
        for cut in range(1, last):
            count, new = converted(data[:-cut])
            self.assertEqual(count, whole - 1)
            self.assertEqual(packets_of_blocks(new), packets[:-1])

    def test_what_is_no_capture(self):
        for data in (b"", b"\xd4\xc3\xb2", b"\0" * 24, converted(CAPTURES[0].read_bytes())[1]):
            with self.assertRaises(pcapng.NoCapture):
                converted(data)
        head = CAPTURES[0].read_bytes()[:24]
        with self.assertRaises(pcapng.NoCapture):
            converted(head + struct.pack("=IIII", 0, 0, 0x7FFFFFFF, 0x7FFFFFFF) + b"x" * 100)

    def test_what_is_not_judged_is_no_success(self):
        """A judge that is not there is said, one that fails and a capture that cannot be written are statuses of their own."""
        with tempfile.TemporaryDirectory() as folder:
            pcap, out = Path(folder) / "wire.pcap", f"{folder}/wire.pcapng"
            for program, to, status, words in ((PROGRAM, out, 0, ""), ("/no/o2ref", out, 0, "not judged: /no/o2ref is not there"),
                                               ("/bin/ls", out, common.EX_NOT_JUDGED, "not judged: /bin/ls judge ended with status 2"),
                                               ("/", out, common.EX_NOT_JUDGED, "not judged: "),
                                               (PROGRAM, f"{folder}/no/x", common.EX_NOT_JUDGED, "no capture in "),
                                               (PROGRAM, "/dev/full", common.EX_NOT_JUDGED, "no capture in /dev/full")):
                pcap.write_bytes(CAPTURES[0].read_bytes())
                with self.subTest(program=program, to=to), contextlib.redirect_stderr(io.StringIO()) as err, \
                        contextlib.redirect_stdout(io.StringIO()):
                    self.assertEqual(capture.finish_and_judge(str(pcap), to, "", program), status)
                    self.assertIn(words, err.getvalue())


def elf(pvh=True):
    note = struct.pack("<III", 4, 8, 18 if pvh else 1) + b"Xen\0" + b"\0" * 8
    header = b"\x7fELF\2\1\1".ljust(32, b"\0") + struct.pack("<Q", 64) + b"\0" * 14 + struct.pack("<HH", 56, 1)
    program = struct.pack("<IIQQQQ", 4, 0, 120, 0, 0, len(note)) + b"\0" * 16
    return header.ljust(64, b"\0") + program + note + f"Linux version {RELEASE} (me@here)".encode() + b"\0"


def bzimage(payload):
    image_head = bytearray(2 * 512)
    image_head[0x1F1] = 1
    image_head[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", image_head, 0x20E, 0x100)
    text = f"{RELEASE} (me@here) #1".encode()
    image_head[0x300:0x300 + len(text)] = text
    struct.pack_into("<II", image_head, 0x248, 0, len(payload))
    return bytes(image_head) + payload


def module(name, depends="", release=RELEASE):
    return b"\x7fELF\0depends=" + depends.encode() + b"\0name=" + name.encode() + b"\0vermagic=" + release.encode() + b" SMP mod_unload \0"


SIZE = b"\1\2\3\4"
PACKERS = {"gzip": gzip.compress, "xz": lambda data: lzma.compress(data) + SIZE, "bzip2": lambda data: bz2.compress(data) + SIZE,
           "lzma": lambda data: lzma.compress(data, lzma.FORMAT_ALONE) + SIZE,
           "zstd": lambda data: subprocess.run(["zstd", "-cq"], input=data, stdout=subprocess.PIPE, check=True).stdout + SIZE}


class Kernel(unittest.TestCase):
    """A build tree: its kernel in every compression, and its modules as modules_install installs them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="o2ref-test-vm-tools-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.tree = self.folder / "root" / "lib" / "modules" / RELEASE
        needed = [name for name, is_needed in modules.listed() if is_needed]
        for name in needed:
            self.add(f"kernel/drivers/{name}.ko", module(name, "" if name != "rdma_rxe" else "ib_core,udp-tunnel"))
        self.add("kernel/net/ib_core.ko.xz", lzma.compress(module("ib_core")))
        self.add("kernel/net/udp_tunnel.ko.gz", gzip.compress(module("udp_tunnel")))
        (self.tree / "kernel/drivers/overlay.ko").unlink()
        # Modules built into the kernel, and optional modules.
        optional = [name for name, is_needed in modules.listed() if not is_needed]
        self.builtin("overlay", *optional)
        (self.tree / "build").symlink_to(self.folder)
        self.write("bzImage", bzimage(PACKERS["gzip"](elf())))

    def add(self, path, data):
        file = self.tree / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return file

    def builtin(self, *names):
        (self.tree / "modules.builtin").write_text("".join(f"kernel/fs/{name}.ko\n" for name in names))

    def write(self, name, data):
        (self.folder / name).write_bytes(data)
        return str(self.folder / name)

    def source(self, file="bzImage", tree=None):
        return image.Source(file=str(self.folder / file), modules=str(tree or self.folder / "root"))

    def install(self, **options_of_source):
        out = Path(tempfile.mkdtemp(dir=self.folder))
        self.source(**options_of_source).install(None, str(out))
        return out

    def test_every_compression(self):
        for name, pack in PACKERS.items():
            with self.subTest(name):
                self.write("bzImage", bzimage(pack(elf())))
                out = self.install()
                self.assertEqual((out / "boot").read_bytes(), elf())
                self.assertEqual((out / "release").read_text(), RELEASE + "\n")

    def test_without_an_entry_of_its_own(self):
        """A kernel without a PVH entry is booted as bzImage; its ELF file alone is refused."""
        whole = bzimage(PACKERS["xz"](elf(pvh=False)))
        self.write("bzImage", whole)
        with contextlib.redirect_stderr(io.StringIO()) as said_by:
            self.assertEqual((self.install() / "boot").read_bytes(), whole)
        self.assertIn("bzImage was built without CONFIG_PVH", said_by.getvalue())
        self.write("vmlinux", elf())
        self.assertEqual((self.install(file="vmlinux") / "boot").read_bytes(), elf())
        self.write("vmlinux", elf(pvh=False))
        self.refused(r"vmlinux cannot be booted by itself .*bzImage", file="vmlinux")

    def test_modules_in_order(self):
        names = [path.name[3:-3] for path in sorted((self.install() / "modules").iterdir())]
        self.assertLess(names.index("ib_core"), names.index("rdma_rxe"))
        self.assertLess(names.index("udp_tunnel"), names.index("rdma_rxe"))
        self.assertNotIn("overlay", names)
        self.assertEqual(len(set(names)), len(names))
        # The directory of the release itself is accepted like the one above it.
        self.assertEqual([path.name[3:-3] for path in sorted((self.install(tree=self.tree) / "modules").iterdir())], names)

    def test_what_a_guest_can_be_without(self):
        self.builtin("overlay")
        said_by = io.StringIO()
        with contextlib.redirect_stderr(said_by):
            self.install()
        self.assertEqual(said_by.getvalue().splitlines(), [f"vm: kernel {RELEASE} has no module {name}: left out"
                                                           for name, is_needed in modules.listed() if not is_needed])

    def test_what_is_installed_beside_replaces(self):
        other = module("rdma_rxe") + b"mine"
        self.add("updates/rdma_rxe.ko", other)
        rxe = next((self.install() / "modules").glob("*-rdma_rxe.ko"))
        self.assertEqual(rxe.read_bytes(), other)

    def test_a_signature_is_cut_off(self):
        plain = module("veth")
        signed = plain + b"S" * 40 + struct.pack(">8xI", 40) + b"~Module signature appended~\n"
        self.add("kernel/drivers/veth.ko", signed)
        self.assertEqual(next((self.install() / "modules").glob("*-veth.ko")).read_bytes(), plain)

    def test_built_anew_is_another_key(self):
        before = self.source().key()
        self.assertEqual(self.source().key(), before)
        os.utime(self.tree / "kernel/drivers/rdma_rxe.ko", ns=(1, 1))
        after = self.source().key()
        self.assertNotEqual(after, before)
        os.utime(self.folder / "bzImage", ns=(1, 1))
        self.assertNotEqual(self.source().key(), after)

    def refused(self, pattern, **options_of_source):
        with self.assertRaisesRegex(common.BadKernel, pattern):
            self.install(**options_of_source)

    def test_refusals(self):
        self.refused(r"has no modules of kernel 6\.99\.0-mine\+.*INSTALL_MOD_PATH", tree=self.folder)
        self.add("kernel/drivers/veth.ko", module("veth", release="6.98.0"))
        self.refused(r"veth\.ko was made for kernel 6\.98\.0, not for 6\.99\.0-mine\+")
        (self.tree / "kernel/drivers/veth.ko").unlink()
        self.refused("has no module veth, which the guest needs")
        self.add("kernel/drivers/veth.ko", module("veth", "tubes"))
        self.refused("has no module tubes, which veth needs")
        for data, pattern in ((b"", "is no kernel"), (b"text" * 1000, "is no kernel"), (bzimage(b"")[:0x220], "is cut"),
                              (bzimage(b"\x55" * 100), "compressed in a way"), (bzimage(gzip.compress(elf())[:-9]), "cannot be unpacked"),
                              (bzimage(lzma.compress(elf())[:-30] + SIZE), "cannot be unpacked"),
                              (bzimage(gzip.compress(b"no ELF")), "not an ELF"), (bzimage(b"").replace(RELEASE.encode(), b"(nobody) #1 "),
                                                                                  "of which release"),
                              (bzimage(gzip.compress(elf()[:80])), "cut")):
            with self.subTest(pattern):
                self.write("bad", data)
                (self.tree / "kernel/drivers/veth.ko").write_bytes(module("veth"))
                self.refused(pattern, file="bad")


class Said(unittest.TestCase):
    def test_lines_and_what_is_awaited(self):
        """However reads split the output: whole lines with the name in front, and the unchanged bytes in the copy."""
        text = b"one\nserving as x\n\ntwo"
        for cut in range(len(text) + 1):
            with tempfile.TemporaryDirectory() as folder:
                reader, writer = os.pipe()
                copy = os.path.join(folder, "copy")
                sink = said.Said("b", writer, copy, b"serving as")
                sink(text[:cut])
                self.assertEqual(sink.heard.is_set(), cut >= text.index(b" x"))
                sink(text[cut:])
                sink.close()
                os.close(writer)
                with os.fdopen(reader, "rb") as f:
                    self.assertEqual(f.read(), b"b: one\nb: serving as x\nb: \nb: two\n")
                self.assertEqual(Path(copy).read_bytes(), text)
                self.assertTrue(sink.heard.is_set())


class CommandLines(unittest.TestCase):
    """A wrong command line gives one line on standard error, with the option and the value; exit status 2."""

    def wrong(self, program, words, *named):
        done = subprocess.run([VM / program, *words], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (common.EX_USAGE, "", 1), (words, done.stderr))
        for part in named:
            self.assertIn(part, done.stderr)

    def test_numbers(self):
        both = ["--a", "true", "--b", "true"]
        for program, rest in (("run", ["--", "true"]), ("pair", both)):
            for option, value, limit in (("--smp", "0", "1 to 64"), ("--smp", "65", "1 to 64"), ("--memory", "255", "256 to"),
                                         ("--timeout", "1.5", "1 to 1000000"), ("--boot-timeout", "-3", "1 to 1000000"),
                                         ("--timeout", "", "whole number"), ("--accel", "xen", "auto, kvm or tcg"),
                                         ("--env", "a-b=c", "NAME=VALUE")):
                with self.subTest(program=program, option=option, value=value):
                    self.wrong(program, [f"{option}={value}", *rest], option, repr(value), limit)
        for value in ("255", "65536", "x"):
            self.wrong("pair", ["--snap", value, *both], "--snap", repr(value), "256 to 65535")

    def test_kernels(self):
        here, file = str(VM), str(VM / "run")
        for program, rest in (("run", ["--", "true"]), ("prepare", [])):
            for words, named in ((["--kernel-file", "/no/such"], ("--kernel-file", "/no/such", "no such file")),
                                 (["--modules", "/no/such"], ("--modules", "/no/such", "no such directory")),
                                 (["--kernel-file", file], ("--kernel-file", file, "--modules")),
                                 (["--modules", here], ("--modules", here, "--kernel-file")),
                                 (["--kernel-file", file, "--modules", here, "--suite", "x"], ("--suite", file)),
                                 (["--kernel-deb", "/no/such"], ("--kernel-deb", "/no/such")),
                                 (["--nonsense"], ("--nonsense",)) if program == "prepare" else (["--smp"], ("--smp",)),
                                 (["--kernel-file", file, "--modules", here], (file, "is no kernel"))):
                with self.subTest(program=program, words=words):
                    self.wrong(program, [*words, *rest], *named)

    def test_sides(self):
        here, file = str(VM), str(VM / "run")
        for side in "ab":
            for words, named in (([f"--kernel-{side}", "./no-such"], (f"--kernel-{side}", "./no-such", "no such file")),
                                 ([f"--kernel-{side}", file], (f"--kernel-{side}", file, f"--modules-{side}")),
                                 ([f"--modules-{side}", here], (f"--modules-{side}", here, "package")),
                                 ([f"--modules-{side}", "/no/such"], (f"--modules-{side}", "/no/such", "no such directory")),
                                 ([f"--kernel-{side}", file, f"--modules-{side}", here, f"--suite-{side}", "x"], (f"--suite-{side}", "x")),
                                 ([f"--setup-{side}", "/no/such"], (f"--setup-{side}", "/no/such")),
                                 ([f"--kernel-{side}", file, f"--modules-{side}", here], (file, "is no kernel"))):
                with self.subTest(words=words):
                    self.wrong("pair", ["--a", "true", "--b", "true", *words], *named)
        self.wrong("pair", ["--a", "true"], "--b")
        self.wrong("pair", ["--a", "true", "--b", "true", "--capture", "/no/such/file"], "--capture", "/no/such/file")
        self.wrong("pair", ["--a", "true", "--b", "true", "--capture", "x", "--no-capture"], "--capture", "x", "--no-capture")
        self.wrong("pair", ["--a", "true", "--b", "true", "left over"], "left over")

    def test_folders_that_cannot_be_made(self):
        there = f"{VM / 'run'}/x"
        self.wrong("run", ["--cache", there, "--", "true"], there, "cannot be made: Not a directory")
        self.wrong("prepare", ["--cache", there], there, "cannot be made: Not a directory")
        with tempfile.TemporaryDirectory() as folder:
            for log, share in ((there, folder), (folder, there)):
                with self.assertRaisesRegex(common.WrongUsage, f"{there}.*: no folder, and it cannot be made: "):
                    rundir.RunDir(log, share, False)

    def test_what_a_kernel_is(self):
        """--kernel-SIDE accepts a package's name, a package's file or an image."""
        parser = options.Parser()
        with tempfile.TemporaryDirectory() as folder:
            deb = os.path.join(folder, "some.deb")
            Path(deb).touch()

            def source(kernel_name, modules_dir=None, suite=None):
                namespace = options.argparse.Namespace(kernel_a=kernel_name, modules_a=modules_dir, suite_a=suite)
                return options.side_source(parser, "a", namespace)

            self.assertEqual(source("linux-image-amd64", suite="s"), image.Source("linux-image-amd64", "s"))
            self.assertEqual(source(deb), image.Source(deb=deb))
            self.assertEqual(source(str(VM / "run"), folder), image.Source(file=str(VM / "run"), modules=folder))


if __name__ == "__main__":
    sys.exit(suite.run(suite.of(sys.modules[__name__])))
