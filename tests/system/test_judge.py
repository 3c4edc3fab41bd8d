#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test o2ref judge: recordings of a kernel peer keep every rule, and a single change in them is named, with its packet.

usage: test_judge.py [O2REF]   the program; default $O2REF_CLI, else build/gcc/o2ref.  Last line "N passed, N failed".
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "system"), str(ROOT / "tests" / "lib")]
from cli.carriers import ETHERNET, file_of, split  # noqa: E402
from cli.pcap_cases import packets_of, pcapng  # noqa: E402
import suite  # noqa: E402

FOLDER = ROOT / "corpus" / "captures" / "pcap"
SCHEMA = ROOT / "docs" / "judge.schema.json"
PROGRAM = suite.program()
HELD, BROKEN, USAGE = 0, 1, 2

# Offsets of the parts of a RoCEv2 packet over IPv4, and of fields in a message.
BTH = 14 + 20 + 8
MESSAGE = BTH + 12
AT_TYPE, AT_CREDITS, AT_SRCNID, AT_SRCSTAMP, AT_DSTSTAMP, AT_STATUS = 6, 7, 16, 24, 40, 56
PUT_REQ, PUT_DONE = 0xd2, 0xd5
ICRC_BYTES, REJECT_PRIVATE_BYTES = 4, 148  # both at the end of a reject's packet
# The judge's findings about recordings; docs/judge.md, "The recordings", explains them.
EXPLAINED = {"early.plain.pcap": [("connect/refused", "note", 2, 1)]}


def judge(data, *options):
    return suite.ended([PROGRAM, "judge", *options, "-"], (HELD, BROKEN, USAGE), input=data, timeout=60)


def findings(data):
    done = judge(data, "--json")
    report = json.loads(done.stdout)
    return done.returncode, report, [(row["rule"], row["severity"], row["packet"], row["times"]) for row in report["findings"]]


def peak(*words):
    """(exit status, peak resident memory in KiB) of a command."""
    # Keep the address sanitizer's quarantine of freed memory small: it does not belong to the command.
    sanitizer = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "quarantine_size_mb=1")))
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, env={**os.environ, "ASAN_OPTIONS": sanitizer}) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage.ru_maxrss


class Capture:
    """A classic capture file, packet by packet."""

    def __init__(self, name):
        data = (FOLDER / name).read_bytes()
        self.head, self.packets, at = data[:24], [], 24
        while at < len(data):
            length = struct.unpack_from("<I", data, at + 8)[0]
            self.packets.append([data[at:at + 16], bytearray(data[at + 16:at + 16 + length])])
            at += 16 + length

    def bytes(self, without=()):
        kept = [head + bytes(body) for number, (head, body) in enumerate(self.packets, 1) if number not in without]
        return self.head + b"".join(kept)

    def of_type(self, kind):
        """Numbers of the packets that contain a message of this type."""
        return [number for number, (_, body) in enumerate(self.packets, 1)
                if len(body) > MESSAGE + AT_STATUS and body[BTH] in (4, 0x0a) and bytes(body[MESSAGE:MESSAGE + 4]) == b"\x91\x1b\xe9\x0b"
                and body[MESSAGE + AT_TYPE] == kind]

    def at(self, number):
        return self.packets[number - 1][1]


class Recordings(unittest.TestCase):
    def test_a_kernel_keeps_every_rule(self):
        names = sorted(FOLDER.glob("*.pcap"))
        self.assertGreater(len(names), 10)
        for path in names:
            with self.subTest(path.name):
                status, report, found = findings(path.read_bytes())
                self.assertEqual((status, found), (HELD, EXPLAINED.get(path.name, [])))
                self.assertGreater(report["seen"]["messages"], 0)
                self.assertEqual(report["seen"]["one_way"], 0)

    def test_pcapng_is_the_same(self):
        data = (FOLDER / "put_3977.plain.pcap").read_bytes()
        self.assertEqual(findings(pcapng(packets_of(data))), findings(data))

    def test_packets_without_a_time(self):
        """Without times no duration is known."""
        packets = list(packets_of((FOLDER / "put_3977.plain.pcap").read_bytes()))
        for timeless in (lambda number: True, lambda number: number % 2 == 0, lambda number: number > 5):
            data = pcapng((None if timeless(number) else time_ns, packet) for number, (time_ns, packet) in enumerate(packets))
            status, report, found = findings(data)
            self.assertEqual((status, found, report["seen"]["messages"]), (HELD, [], 8))

    def test_several_files(self):
        names = [FOLDER / "ping.plain.pcap", FOLDER / "race.plain.pcap"]
        done = subprocess.run([PROGRAM, "judge", *names], capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, HELD)
        self.assertEqual(done.stdout.decode().count("0 must, 0 should, 0 notes"), 2)


