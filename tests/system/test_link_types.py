#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check that results do not depend on the link type: recordings, some with a defect, are converted to every supported link
type, tag, address family and path MTU; `o2ref decode --pcap` and `o2ref judge` must give the same results.

usage: test_link_types.py [O2REF]   the program; default $O2REF_CLI, else build/gcc/o2ref.  Last line "N passed, N failed".
"""

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "system"), str(ROOT / "tests" / "lib")]
from cli.carriers import CARRIERS, ETHERNET, carried, file_of, split, transport_of  # noqa: E402
from cli.pcap_cases import packets_of  # noqa: E402
import suite  # noqa: E402

FOLDER = ROOT / "corpus" / "captures" / "pcap"
PROGRAM = suite.program()
NAMES = sorted(FOLDER.glob("*.pcap"))
MTUS = (256, 512, 1024, 2048, 4096)
MESSAGE_AT, AT_TYPE, AT_STATUS = 42 + 12, 6, 56
PUT_DONE = 0xD5


def run(data, *words):
    done = subprocess.run([PROGRAM, *words, "--json", "-"], input=data, capture_output=True, timeout=60, check=False)
    if done.returncode not in (0, 1) or (done.returncode == 1 and done.stderr):
        raise AssertionError(f"{words}: status {done.returncode}: {done.stderr.decode()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def rows(data, without=("src", "dst", "time_ns")):
    """The output of decode, with the ends renamed to 0, 1, ... in the order in which they appear."""
    ends, found = {}, []
    for event in run(data, "decode", "--pcap"):
        kept = {key: value for key, value in event.items() if key not in without}
        kept["way"] = [ends.setdefault(event[end], len(ends)) for end in ("src", "dst")]
        found.append(kept)
    return found


def report(data, without=()):
    (found,) = run(data, "judge")
    for row in found["findings"]:
        for key in ("packet", "earlier_packet"):
            if "packet" in without:
                row.pop(key, None)
    if "packet" in without:
        del found["seen"]["packets"]
    return found


def wrong(packets):
    """The recording with the status of the first PUT_DONE reduced by one; None if there is no PUT_DONE."""
    for number, (time_ns, frame) in enumerate(packets):
        if transport_of(frame) and len(frame) > MESSAGE_AT + AT_STATUS + 4 and frame[42] == 4 and frame[
                MESSAGE_AT + AT_TYPE] == PUT_DONE:
            changed = bytearray(frame)
            status = struct.unpack_from("<i", frame, MESSAGE_AT + AT_STATUS)[0]
            struct.pack_into("<i", changed, MESSAGE_AT + AT_STATUS, status - 1)
            return packets[:number] + [(time_ns, bytes(changed))] + packets[number + 1:]
    return None


def recordings():
    """(name, packets) of each recording, unchanged and with a defect."""
    for path in NAMES:
        packets = list(packets_of(path.read_bytes()))
        yield path.name, packets
        changed = None if "cksum" in path.name else wrong(packets)
        if changed is not None:
            yield path.name + ", changed", changed


class LinkTypes(unittest.TestCase):
    def test_nothing_depends_on_the_carrier(self):
        defects = 0
        for name, packets in recordings():
            original = file_of(ETHERNET, packets)
            expected, verdict = rows(original), report(original)
            self.assertGreater(len(expected), 0)
            defects += verdict["must"]
            for carrier in CARRIERS:
                with self.subTest(f"{name} as {carrier}"):
                    data = file_of(*carried(packets, carrier))
                    self.assertEqual(rows(data), expected)
                    self.assertEqual(report(data), verdict)
        self.assertGreater(defects, 2)

    def test_nothing_depends_on_the_path_mtu(self):
        apart = ("src", "dst", "time_ns", "frame", "psn", "packets")
        for name, packets in recordings():
            original = file_of(ETHERNET, packets)
            expected, verdict = rows(original, apart), report(original, ("packet",))
            for mtu in MTUS:
                with self.subTest(f"{name} with {mtu}"):
                    pieces = split(packets, mtu)
                    self.assertEqual(rows(file_of(ETHERNET, pieces), apart), expected)
                    self.assertEqual(report(file_of(ETHERNET, pieces), ("packet",)), verdict)
                    self.assertEqual(report(file_of(*carried(pieces, "erf")), ("packet",)), verdict)
            if "64K" in name:
                self.assertGreater(len(split(packets, 256)), 2 * 256)

    def test_another_program_sees_the_same(self):
        """tshark confirms that the frames made here are what they are meant to be."""
        tshark = shutil.which("tshark")
        reason = os.environ.get("O2REF_NO_TSHARK") or (None if tshark else "no tshark")
        if reason:
            print(f"skipped: test_another_program_sees_the_same: {reason}")
            return
        packets = list(packets_of((FOLDER / "ping.plain.pcap").read_bytes()))
        fields = [word for name in ("opcode", "destqp", "psn") for word in ("-e", f"infiniband.bth.{name}")]

        def seen(data):
            with tempfile.NamedTemporaryFile(suffix=".pcap") as file:
                file.write(data)
                file.flush()
                done = subprocess.run([tshark, "-r", file.name, "-T", "fields", *fields], capture_output=True, timeout=60,
                                      check=False)
            return None if b"unknown or unsupported" in done.stderr else [line for line in done.stdout.split(b"\n")
                                                                          if line.strip()]

        expected = seen(file_of(ETHERNET, packets))
        self.assertEqual(len(expected), sum(transport_of(frame) is not None for _, frame in packets))
        for carrier, (link, _, _) in CARRIERS.items():
            found = seen(file_of(link, [packet for packet in carried(packets, carrier)[1] if packet[1]]))
            if found is None:
                print(f"{carrier}: this tshark does not read the link type {link}", file=sys.stderr)
            else:
                self.assertEqual(found, expected, carrier)

    def test_ends_have_names(self):
        packets = list(packets_of((FOLDER / "ping.plain.pcap").read_bytes()))
        for carrier, ends in (("sll2", {"10.77.0.1", "10.77.0.2"}), ("ipv6", {"fe80::1", "fe80::2"}),
                              ("erf-extended", {"lid 1", "lid 2"}), ("rocev1", {"fe80::1", "fe80::2"})):
            found = run(file_of(*carried(packets, carrier)), "decode", "--pcap")
            self.assertEqual({event[end] for event in found for end in ("src", "dst")}, ends)

    def test_a_link_type_that_is_not_read(self):
        done = subprocess.run([PROGRAM, "judge", "-"], input=file_of(9, []), capture_output=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count(b"\n")), (1, b"", 1))
        # The text in the first parentheses is libpcap's.
        self.assertRegex(done.stderr, rb"cli/pcap/link-type: link_type is 9 \([^)]+\), expected 1 \(Ethernet\), 113 or 276")


class Snapshot(unittest.TestCase):
    """Captures that hold only the beginning of each packet."""

    def test_fewer_verdicts_and_never_wrong_ones(self):
        for name in ("ping.plain", "put_3977.plain", "get_3977.plain", "put_64K_odd.plain", "race.plain"):
            packets = list(packets_of((FOLDER / f"{name}.pcap").read_bytes()))
            for carrier in ("ethernet", "ipv6", "erf-extended", "infiniband", "sll"):
                link, frames = carried(packets, carrier)
                for snapshot in range(16, 360, 24):
                    with self.subTest(f"{name} as {carrier}, {snapshot} bytes"):
                        found = report(file_of(link, frames, snapshot))
                        self.assertEqual((found["must"], found["should"]), (0, 0), found["findings"])
                        # A frame that is cut inside its ERF header might belong to another protocol, so it is not counted.
                        self.assertLessEqual(found["seen"]["cut"], sum(len(frame) > snapshot for _, frame in frames))
                        self.assertGreaterEqual(found["seen"]["cut"], sum(len(frame) > snapshot + 2 + 7 and frame != CARRIERS[
                            carrier][2] for _, frame in frames))

    def test_messages_are_enough(self):
        """256 bytes hold a transfer's messages and the headers of its WRITEs, so the verdict is the same."""
        for name in ("put_3977.plain", "put_64K_odd.plain", "get_3977.plain", "put_trunc.plain"):
            packets = list(packets_of((FOLDER / f"{name}.pcap").read_bytes()))
            changed = wrong(packets)
            for given in filter(None, (packets, changed)):
                whole, part = report(file_of(ETHERNET, given)), report(file_of(ETHERNET, given, 256))
                cut = part["seen"].pop("cut")
                self.assertEqual(whole["seen"].pop("cut"), 0)
                self.assertEqual(part, whole)
                self.assertGreater(cut, 1)
            if changed:
                self.assertEqual([row["rule"] for row in part["findings"]], ["transfer/bytes-written"])

    def test_it_is_said(self):
        packets = list(packets_of((FOLDER / "put_3977.plain.pcap").read_bytes()))
        for words in (("decode", "--pcap"), ("judge",)):
            for snapshot, said in ((256, True), (65535, False)):
                done = subprocess.run([PROGRAM, *words, "-"], input=file_of(ETHERNET, packets, snapshot),
                                      capture_output=True, timeout=60, check=False)
                self.assertEqual(b"2 packets were not captured as a whole" in done.stdout, said, done.stdout)


if __name__ == "__main__":
    sys.exit(suite.run(suite.of(sys.modules[__name__])))
