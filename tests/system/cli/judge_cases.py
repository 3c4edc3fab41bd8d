# SPDX-License-Identifier: MIT
"""Captures for the tests of the files that o2ref judge writes."""

import json
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from cli.pcap_cases import pcap, roce, send  # noqa: E402
from test_judge import AT_STATUS, AT_TYPE, FOLDER, MESSAGE, PROGRAM, PUT_DONE, PUT_REQ, ROOT, Capture, understate  # noqa: E402

IMMEDIATE, PUT_ACK, GET_REQ, GET_DONE = 0xd1, 0xd4, 0xd6, 0xd7
AT_NOB, AT_SRCNID, AT_PUT_LENGTH, AT_DESC = 8, 16, 76, 64
THERE, BACK = {"source": 1, "target": 2, "qp": 0x11}, {"source": 2, "target": 1, "qp": 0x12}
ACKED = roce(0x11, 100, extra=bytes(4), **BACK)  # answers packet 100, which shows that both ways are one connection


def judge(*words):
    return subprocess.run([PROGRAM, "judge", *map(str, words)], capture_output=True, timeout=120, check=False)


def rules():
    """[(rule, severity, sentence)] of docs/judge.md."""
    text = (ROOT / "docs" / "judge.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `([a-z]+/[a-z-]+)` \| (must|should|note) \| ([^|]+) \|", text, re.M)


def wrong_status(name="put_3977.plain.pcap"):
    """(a capture in which the first PUT_DONE reports a byte less than was written, the number of its packet)"""
    capture = Capture(name)
    return capture, understate(capture)


def crowd(nodes, noted=False):
    """
    More nodes than a report has rows.  Each says two messages to one peer: the second one of the first 256 nodes is of an
    unknown type; that of any other node is longer than what is in it, or (noted) comes after one that was lost.
    """
    packets = []
    for node in range(nodes):
        said = message(PUT_DONE)
        struct.pack_into("<I", said, AT_SRCNID, 0x0a4d1000 + node)
        wrong = said + bytes(4 * (node >= 256 and not noted))
        struct.pack_into("<I", wrong, AT_NOB, len(wrong))
        if node < 256:
            wrong[AT_TYPE] = 0x33
        where = {"source": 1, "target": 2, "qp": 0x100 + node}
        packets += [*send(bytes(said), 100, **where), *send(bytes(wrong), 102 if noted and node >= 256 else 101, **where)]
    return pcap(packets)


def lost():
    """A capture about which the judge has only a note."""
    return Capture("ping.plain.pcap").bytes(without=(6,))


class Files(unittest.TestCase):
    """Captures in a folder of their own."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)

    def put(self, name, data):
        (self.path / name).write_bytes(data)
        return self.path / name

    def several(self):
        """Five paths: a capture with a defect, one with a note, a clean one, a file that is no capture, no file."""
        return [self.put("broken.pcap", wrong_status()[0].bytes()), self.put("lost <&\">.pcap", lost()),
                FOLDER / "ping.plain.pcap", self.put("none.pcap", b"this is no capture, not even a little"),
                self.path / "absent.pcap"]

    def reports(self, files):
        """{name: report of --json} for the files that could be judged."""
        lines = judge("--json", *files).stdout.decode().splitlines()
        every = {report["file"]: report for report in map(json.loads, lines)}
        self.assertEqual(list(every), [str(path) for path in files])
        return {name: report for name, report in every.items() if "error" not in report}


def message(kind):
    """The first message of this type in a recording of a PUT."""
    recorded = Capture("put_64K_odd.plain.pcap")
    data = recorded.at(recorded.of_type(kind)[0])[MESSAGE:]
    return data[:struct.unpack_from("<I", data, AT_NOB)[0]]


def put_ack(frags):
    """A PUT_ACK with these fragments: (address, length) each."""
    ack = message(PUT_ACK)[:AT_DESC + 4] + struct.pack("<I", len(frags))
    ack += b"".join(struct.pack("<IQ", length, address) for address, length in frags)
    struct.pack_into("<I", ack, AT_NOB, len(ack))
    return ack


def write(psn, address, length):
    """An RDMA WRITE of one packet under the key of put_ack."""
    key = message(PUT_ACK)[AT_DESC:AT_DESC + 4]
    extra = struct.pack(">QII", address, int.from_bytes(key, "little"), length)
    return roce(0x0a, psn, bytes(length), extra=extra, **THERE)


def transfer(frags, writes, status):
    """A capture of a PUT into frags: its WRITEs, (address, length) each, PUT_DONE with this status, and LNet's ACK."""
    request, done = message(PUT_REQ), message(PUT_DONE)
    struct.pack_into("<I", request, AT_PUT_LENGTH, sum(length for _, length in frags))
    struct.pack_into("<i", done, AT_STATUS, status)
    packets = [*send(bytes(request), 100, **THERE), ACKED, *send(bytes(put_ack(frags)), 200, **BACK)]
    packets += [write(psn, *one) for psn, one in enumerate(writes, 101)]
    packets += send(bytes(done), 101 + len(writes), **THERE)
    return pcap(packets + send(bytes(message(IMMEDIATE)), 201, **BACK))