def understate(capture):
    """Change the first PUT_DONE to report one byte less than was written; returns its packet number."""
    number = capture.of_type(PUT_DONE)[0]
    struct.pack_into("<i", capture.at(number), MESSAGE + AT_STATUS, 3976)
    return number


class OneThingChanged(unittest.TestCase):
    """A change to a recording without checksums, the rule that must name it, and the packet."""

    def changed(self, change, name):
        capture = Capture(name)
        number = change(capture)
        status, _, found = findings(capture.bytes())
        return number, status, found

    def names(self, change, rule, recording="put_3977.plain.pcap"):
        """Exactly that rule is broken, once, by the packet whose number the change returns."""
        number, status, found = self.changed(change, recording)
        self.assertEqual((status, found), (BROKEN, [(rule, "must", number, 1)]))

    def test_a_status_that_is_not_what_was_written(self):
        self.names(understate, "transfer/bytes-written")

    def test_another_incarnation(self):
        def change(capture):
            number = capture.of_type(PUT_DONE)[0]
            capture.at(number)[MESSAGE + AT_SRCSTAMP] ^= 1
            return number
        self.names(change, "message/stamps")

    def test_a_header_of_the_connection_manager_that_does_not_exist(self):
        """A request to port 987 in another version than 0 of that header, so that no CONNREQ can be found behind it."""
        def change(capture):
            body = capture.at(3)
            body[bytes(body).index(b"\x91\x1b\xe9\x0b") - 36] = 0x10
            return 3
        self.names(change, "message/wire", "ping.plain.pcap")

    def test_credits_from_nowhere(self):
        def change(capture):
            number = capture.of_type(0xd1)[0]  # an IMMEDIATE on a connection that is seen from its start
            capture.at(number)[MESSAGE + AT_CREDITS] = 200
            return number
        self.names(change, "credits/over-owed", "ping.plain.pcap")

    def test_an_answer_that_nobody_asked_for(self):
        """Two GETs find no match; the first answer gets a cookie that no GET has."""
        def change(capture):
            number = capture.of_type(0xd7)[0]
            capture.at(number)[MESSAGE + 48] ^= 0x40
            return number
        self.names(change, "transfer/unasked", "get_nomatch_big.plain.pcap")

    def test_a_reject_without_a_record(self):
        """A kernel rejects with all zeros if the listener has gone; any other data comes from the node itself."""
        def record(capture):
            body = capture.at(2)
            return memoryview(body)[-ICRC_BYTES - REJECT_PRIVATE_BYTES:-ICRC_BYTES]

        def blank(capture):
            record(capture)[:] = bytes(REJECT_PRIVATE_BYTES)

        def almost(capture):
            blank(capture)
            record(capture)[-1] = 1
        self.assertEqual(self.changed(blank, "early.plain.pcap")[1:], (HELD, []))
        self.assertEqual(self.changed(almost, "early.plain.pcap")[1:], (BROKEN, [("message/wire", "must", 2, 1)]))

    def test_the_text_says_where_and_what(self):
        capture = Capture("put_3977.plain.pcap")
        number = understate(capture)
        text = judge(capture.bytes()).stdout.decode()
        self.assertRegex(text, rf"must +transfer/bytes-written +10\.77\.0\.1@o2ib \(to 10\.77\.0\.2@o2ib\): packet {number}, "
                               r"about packet \d+\n +bytes written is 3977, expected 3976\n")


