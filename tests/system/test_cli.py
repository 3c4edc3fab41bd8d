#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test the o2ref command against docs/cli.md: its output, its errors, its exit status.

usage: test_cli.py [O2REF]   the program; default $O2REF_CLI, else build/gcc/o2ref.  Last line "N passed, N failed".
"""

import json
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import unittest
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = ROOT / "corpus" / "captures"
HINT = r"wire/header/checksum: .*\); --tolerate-immediate-checksum accepts it\n$"
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "lib"))

import suite  # noqa: E402

PROGRAM = suite.program()

DECODED, REFUSED, USAGE = 0, 1, 2
NOOP = bytes.fromhex(
    "911be90b1200d0043000000000000000" "010aa8c000000500f6e5d4c3b2a10500" "020aa8c000000500ffeeddccbbaa0500"
)
# PUT_ACK in big-endian order, 2 fragments; offsets: nfrags 68, first fragment 72.
PUT_ACK_BIG = bytes.fromhex(
    "0be91b910012d4010000006000000000" "00050000c0a80a010005a1b2c3d4e5f6" "00050000c0a80a020005aabbccddeeff"
    "8877665544332211" "00ffeeddccbbaa99" "00abcd01" "00000002"
    "00001000" "00007f1234567800" "00000064" "00007f1234569000"
)


def run(*arguments, data=b"", environment=None):
    return suite.ended([PROGRAM, *arguments], (DECODED, REFUSED, USAGE), input=data, timeout=60,
                       env={**os.environ, **(environment or {})})


def messages():
    return sorted(CAPTURES.glob("*.bin"))


def rows(text):
    """{field: (offset, bytes, value)} of a dump; the key of a marked row is ">" + field."""
    found = {}
    for line in text.splitlines():
        fields = line[2:].split("  ")
        if len(line) < 10 or line[0] not in " >" or line[1] != " " or not fields[0].strip():
            continue
        parts = [part.strip() for part in line[2:].split("  ") if part.strip()]
        if len(parts) < 3:
            continue
        found[(">" if line[0] == ">" else "") + parts[2]] = (int(parts[0], 16), parts[1], " ".join(parts[3:]))
    return found


class Command(unittest.TestCase):
    """What does not depend on a file's content: help, wrong usage, standard descriptors, a full disk."""

    def test_help_and_version(self):
        for arguments in (["--help"], ["-h"], ["decode", "--help"], ["encode", "-h"]):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stderr), (DECODED, b""), arguments)
            self.assertTrue(done.stdout.startswith(b"usage: o2ref "), arguments)
        self.assertRegex(run("--version").stdout, rb"^o2ref \d+\.\d+\.\d+\n$")

    def test_help_has_the_exit_statuses_of_the_document(self):
        said = re.search(r"^Exit status: (.*?)\n\n", (ROOT / "docs" / "cli.md").read_text(encoding="utf-8"), re.S | re.M).group(1)
        statuses = re.findall(r"(?:^|;\s)(\d+) ", said)
        self.assertEqual(statuses, ["0", "1", "2", "77"])
        shown = run("--help").stdout.decode().partition("exit status: ")[2]
        self.assertEqual(re.findall(r"(?:^|, )(\d+) ", shown), statuses)

    def test_usage_errors_are_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            cases = [
                [], ["explode"], ["decode"], ["encode"], ["decode", "--no-such"], ["decode", "--color"],
                ["decode", "--color", "pink", "-"], ["decode", "--max-frags", "258", "-"],
                ["decode", "--max-frags", "", "-"], ["encode", "a", "b"], ["encode", "--max-frags", "x", "-"],
                ["decode", "--pcap", "--reject", "-"], ["decode", "--hex-input", "--raw-input", "-"],
                ["decode", f"{folder}/none"], ["decode", folder], ["encode", f"{folder}/none"],
                ["decode", f"{folder}/a\nb\x1b[31m"],
            ]
            for arguments in cases:
                done = run(*arguments)
                self.assertEqual(done.returncode, USAGE, arguments)
                self.assertEqual(done.stdout, b"", arguments)
                self.assertEqual(done.stderr.count(b"\n"), 1, arguments)
                self.assertTrue(done.stderr.startswith(b"o2ref: "), arguments)
                self.assertNotIn(b"\x1b", done.stderr)

    def test_what_is_wrong_comes_after_a_word_of_any_length(self):
        for length in (100, 1150, 5000):
            word = "x" * length
            done = run("decode", f"/none/{word}")
            self.assertEqual((done.returncode, done.stdout), (USAGE, b""))
            self.assertRegex(done.stderr, rb"^o2ref: /none/x{%d}: [A-Z][a-z ]+\n$" % length)

    def test_a_full_disk_is_an_error(self):
        captures = sorted(map(str, (CAPTURES / "pcap").glob("*.pcap")))
        for words in (["decode", "-"], ["decode", "--pcap", "--json", *captures], ["judge", "--json", *captures]):
            with self.subTest(words[:3]), open("/dev/full", "wb") as full:
                done = subprocess.run([PROGRAM, *words], input=NOOP, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
                self.assertEqual(done.returncode, USAGE)
                self.assertEqual(done.stderr, b"o2ref: standard output: No space left on device\n")

    def closed(self, *words, without):
        """Run with these standard descriptors closed, as they may be if a job scheduler starts the command."""
        script = 'exec "$@" ' + " ".join(f"{number}>&-" for number in without)
        return subprocess.run(["sh", "-c", script, "sh", *map(str, words)], capture_output=True, timeout=60, check=False)

    def test_what_is_opened_is_no_standard_descriptor(self):
        scenario = ROOT / "corpus" / "transfer" / "scenario" / "lu-9983-page-with-a-gap.json"
        capture = ROOT / "corpus" / "captures" / "pcap" / "put_3977.plain.pcap"
        folder = Path(PROGRAM).resolve().parent
        with tempfile.TemporaryDirectory() as directory:
            page = Path(directory) / "page.html"
            for words in (["decode", "--pcap", capture], ["explain", scenario], ["judge", "--html", page, capture]):
                with self.subTest(words[0]):
                    done = self.closed(PROGRAM, *words, without=[1])
                    self.assertEqual(done.returncode, 2)
                    self.assertIn(b"standard output: ", done.stderr)
                    self.assertEqual(done.stderr.count(b"\n"), 1)
            page.unlink(missing_ok=True)
            self.assertEqual(self.closed(PROGRAM, "judge", "--html", page, capture, without=[2]).returncode, 0)
            self.assertTrue(page.read_bytes().startswith(b"<!DOCTYPE html>"))
        for without in ([0], [2], [0, 2]):
            with self.subTest(without=without):
                done = self.closed(PROGRAM, "check", "--selftest", "--", folder / "impl_reference_program", without=without)
                self.assertEqual((done.returncode, b"WRONG" in done.stdout), (0, False), done.stdout)

    def test_an_endless_file_is_refused(self):
        done = run("decode", "/dev/zero")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn(b"more than 1048576 bytes", done.stderr)


class Dump(unittest.TestCase):
    """The annotated hex dump."""

    def test_put_ack(self):
        done = run("decode", "-", data=PUT_ACK_BIG)
        found = rows(done.stdout.decode())
        self.assertEqual((done.returncode, done.stderr), (DECODED, b""))
        expected = {
            "ibm_magic": (0, "0b e9 1b 91", "0x0be91b91 big-endian"),
            "ibm_version": (4, "00 12", "0x12"),
            "ibm_type": (6, "d4", "0xd4 PUT_ACK"),
            "ibm_credits": (7, "01", "1"),
            "ibm_nob": (8, "00 00 00 60", "96"),
            "ibm_cksum": (12, "00 00 00 00", "0 (no checksum)"),
            "ibm_srcnid": (16, "00 05 00 00 c0 a8 0a 01", "192.168.10.1@o2ib"),
            "ibm_dststamp": (40, "00 05 aa bb cc dd ee ff", "0x5aabbccddeeff"),
            # A cookie has no byte order: it is shown as a little-endian number.
            "ibpam_src_cookie": (48, "88 77 66 55 44 33 22 11", "0x1122334455667788"),
            "ibpam_rd.rd_key": (64, "00 ab cd 01", "0xabcd01"),
            "ibpam_rd.rd_nfrags": (68, "00 00 00 02", "2"),
            "ibpam_rd.rd_frags[0].rf_nob": (72, "00 00 10 00", "4096"),
            "ibpam_rd.rd_frags[0].rf_addr": (76, "00 00 7f 12 34 56 78 00", "0x7f1234567800"),
            "ibpam_rd.rd_frags[1].rf_nob": (84, "00 00 00 64", "100 (sum 4196)"),
        }
        for name, row in expected.items():
            self.assertEqual(found.get(name), row, name)

    def test_captured_messages(self):
        put = rows(run("decode", CAPTURES / "015_PUT_REQ_PUT_n00128_a2b.bin").stdout.decode())
        self.assertEqual(put["hdr.type"], (0x48, "01 00 00 00", "1 PUT"))
        self.assertEqual(put["hdr.payload_length"][2], "65536")
        self.assertEqual(put["hdr.ptl_index"][2], "60")
        self.assertEqual(put["ibprm_cookie"][2], "0x85")
        done = rows(run("decode", CAPTURES / "026_GET_DONE_n00060_b2a.bin").stdout.decode())
        self.assertIn("ibcm_status", done)
        noop = rows(run("decode", CAPTURES / "077_NOOP_ck_n00048_b2a.bin").stdout.decode())
        self.assertRegex(noop["ibm_cksum"][2], r"^0x[0-9a-f]{8} right \(signed\)$")

    def test_every_field_of_every_captured_message_is_shown(self):
        """Every byte of a message is in exactly one row."""
        for path in messages():
            text = run("decode", "--all", *(["--reject"] if "REJ" in path.name else []), path).stdout.decode()
            shown = {}
            for line in text.splitlines():
                if not line.startswith(("  0", "> 0")):
                    continue
                at, frame = int(line[2:6], 16), line[8:31].strip()
                if frame.endswith(".."):
                    count = int(line.split(" zero bytes")[0].split()[-1])
                    shown.update({at + i: "00" for i in range(count)})
                    continue
                for i, byte in enumerate(frame.split()):
                    self.assertNotIn(at + i, shown, f"{path.name}: {at + i} twice")
                    shown[at + i] = byte
            data = path.read_bytes()
            self.assertEqual(shown, {i: f"{byte:02x}" for i, byte in enumerate(data)}, path.name)

    def test_negative_status_has_its_name(self):
        data = bytearray((CAPTURES / "026_GET_DONE_n00060_b2a.bin").read_bytes())
        struct.pack_into("<i", data, 56, -61)
        self.assertEqual(rows(run("decode", "-", data=bytes(data)).stdout.decode())["ibcm_status"][2], "-61 ENODATA")

    def test_private_data(self):
        for path in sorted((CAPTURES / "cm").glob("*.cmpriv")):
            reject = "REJ" in path.name
            done = run("decode", *(["--reject"] if reject else []), path)
            text = done.stdout.decode()
            self.assertEqual(done.returncode, DECODED, path.name)
            self.assertEqual("IP-CM header" in text, "CONNREQ" in path.name)
            if reject:
                self.assertIn("124 zero bytes, ignored", text)
                self.assertRegex(rows(text)["ibr_why"][2], "^" + path.name[7])
            if "CONNACK" in path.name:
                self.assertIn("140 zero bytes, ignored", text)
            if "CONNREQ" in path.name:
                self.assertEqual(rows(text)["source_port"][2], "1023")
                self.assertRegex(rows(text)["source_address"][2], r"^10\.77\.0\.[12]$")

    def test_trailing_bytes_are_named(self):
        found = rows(run("decode", "-", data=NOOP + b"\x01\x02").stdout.decode())
        self.assertEqual(found["(after nob)"][:2], (48, "01 02"))

    def test_hexadecimal_text(self):
        for text in (NOOP.hex(), NOOP.hex(" "), NOOP.hex(":").upper() + "\n", "\n".join(NOOP.hex(" ", 4).split())):
            done = run("decode", "-", data=text.encode())
            self.assertEqual(rows(done.stdout.decode())["ibm_type"][2], "0xd0 NOOP")
        raw = run("decode", "--raw-input", "-", data=NOOP.hex().encode())
        self.assertIn(b"wire/header/magic", raw.stderr)
        # A digit is missing somewhere: the rest must not be joined to other pairs.
        for text in (b"911", b"9 11b", b"91 1 be 9", b"91:1b:e:0"):
            odd = run("decode", "--hex-input", "-", data=text)
            self.assertEqual((odd.returncode, odd.stderr.count(b"\n")), (USAGE, 1), text)

    def test_several_files_have_titles(self):
        first, second = messages()[:2]
        done = run("decode", first, CAPTURES / "none", second)
        self.assertEqual(done.returncode, USAGE)
        self.assertEqual(done.stdout.count(b"== "), 3)
        self.assertEqual(done.stdout.count(b"ibm_magic"), 2)
        for command in ("decode", "judge"):
            self.assertTrue(run(command, "a\x1b[2J\nno", "b").stdout.startswith(b"== a?[2J?no ==\n"), command)


class Refusal(unittest.TestCase):
    """The form of a refusal; the rest of the input is still shown."""

    def refused(self, data, rule, *options):
        done = run("decode", *options, "-", data=bytes(data))
        self.assertEqual(done.returncode, REFUSED, rule)
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertIn(f"o2ref: standard input: {rule}: ".encode(), done.stderr)
        self.assertIn(f"refused: {rule} (".encode(), done.stdout)
        return done.stdout.decode(), rows(done.stdout.decode())

    def test_fragment_count(self):
        data = bytearray(PUT_ACK_BIG)
        struct.pack_into(">I", data, 68, 258)
        text, found = self.refused(data, "wire/put_ack/nfrags-over-limit")
        self.assertIn("ibpam_rd.rd_nfrags at offset 68: value 258 (0x102), limit 257 (0x101)", text)
        self.assertEqual(found[">ibpam_rd.rd_nfrags"][2], "258")
        self.assertNotIn("ibpam_rd.rd_frags[0].rf_nob", found)
        self.assertIn("ibm_srcnid", found)

    def test_one_fragment_of_a_list(self):
        data = bytearray(PUT_ACK_BIG)
        struct.pack_into(">I", data, 84, 0)
        text, found = self.refused(data, "wire/put_ack/frag-nob-zero")
        self.assertIn("ibpam_rd.rd_frags[1].rf_nob at offset 84: value 0", text)
        self.assertEqual([name for name in found if name.startswith(">")], [">ibpam_rd.rd_frags[1].rf_nob"])

    def test_unknown_magic_version_type(self):
        text, _ = self.refused(b"\x00" * 48, "wire/header/magic")
        self.assertIn("44 zero bytes, of unknown order", text)
        for order, magic in product("<>", (0x0be91b90, 0x0be91b92, 0x45726963)):
            text, _ = self.refused(struct.pack(order + "I", magic) + NOOP[4:], "wire/header/magic")
            self.assertIn(", of unknown order", text)
        _, found = self.refused(NOOP[:4] + b"\x13" + NOOP[5:], "wire/header/version")
        self.assertEqual(found[">ibm_version"][2], "0x13")
        _, found = self.refused(NOOP[:6] + b"\xd8" + NOOP[7:], "wire/header/type")
        self.assertEqual(found[">ibm_type"][2], "0xd8 (unknown)")
        self.assertIn("ibm_dststamp", found)

    def test_cut_short(self):
        text, found = self.refused(NOOP[:45], "wire/header/short-for-header")
        self.assertIn("length_bytes: value 45 (0x2d), limit 48", text)
        self.assertEqual(found["ibm_dststamp"][2], "(cut short: 5 of 8 bytes)")
        self.refused(b"", "wire/header/short-for-version")

    def test_every_truncation_of_every_type(self):
        seen = set()
        for path in messages():
            data = path.read_bytes()
            kind = path.name.split("_n")[0][4:]
            if kind in seen or "REJ" in kind or "BADCK" in kind:
                continue
            seen.add(kind)
            for length in sorted({0, 5, 6, 7, 47, 48, 49, len(data) // 2, len(data) - 1}):
                if length < len(data):
                    self.assertEqual(run("decode", "-", data=data[:length]).returncode, REFUSED, f"{path}: {length}")

    def test_lnet_type(self):
        data = bytearray((CAPTURES / "015_PUT_REQ_PUT_n00128_a2b.bin").read_bytes())
        struct.pack_into("<I", data, 72, 2)
        text, found = self.refused(data, "wire/put_req/lnet-type")
        self.assertIn("set of types", text)
        self.assertEqual(found[">hdr.type"][2], "2 GET")

    def test_options(self):
        self.refused(NOOP, "wire/header/checksum-absent", "--require-checksum")
        tcp = NOOP[:22] + b"\x02" + NOOP[23:]
        self.refused(tcp, "wire/header/srcnid-lnd-foreign")
        self.assertEqual(run("decode", "--any-lnd", "-", data=tcp).returncode, DECODED)
        data = PUT_ACK_BIG[:8] + struct.pack(">I", 72 + 12 * 257) + PUT_ACK_BIG[12:68] + struct.pack(">I", 257)
        data += b"".join(struct.pack(">IQ", 1, 4096 * i) for i in range(257))
        self.assertEqual(run("decode", "-", data=data).returncode, DECODED)
        self.refused(data, "wire/put_ack/nfrags-over-limit", "--max-frags", "256")

    def test_a_reject_record_is_recognised(self):
        text, _ = self.refused((CAPTURES / "010_REJ7_n00024_b2a.bin").read_bytes(), "wire/header/short-for-header")
        self.assertIn("try --reject", text)

    def test_reject_record(self):
        data = (CAPTURES / "010_REJ7_n00024_b2a.bin").read_bytes()
        _, found = self.refused(data[:6] + b"\x0a" + data[7:], "wire/reject/why", "--reject")
        self.assertEqual(found[">ibr_why"][2], "10 (unknown)")

    def test_wrong_checksum(self):
        for path in CAPTURES.glob("*_BADCK_*.bin"):
            data = bytearray(path.read_bytes())
            _, found = self.refused(data, "wire/header/checksum")
            self.assertRegex(run("decode", "-", data=bytes(data)).stderr.decode(), HINT)
            self.assertRegex(found[">ibm_cksum"][2], "wrong: unsigned 0x[0-9a-f]{8}, signed 0x[0-9a-f]{8}$")
            done = run("decode", "--tolerate-immediate-checksum", "-", data=bytes(data))
            self.assertEqual(done.returncode, DECODED)
            self.assertIn(b"tolerated: ", done.stdout)
            decoded = run("decode", "--json", "--tolerate-immediate-checksum", path)
            self.assertEqual(json.loads(decoded.stdout)["message"]["cksum_flavour"], "unverified")
            # The checksum is tolerated only if there are payload bytes, all of them inside the message.
            for payload_length in (0, 4000):
                struct.pack_into("<I", data, 76, payload_length)
                self.refused(data, "wire/header/checksum", "--tolerate-immediate-checksum")
                self.assertNotRegex(run("decode", "-", data=bytes(data)).stderr.decode(), HINT)
        for name in ("077_NOOP_ck_n00048_b2a.bin", "083_PUT_REQ_PUT_ck_n00128_a2b.bin"):
            other = bytearray((CAPTURES / name).read_bytes())
            other[12] ^= 1
            self.assertNotRegex(run("decode", "-", data=bytes(other)).stderr.decode(), HINT)
            self.refused(other, "wire/header/checksum", "--tolerate-immediate-checksum")


class Color(unittest.TestCase):
    """Colour is used only on a terminal."""

    def on_terminal(self, *arguments, environment=None):
        main, side = pty.openpty()
        child = subprocess.Popen([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=side,
                                 stderr=subprocess.PIPE, env={**os.environ, **(environment or {})})
        os.close(side)
        output = b""
        while True:
            try:
                some = os.read(main, 65536)
            except OSError:  # Linux returns EIO when the other side is closed
                some = b""
            if not some:
                break
            output += some
        os.close(main)
        stderr = child.communicate(timeout=60)[1]
        return child.returncode, output, stderr

    def test_color(self):
        path = messages()[0]
        self.assertNotIn(b"\x1b", run("decode", path).stdout)
        self.assertIn(b"\x1b[", run("decode", "--color", "always", path).stdout)
        self.assertIn(b"\x1b[", self.on_terminal("decode", path, environment={"NO_COLOR": ""})[1])
        self.assertNotIn(b"\x1b", self.on_terminal("decode", path, environment={"NO_COLOR": "1"})[1])
        self.assertNotIn(b"\x1b", self.on_terminal("decode", "--color", "never", path)[1])

    def test_bytes_do_not_go_to_a_terminal(self):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            file.write(run("decode", "--json", messages()[0]).stdout)
            file.flush()
            status, output, stderr = self.on_terminal("encode", file.name)
            self.assertEqual((status, output), (USAGE, b""))
            self.assertIn(b"--hex", stderr)
            self.assertEqual(self.on_terminal("encode", "--hex", file.name)[0], DECODED)


class Documentation(unittest.TestCase):
    """The samples in docs/cli.md match the command's output.  A line "..." stands for any lines."""

    def test_samples(self):
        blocks = re.findall(r"(?m)^    \$ (o2ref .*)\n((?:    .*\n)*)", (ROOT / "docs" / "cli.md").read_text())
        self.assertGreaterEqual(len(blocks), 5)
        for command, sample in blocks:
            done = subprocess.run(command.replace("o2ref", shlex.quote(os.path.abspath(PROGRAM))), shell=True,
                                  cwd=ROOT, capture_output=True, timeout=60, check=False)
            expected = re.escape("".join(line[4:] + "\n" for line in sample.splitlines()))
            expected = expected.replace(re.escape("...\n"), "(?:.*\\n)*?")
            self.assertRegex(done.stdout.decode() + done.stderr.decode(), "^(?:" + expected + ")$", command)


class Json(unittest.TestCase):
    """decode --json and encode."""

    def test_captures_round_trip(self):
        self.assertGreaterEqual(len(messages()), 60)
        for path in messages():
            options = ["--reject"] if "REJ" in path.name else []
            decoded = run("decode", "--json", *options, path)
            if "BADCK" in path.name:
                self.assertEqual(decoded.returncode, REFUSED)
                refused = json.loads(decoded.stdout)["refused"]
                self.assertEqual((refused["rule"], refused["offset_bytes"]), ("wire/header/checksum", 12))
                continue
            self.assertEqual((decoded.returncode, decoded.stderr), (DECODED, b""), path.name)
            encoded = run("encode", "-", data=decoded.stdout)
            self.assertEqual(encoded.returncode, DECODED, encoded.stderr)
            self.assertEqual(encoded.stdout, path.read_bytes(), path.name)
            in_hex = run("encode", "--hex", "-", data=decoded.stdout)
            self.assertEqual(in_hex.stdout.decode(), path.read_bytes().hex() + "\n")

    def test_encode_input(self):
        message = json.loads(run("decode", "--json", "-", data=PUT_ACK_BIG).stdout)["message"]
        del message["ibm_nob"]
        form = {"form": "o2ref/msg_encode/input", "version": 1, "message": message}
        done = run("encode", "-", data=json.dumps(form).encode())
        self.assertEqual(done.stdout, PUT_ACK_BIG)

    def test_encode_refuses_what_decode_would(self):
        form = json.loads(run("decode", "--json", "-", data=PUT_ACK_BIG).stdout)
        form["message"]["body"]["ibpam_rd"]["rd_frags"][1]["rf_nob"] = 1 << 20
        done = run("encode", "-", data=json.dumps(form).encode())
        self.assertEqual((done.returncode, done.stdout), (REFUSED, b""))
        self.assertIn(b"o2ref: standard input: wire/put_ack/frag-sum-over-limit: ibpam_rd.rd_frags[1].rf_nob is ",
                      done.stderr)

    def test_encode_options(self):
        tcp = NOOP[:22] + b"\x02" + NOOP[23:]
        form = run("decode", "--json", "--any-lnd", "-", data=tcp).stdout
        self.assertIn(b"wire/header/srcnid-lnd-foreign", run("encode", "-", data=form).stderr)
        self.assertEqual(run("encode", "--any-lnd", "-", data=form).stdout, tcp)

    def test_bad_documents(self):
        refused = run("decode", "--json", "-", data=NOOP[:20]).stdout
        cases = [
            (b"", b"standard input:1:0: "), (b"{", b"standard input:1:"), (b"[]", b'"form"'), (b"{}", b'"form"'),
            (b'{"form": "o2ref/sg_build/input", "version": 1}', b'"form"'),
            (b'{"form": "o2ref/msg_encode/input", "version": 2}', b"json/version"),
            (b'{"form": "o2ref/msg_encode/input", "version": 1}', b"message"),
            (b'{"form": "o2ref/reject_encode/input", "version": 1, "reject": 3}', b"reject"),
            (refused, b"cli/encode-refused: message (Protocol error)\n"), (b'{"form": 1, "form": 2}', b"duplicate"), (b"\xff\x1b[2J", b":1:"),
        ]
        for data, expected in cases:
            done = run("encode", "-", data=data)
            self.assertEqual((done.returncode, done.stdout), (REFUSED, b""), data)
            self.assertEqual(done.stderr.count(b"\n"), 1, data)
            self.assertIn(expected, done.stderr)
            self.assertNotIn(b"\x1b", done.stderr)


if __name__ == "__main__":
    # The tests of captures are in a file of their own.
    from cli import pcap_cases

    pcap_cases.run = run
    sys.exit(suite.run(unittest.TestSuite([suite.of(sys.modules[__name__]), suite.of(pcap_cases)])))