def stream(number, count, offset=0, seed=1):
    """Bytes of the pattern of `o2ref put` (docs/peer.md, "Verifying")."""
    mask, step = (1 << 64) - 1, 0x9E3779B97F4A7C15

    def mix(word):
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            word = (word ^ word >> shift) * factor & mask
        return word

    key = mix(mix((seed + step) & mask) + (number ^ mask) * step & mask)
    words = range(offset // 8, (offset + count + 7) // 8 + 1)
    data = b"".join(mix(key + word * step & mask).to_bytes(8, "little") for word in words)
    return data[offset % 8:offset % 8 + count]


def payload_capture(change, mtu):
    """The recording of a PUT with the bytes of `o2ref put`, changed, in packets of that size."""
    at_hdr_data, reth, size = MESSAGE + 104, 16, Payloads.SIZE
    capture = Capture("put_64K_odd.plain.pcap")
    numbers = capture.of_type(PUT_REQ)
    payload = change(bytearray(stream(9, size)))
    at, out = None, []
    for number, (_, body) in enumerate(capture.packets, 1):
        if number in numbers:
            struct.pack_into("<Q", body, at_hdr_data, 9)
        if body[BTH] in (6, 7, 8):
            first = body[BTH] == 6
            at, begin = 0 if first else at, BTH + 12 + (reth if first else 0)
            count = len(body) - begin - 4
            body[begin:begin + count] = payload[at:at + count]
            at += count
        out.append((0, bytes(body)))
    return file_of(ETHERNET, split(out, mtu))


class Payloads(unittest.TestCase):
    """The recording of a PUT with the bytes of `o2ref put`, in packets of any size."""

    SIZE = 65536

    def judged(self, change, mtu):
        return findings(payload_capture(change, mtu))

    def test_right_bytes(self):
        for mtu in (256, 1024, 4096):
            status, report, found = self.judged(lambda data: data, mtu)
            self.assertEqual((status, found, report["seen"]["write_bytes"]), (HELD, [], 2 * self.SIZE))

    def test_one_byte(self):
        for at in (0, 17, 4095, 40000, self.SIZE - 1):
            def change(data, at=at):
                data[at] ^= 0x10
                return data
            for mtu in (256, 4096):
                status, report, found = self.judged(change, mtu)
                self.assertEqual((status, [(rule, severity, times) for rule, severity, _, times in found]),
                                 (BROKEN, [("payload/put", "must", 2)]))
                row = report["findings"][0]
                self.assertEqual((row["field"], row["index"], row["limit"] ^ 0x10), ("payload[]", at, row["value"]))

    def test_where_they_come_from(self):
        def change(data):
            data[8192:12288] = data[4096:8192]
            return data
        _, report, _ = self.judged(change, 1024)
        row = report["findings"][0]
        self.assertEqual((row["field"], row["index"], row["value"], row["limit"]),
                         ("place in its stream of payload[]", 8192, 4096, 8192))

    def test_other_bytes_are_nobodys(self):
        for change in (lambda data: bytes(len(data)), lambda data: stream(9, len(data), seed=2), lambda data: stream(8, len(data))):
            status, _, found = self.judged(change, 1024)
            self.assertEqual((status, found), (HELD, []))


class SeenInPart(unittest.TestCase):
    def test_a_packet_that_was_not_captured(self):
        """If any single packet was not captured, the judge prints at most a note."""
        for name in ("ping.plain.pcap", "put_3977.plain.pcap", "put_64K_odd.plain.pcap", "get_nomatch_big.plain.pcap"):
            capture = Capture(name)
            for number in range(1, len(capture.packets) + 1):
                with self.subTest(f"{name} without {number}"):
                    status, report, found = findings(capture.bytes(without=(number,)))
                    self.assertEqual((status, report["must"], report["should"]), (HELD, 0, 0), found)

    def test_a_repeated_packet(self):
        """The repetition is reported with its delay, and the packet's content is judged only once."""
        capture = Capture("put_3977.plain.pcap")
        number = capture.of_type(PUT_DONE)[0]
        self.assertEqual(capture.head[:4], b"\xd4\xc3\xb2\xa1")  # times have microseconds
        head, body = capture.packets[number - 1]
        second, micro, *lengths = struct.unpack("<4I", head)
        later = divmod(second * 10**6 + micro + 1500, 10**6)
        capture.packets.insert(number, [struct.pack("<4I", *later, *lengths), body])
        status, report, found = findings(capture.bytes())
        self.assertEqual((status, found, report["seen"]["messages"]), (HELD, [], 8))
        self.assertEqual((report["seen"]["repeated"], report["seen"]["retry_ns"]), (1, 1500000))
        self.assertIn("\n1 packet was repeated; retries took up to 1.500 ms\n", judge(capture.bytes()).stdout.decode())
        capture = Capture("put_3977.plain.pcap")
        self.assertEqual(findings(capture.bytes())[1]["seen"]["repeated"], 0)
        self.assertNotIn("repeated", judge(capture.bytes()).stdout.decode())

    def test_from_some_packet_on(self):
        for name in ("ping.plain.pcap", "put_64K.cksum.pcap", "race.plain.pcap"):
            capture = Capture(name)
            for number in range(1, len(capture.packets) + 1):
                with self.subTest(f"{name} from {number} on"):
                    status, report, found = findings(capture.bytes(without=range(1, number)))
                    self.assertEqual((status, report["must"], report["should"]), (HELD, 0, 0), found)
                    self.assertLessEqual(report["seen"]["one_way"], report["seen"]["connections"])

    def test_another_life_of_the_queue_pairs(self):
        """Its handshake was not captured, and its sequence numbers begin anywhere: no rule counts as broken."""
        for shift in (-200000, -70000, 500, 300000):
            capture, again = Capture("put_3977.plain.pcap"), Capture("put_3977.plain.pcap")
            for packet in again.packets:
                head, body = packet
                packet[0] = struct.pack("<I", struct.unpack_from("<I", head)[0] + 100) + head[4:]
                psn = int.from_bytes(body[BTH + 9:BTH + 12], "big") + shift
                body[BTH + 9:BTH + 12] = (psn % (1 << 24)).to_bytes(3, "big")
                if body[MESSAGE:MESSAGE + 4] == b"\x91\x1b\xe9\x0b":
                    for at in (MESSAGE + AT_SRCSTAMP, MESSAGE + AT_DSTSTAMP):
                        struct.pack_into("<Q", body, at, struct.unpack_from("<Q", body, at)[0] + 1000)
            capture.packets += again.packets
            status, report, found = findings(capture.bytes())
            self.assertEqual((status, {row[:2] for row in found}), (HELD, {("transport/lost", "note")}), shift)
            self.assertEqual(report["seen"]["messages"], 16)

    def test_one_way(self):
        capture = Capture("put_3977.plain.pcap")
        source = bytes(capture.at(1)[26:30])
        other = [number for number, (_, body) in enumerate(capture.packets, 1) if bytes(body[26:30]) != source]
        status, report, found = findings(capture.bytes(without=other))
        self.assertEqual((status, found, report["seen"]["one_way"]), (HELD, [], 1))

    def test_a_capture_that_is_cut(self):
        data = (FOLDER / "ping.plain.pcap").read_bytes()[:-5]
        done = judge(data)
        self.assertEqual(done.returncode, BROKEN)
        self.assertIn(b"truncated", done.stderr)
        self.assertIn(b"0 must", done.stdout)
        report = json.loads(judge(data, "--json").stdout)
        self.assertGreater(report["seen"]["packets"], 0)
        self.assertIn(report["error"].encode(), done.stderr)
        self.assertIn("truncated", report["error"])

    def test_what_is_no_capture(self):
        report = json.loads(judge(b"this is no capture, not even a little", "--json").stdout)
        self.assertEqual((report["seen"]["packets"], report["findings"], report["error"]), (0, [], "unknown file format"))
        report = json.loads(judge(b"", "--json", "/nowhere").stdout.splitlines()[0])
        self.assertEqual((report["file"], report["error"]), ("/nowhere", "cannot be opened"))


class OtherProtocols(unittest.TestCase):
    """A recording whose messages begin with another magic, and whose request goes to another port."""

    MAGIC, PORT = b"\x91\x1b\xe9\x0b", b"\x00\x00\x00\x00\x01\x06\x03\xdb"

    def judged(self, magic, port):
        capture = Capture("ping.plain.pcap")
        for _, body in capture.packets:
            body[:] = body.replace(self.MAGIC, magic).replace(self.PORT, port)
        return capture.bytes()

    def test_nothing_is_said_of_them(self):
        data = self.judged(b"\x02\x40\x00\x00", b"\x00\x00\x00\x00\x01\x06\x11\x44")
        status, report, found = findings(data)
        seen = report["seen"]
        self.assertEqual((status, found, seen["other_protocols"], seen["connections"], seen["messages"]), (HELD, [], 1, 0, 0))
        self.assertIn("\n1 connection of other protocols: not judged\n", judge(data).stdout.decode())

    def test_another_port_or_another_beginning_alone(self):
        status, report, found = findings(self.judged(self.MAGIC, b"\x00\x00\x00\x00\x01\x06\x11\x44"))
        self.assertEqual((status, found, report["seen"]["other_protocols"], report["seen"]["connections"]), (HELD, [], 0, 1))
        status, report, found = findings(self.judged(b"\x02\x40\x00\x00", self.PORT))
        self.assertEqual((status, {rule for rule, *_ in found}, report["seen"]["other_protocols"]), (BROKEN, {"message/wire"}, 0))


class CommandLine(unittest.TestCase):
    def test_usage(self):
        for arguments in ([], ["--timeout", "0", "-"], ["--no-such"], ["/no/such/file"], ["--events", "10", "-"],
                          ["--events", "1000", "--junit", "/dev/null", "-"], ["--seconds", "1", "-"], ["--packets", "1", "-"]):
            done = subprocess.run([PROGRAM, "judge", *arguments], capture_output=True, timeout=60, check=False)
            self.assertEqual(done.returncode, USAGE, arguments)
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
            for option, company in (("--events", b"--html"), ("--seconds", b"--live"), ("--packets", b"--live")):
                if option in arguments:
                    self.assertIn(option.encode() + b" is for " + company, done.stderr)

    def test_no_capture(self):
        done = judge(b"not a capture, not at all, not even a little")
        self.assertEqual((done.returncode, done.stdout), (BROKEN, b""))

    def test_json_is_what_the_schema_says(self):
        schema = json.loads(SCHEMA.read_text())
        capture = Capture("put_3977.plain.pcap")
        capture.at(capture.of_type(PUT_DONE)[0])[MESSAGE + AT_SRCSTAMP] ^= 1
        for data in (capture.bytes(), (FOLDER / "ping.plain.pcap").read_bytes()):
            report = json.loads(judge(data, "--json").stdout)
            self.assertEqual(sorted(report), sorted(schema["required"]))
            for row in report["findings"]:
                properties = schema["properties"]["findings"]["items"]["properties"]
                self.assertLessEqual(set(row), set(properties))
                self.assertLessEqual(set(schema["properties"]["findings"]["items"]["required"]), set(row))
                self.assertIn(row["severity"], properties["severity"]["enum"])
            self.assertEqual(sorted(report["seen"]), sorted(schema["properties"]["seen"]["required"]))

    def test_a_bounded_memory(self):
        """Resident memory does not grow with the number of conversations, one after the other."""
        capture = Capture("ping.plain.pcap")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "long.pcap"
            with open(path, "wb") as file:
                file.write(capture.head)
                for _ in range(20000):
                    file.write(b"".join(head + bytes(body) for head, body in capture.packets))
            status, kib = peak(PROGRAM, "judge", str(path))
        self.assertEqual(status, HELD)
        self.assertLess(kib, 64 * 1024)


if __name__ == "__main__":
    sys.exit(suite.run(suite.of(sys.modules[__name__])))
