# SPDX-License-Identifier: MIT
"""Cases of test_cli.py: `o2ref decode --pcap` on recorded captures and on captures that are made here."""

import json
import os
import struct
import unittest
from pathlib import Path

CAPTURES = Path(__file__).resolve().parents[3] / "corpus" / "captures"
FOLDER = CAPTURES / "pcap"

run = None  # set by test_cli.py
# Captures are cut or damaged only at every SPARSE-th place, for a build whose programs start slowly.
SPARSE = int(os.environ.get("O2REF_SPARSE", "1"))

# What happens in each recorded capture: direction and signature().
GREET = ["a>b IMMEDIATE GET", "b>a IMMEDIATE REPLY"]
GREETED = ["b>a IMMEDIATE GET", "a>b IMMEDIATE REPLY"]
CONNECT = ["a>b CM REQ CONNREQ 8 257", "b>a CM REP CONNACK 8 257", "a>b CM RTU"]
CONNECTED = ["b>a CM REQ CONNREQ 8 257", "a>b CM REP CONNACK 8 257", "b>a CM RTU"]


def put(size, sink=None):
    moved = sink or size
    return [f"a>b PUT_REQ PUT {size}", f"b>a PUT_ACK {moved}", f"a>b WRITE {moved}", f"a>b PUT_DONE {moved}",
            f"b>a IMMEDIATE ACK {moved}"]


SMALL_PUT = ["a>b IMMEDIATE PUT 100", "b>a IMMEDIATE ACK 100"]
NO_GET = ["a>b GET_REQ GET 8192", "b>a GET_DONE -61"]
BIG_GET = ["a>b GET_REQ GET 3977", "b>a WRITE 3977", "b>a GET_DONE 3977"]
EXPECTED = {
    "disc.plain": GREET + ["a>b IMMEDIATE PUT 48", "b>a IMMEDIATE ACK 48", "b>a IMMEDIATE PUT 48",
                           "a>b IMMEDIATE ACK 48"] + GREET,
    "early.plain": ["a>b CM REQ CONNREQ 32 257", "b>a CM REJ 7 queue-depth"] + CONNECT + GREET,
    "get_3977.plain": 2 * BIG_GET,
    "get_nomatch_big.plain": ["a>b CM DREQ", "b>a CM DREP"] + CONNECT + 2 * NO_GET,
    "get_small.plain": 2 * GREET,
    "ping.plain": CONNECT + 3 * GREET + GREETED,
    "put_3977.plain": 2 * put(3977),
    "put_64K.cksum": 2 * put(65536),
    "put_64K_odd.plain": 2 * put(65536),
    "put_nomatch.plain": 2 * ["a>b PUT_REQ PUT 8192", "b>a PUT_NAK 0"],
    "put_small_ack.plain": CONNECT + GREET + 2 * SMALL_PUT,
    "put_trunc.plain": 2 * put(65536, 8192),
    # Two requests cross; a's is refused, b's is accepted.  The connections overlap, and so do their messages.
    "race.plain": ["a>b CM DREQ"] + CONNECTED + GREETED + ["b>a CM DREQ", "a>b CM DREP", "b>a CM REQ CONNREQ 8 257",
                   "a>b CM REQ CONNREQ 8 257", "a>b CM REP CONNACK 8 257", "b>a CM REJ 1 connection-race",
                   "b>a CM RTU", "b>a IMMEDIATE GET", "a>b IMMEDIATE GET", "b>a IMMEDIATE REPLY", "a>b CM DREQ",
                   "a>b IMMEDIATE REPLY"],
}


def signature(event):
    """What an event is, in a few words, from its JSON form."""
    direction = {"10.77.0.1": "a", "10.77.0.2": "b"}
    words = [direction[event["src"]] + ">" + direction[event["dst"]]]
    message = event.get("message", {})
    body, kind = message.get("body", {}), message.get("ibm_type")
    header = body.get("hdr", {})
    if event["what"] == "CM":
        words += ["CM", event["cm"]]
        if kind:
            words += [kind, body["ibcp_queue_depth"], body["ibcp_max_frags"]]
        if "reject" in event:
            words += [event["reject"]["ibr_why"], event["reject"]["why"]]
    elif event["what"] == "WRITE":
        assert event["bytes"] == event["announced_bytes"]
        words += ["WRITE", event["bytes"]]
    elif kind == "IMMEDIATE":
        words += [kind, header["type"]]
        words += {"PUT": [header["payload_length"]], "ACK": [header.get("mlength")]}.get(header["type"], [])
    elif kind == "PUT_REQ":
        words += [kind, "PUT", header["payload_length"]]
    elif kind == "PUT_ACK":
        words += [kind, sum(fragment["rf_nob"] for fragment in body["ibpam_rd"]["rd_frags"])]
    elif kind == "GET_REQ":
        words += [kind, "GET", header["sink_length"]]
    elif kind in ("PUT_DONE", "PUT_NAK", "GET_DONE"):
        words += [kind, body["ibcm_status"]]
    else:
        words += [event["what"], event.get("note", "")]
    return " ".join(map(str, words))


def events(data, *options):
    """(exit status, events, stderr) of --pcap --json."""
    done = run("decode", "--pcap", "--json", *options, "-", data=data)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


def text(data, *options):
    done = run("decode", "--pcap", *options, "-", data=data)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


# --- captures made here -----------------------------------------------------------------------------------------


def pcap(packets, order="<", nanoseconds=False, link=1, version=2, magic=None):
    magic = magic or (0xA1B23C4D if nanoseconds else 0xA1B2C3D4)
    data = struct.pack(order + "IHHiIII", magic, version, 4, 0, 0, 65535, link)
    for number, packet in enumerate(packets):
        data += struct.pack(order + "IIII", 1000, 5 * number, len(packet), len(packet)) + packet
    return data


def pcapng(packets, order="<", nanoseconds=False, link=1, interfaces=1):
    """A pcapng file.  packets: (nanoseconds since 1970, packet) each; None: a simple packet block, without a time."""
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack(order + "II", kind, len(body) + 12) + body + struct.pack(order + "I", len(body) + 12)

    data = block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    resolution = struct.pack(order + "HHB3xI", 9, 1, 9, 0) if nanoseconds else b""
    for number in range(interfaces):
        data += block(1, struct.pack(order + "HHI", link + 9 * number, 0, 65535) + resolution)
    for time_ns, packet in packets:
        if time_ns is None:
            data += block(3, struct.pack(order + "I", len(packet)) + packet)
            continue
        time = time_ns // (1 if nanoseconds else 1000)
        data += block(6, struct.pack(order + "IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(packet), len(packet)) + packet)
    return data


def packets_of(data):
    """(nanoseconds since 1970, packet) each, of a capture in pcap format as the recorded ones are."""
    at, scale = 24, {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}[struct.unpack_from("<I", data)[0]]
    while at < len(data):
        seconds, fraction, length, _ = struct.unpack_from("<IIII", data, at)
        yield seconds * 10**9 + fraction * scale, data[at + 16:at + 16 + length]
        at += 16 + length


def udp(payload, source=1, target=2, version=4, vlan=False, port=4791):
    datagram = struct.pack(">HHHH", 50000, port, len(payload) + 8, 0) + payload
    tag = struct.pack(">HH", 0x8100, 7) if vlan else b""
    if version == 6:
        address = bytes.fromhex("fe80" + 28 * "0")
        head = struct.pack(">IHBB", 6 << 28, len(datagram), 17, 64) + address[:15] + bytes([source])
        return bytes(12) + tag + b"\x86\xdd" + head + address[:15] + bytes([target]) + datagram
    head = struct.pack(">BBHHHBBH4B4B", 0x45, 0, 20 + len(datagram), 1, 0x4000, 64, 17, 0, 10, 77, 0, source, 10, 77, 0,
                       target)
    return bytes(12) + tag + b"\x08\x00" + head + datagram


def roce(opcode, psn, payload=b"", qp=0x11, extra=b"", **where):
    pad = -len(payload) % 4
    bth = struct.pack(">BBHII", opcode, pad << 4, 0xFFFF, qp, psn)
    return udp(bth + extra + payload + bytes(pad) + bytes(4), **where)


def send(message, psn, mtu=4096, **where):
    """The packets of one SEND."""
    pieces = [message[i:i + mtu] for i in range(0, len(message), mtu)]
    if len(pieces) == 1:
        return [roce(4, psn, message, **where)]
    codes = [0] + [1] * (len(pieces) - 2) + [2]
    return [roce(code, psn + i, piece, **where) for i, (code, piece) in enumerate(zip(codes, pieces))]


def capture(name):
    return next(CAPTURES.glob(name)).read_bytes()


class Recorded(unittest.TestCase):
    """Captures of real peers."""

    def test_expected_sequences(self):
        self.assertEqual(sorted(EXPECTED), sorted(path.name[:-5] for path in FOLDER.glob("*.pcap")))
        for name, expected in EXPECTED.items():
            status, found, stderr = events((FOLDER / f"{name}.pcap").read_bytes())
            self.assertEqual((status, stderr), (0, ""), name)
            self.assertEqual([signature(event) for event in found], expected, name)
            self.assertTrue(all(event["form"] == "o2ref/pcap_event/output" for event in found))

    def test_lines(self):
        status, out, _ = text((FOLDER / "put_64K_odd.plain.pcap").read_bytes())
        lines = out.splitlines()
        self.assertEqual(status, 0)
        self.assertRegex(lines[0], r"^ +1 +0\.000000  10\.77\.0\.1 -> 10\.77\.0\.2 qp 0x11  SEND 128 PUT_REQ cookie 0x11 "
                                   r"PUT 65536 bytes portal 60 match 0x1234 credits 1$")
        self.assertRegex(lines[2], r"WRITE 65536 bytes rkey 0x877 va 0xff31b471056c3005 \(16 packets\)$")
        self.assertRegex(lines[-1], r"^50 packets: 8 SENDs, 2 WRITEs \(131072 bytes\), .* 10 ACKs, .* 0 refused$")
        out = text((FOLDER / "early.plain.pcap").read_bytes())[1]
        self.assertRegex(out, r"CM REQ service 0x10603db from qp 0x19 CONNREQ depth 32 frags 257 size 4096 ")
        self.assertRegex(out, r"CM REJ reason 28 \(consumer\) 7 queue-depth version 0x12 depth 8 frags 257 ")

    def test_truncated_at_every_97th_byte(self):
        for path in sorted(FOLDER.glob("*.pcap")):
            data = path.read_bytes()
            step = 97 if len(data) < 20000 else 97 * 29
            whole = len(events(data)[1])
            for length in range(0, len(data), SPARSE * step):
                status, found, stderr = events(data[:length])
                self.assertIn(status, (0, 1))
                # A file that ends between two records is a valid, shorter capture; any other end is an error.
                self.assertEqual(status == 1, "truncated dump file" in stderr, f"{path.name} {length}: {stderr}")
                self.assertLessEqual(len(found), whole + 2)

    def test_pcapng_says_the_same(self):
        for path in sorted(FOLDER.glob("*.pcap")):
            data = path.read_bytes()
            expected = events(data)
            for order, nanoseconds in (("<", True), (">", True)) if path.name == "ping.plain.pcap" else (("<", True),):
                self.assertEqual(events(pcapng(packets_of(data), order, nanoseconds)), expected, path.name)

    def test_damaged(self):
        """One byte is changed, in many places: the program gives some answer and does not crash."""
        for path in sorted(FOLDER.glob("*.pcap"))[::3]:
            data = bytearray(path.read_bytes()[:6000])
            for at in range(0, len(data), SPARSE * 61):
                for value in (data[at] ^ 0xFF, data[at] ^ 1):
                    kept, data[at] = data[at], value
                    self.assertIn(text(bytes(data))[0], (0, 1))
                    data[at] = kept


class Made(unittest.TestCase):
    """Captures made here, of what the recordings do not contain."""

    get_req = capture("024_GET_REQ*")
    immediate = capture("051_IMMEDIATE_PUT_n04096*")

    def test_file_kinds(self):
        packets = send(self.get_req, 7)
        for order in "<>":
            for nanoseconds in (False, True):
                _, found, _ = events(pcap(2 * packets[:1] + [roce(4, 8, self.get_req)], order, nanoseconds))
                self.assertEqual([event["message"]["ibm_type"] for event in found], ["GET_REQ", "GET_REQ"])
                self.assertEqual(found[1]["time_ns"], 1000 * 10**9 + 10 * (1 if nanoseconds else 1000))

    def test_times_of_32_bits(self):
        data = bytearray(pcap(send(self.get_req, 7)))
        struct.pack_into("<I", data, 24, 0xF0000000)
        self.assertEqual(events(data)[1][0]["time_ns"], 0xF0000000 * 10**9)

    def test_fractions_of_32_bits(self):
        """A fraction that large is no time, and does not reach back before 1970."""
        for seconds in (0, 1000):
            for nanoseconds in (False, True):
                data = bytearray(pcap(send(self.get_req, 7), nanoseconds=nanoseconds))
                struct.pack_into("<II", data, 24, seconds, 0xFFFFFFFF)
                self.assertEqual(events(data)[1][0]["time_ns"], seconds * 10**9)

    def test_snapshot_length(self):
        data = bytearray(pcap(send(self.get_req, 7) + send(self.get_req, 8)))
        struct.pack_into("<I", data, 16, 60)
        self.assertEqual([event.get("note") for event in events(data)[1]],
                         2 * ["a packet that was not captured as a whole"])

    def test_packets_without_a_time(self):
        packets = [roce(4, psn, self.get_req) for psn in range(7, 12)]
        times = (None, 10**18, None, 10**18 + 5000, 10**18 - 1000)
        out = text(pcapng(zip(times, packets)))[1]
        self.assertEqual([line[7:20].replace(" ", "") for line in out.splitlines()[:-1]],
                         ["?", "0.000000", "?", "0.000005", "-0.000001"])

    def test_pcapng(self):
        packets = [(10**18 + 5 * number, packet) for number, packet in enumerate(2 * send(self.get_req, 7))]
        for order in "<>":
            for nanoseconds in (False, True):
                status, found, stderr = events(pcapng(packets + [(10**18 + 12345, roce(4, 8, self.get_req))], order, nanoseconds))
                self.assertEqual((status, stderr), (0, ""))
                self.assertEqual([(event["what"], event["frame"]) for event in found], [("SEND", 1), ("SEND", 3)])
                self.assertEqual(found[1]["time_ns"], 10**18 + (12345 if nanoseconds else 12000))
        data = pcapng(packets)
        blocks = (28, 48, 48 + (len(data) - 48) // 2, len(data))
        for length in sorted({*range(0, len(data), SPARSE), *blocks[:-1]}):
            status, _, stderr = text(data[:length])
            # As with pcap, a file that ends between two packets is a valid, shorter capture.
            self.assertEqual((status, stderr == ""), (0, True) if length in blocks[1:] else (1, False), length)
            self.assertEqual("truncated pcapng dump file" in stderr, length >= 12 and length not in blocks, f"{length}: {stderr}")
        status, _, stderr = text(pcapng(packets, interfaces=2))
        self.assertEqual((status, stderr.count("\n")), (1, 1))
        self.assertIn("type", stderr)

    def test_not_a_capture(self):
        cases = [
            (bytes(24), "unknown file format"), (b"", "truncated dump file; tried to read 4 file header bytes, only got 0"),
            (pcap([])[:23], "truncated dump file"), (b"\x0a\x0d\x0d\x0a" + bytes(24), "unknown file format"),
            (pcap([], version=3), "version 3.4"), (pcapng([])[:20], "truncated"),
            (pcap([], link=101), "cli/pcap/link-type: link_type is 12 (Raw IP"),  # libpcap's words, which change
            (pcapng([], link=9), "cli/pcap/link-type: link_type is 9 ("),
        ]
        for data, words in cases:
            status, out, err = text(data)
            self.assertEqual((status, out, err.count("\n")), (1, "", 1), words)
            self.assertTrue(err.startswith("o2ref: standard input: "), err)
            self.assertIn(words, err)
        self.assertEqual(text(pcap([]))[0], 0)
        self.assertEqual(text(pcapng([]))[0], 0)

    def test_a_file_that_cannot_be_read(self):
        done = run("decode", "--pcap", CAPTURES)
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1))
        self.assertIn(b"Is a directory", done.stderr)

    def test_ways_to_travel(self):
        for where in ({"version": 6}, {"vlan": True}, {"version": 6, "vlan": True}):
            _, found, _ = events(pcap(send(self.get_req, 7, **where)))
            self.assertEqual([event["message"]["ibm_type"] for event in found], ["GET_REQ"], where)
        self.assertEqual(found[0]["src"], "fe80::1")
        self.assertEqual(events(pcap(send(self.get_req, 7, port=4790)))[1], [])

    def test_a_send_in_several_packets(self):
        packets = send(self.immediate, 0xFFFFFE, mtu=1024)
        packets = [roce(code, psn & 0xFFFFFF, self.immediate[i * 1024:(i + 1) * 1024])
                   for i, (code, psn) in enumerate(zip([0, 1, 1, 2], range(0xFFFFFE, 0x1000002)))]
        _, found, _ = events(pcap(packets))
        self.assertEqual([(e["what"], e["bytes"], e["packets"], e["frame"]) for e in found], [("SEND", 4096, 4, 4)])
        self.assertEqual(found[0]["message"]["ibm_type"], "IMMEDIATE")

    def test_repeated_and_missing_packets(self):
        first, second, third = send(self.immediate, 10, mtu=1500)
        other = roce(4, 13, self.get_req)
        _, found, _ = events(pcap([first, second, first, second, third, third, other]))
        self.assertEqual([e["message"]["ibm_type"] for e in found], ["IMMEDIATE", "GET_REQ"])
        self.assertIn("3 repeated", text(pcap([first, second, first, second, third, third, other]))[1])
        _, found, _ = events(pcap([first, third, other]))
        self.assertEqual([e.get("note", e["what"]) for e in found],
                         ["packets before this one are missing", "an incomplete SEND", "SEND"])
        # The lost packet is sent again, and everything after it.
        _, found, _ = events(pcap([first, third, second, third, other]))
        self.assertEqual([e.get("note", e["what"]) for e in found],
                         ["packets before this one are missing", "SEND", "SEND"])
        self.assertEqual(found[1]["message"]["ibm_type"], "IMMEDIATE")
        _, found, _ = events(pcap([roce(4, 9, self.get_req), other, first, second, third]))
        self.assertEqual([e.get("note", e["bytes"] if "bytes" in e else "") for e in found],
                         [148, "packets before this one are missing", 148, 4096])
        # It is sent again when the next message has begun: it must not continue that one, which is sent again as well.
        writes = [[roce(6, psn, bytes(1024), extra=struct.pack(">QII", psn, 0x77, 3072)), roce(7, psn + 1, bytes(1024)),
                   roce(8, psn + 2, bytes(1024))] for psn in (20, 23)]
        for lost in (1, 2):
            begun = [packet for number, packet in enumerate(writes[0]) if number != lost] + writes[1][:2]
            _, found, _ = events(pcap(begun + writes[0][lost:] + writes[1]))
            self.assertEqual([(e["va"], e["bytes"]) for e in found if e["what"] == "WRITE"], [("0x17", 3072)], lost)
            self.assertIn("a WRITE without its first packets", [e.get("note") for e in found])
        _, found, _ = events(pcap([first, second]))
        self.assertEqual([e.get("note") for e in found], ["an incomplete SEND"])
        _, found, _ = events(pcap([second, third]))
        self.assertEqual([e.get("note") for e in found], ["a SEND without its first packets"])
        _, found, _ = events(pcap([first, roce(7, 11, bytes(8)), roce(8, 12, bytes(8))]))
        self.assertEqual([e.get("note") for e in found], ["an incomplete SEND", "a WRITE without its first packets"])

    def test_a_queue_pair_begins_a_new_life(self):
        reply = bytearray(256)
        reply[1], reply[17], reply[36:40] = 7, 0x13, struct.pack(">I", 0x11 << 8)
        reply = roce(0x64, 1, bytes(reply), qp=1, extra=bytes(8), source=2, target=1)
        again = send(self.get_req, 990)
        self.assertEqual([e["what"] for e in events(pcap(send(self.get_req, 1000) + again))[1]], ["SEND"])
        self.assertEqual([e["what"] for e in events(pcap(send(self.get_req, 1000) + [reply] + again))[1]],
                         ["SEND", "CM", "SEND"])

    def test_two_directions_do_not_mix(self):
        there = send(self.immediate, 10, mtu=1500)
        back = send(self.immediate, 10, mtu=1500, source=2, target=1)
        mixed = [packet for pair in zip(there, back) for packet in pair]
        self.assertEqual([e["what"] for e in events(pcap(mixed))[1]], ["SEND", "SEND"])

    def test_more_flows_than_are_kept(self):
        packets = [roce(4, 1, self.get_req, qp=qp) for qp in range(2, 1500)]
        found = events(pcap(packets))[1]
        self.assertEqual(len([e for e in found if e["what"] == "SEND"]), 1498)
        self.assertEqual([(e["dest_qp"], e["frame"], e["note"]) for e in found if e["what"] == "note"],
                         [(2, 1025, "the first to be forgotten: more than 1024 directions of connections")])
        lines = text(pcap(packets))[1].splitlines()
        self.assertEqual(lines[-1], "more than 1024 flows (directions of connections) at a time: the quietest one was dropped 474 times")
        self.assertNotIn("forgotten", text(pcap(packets[:1024]))[1])

    def test_messages_that_are_forgotten(self):
        first = send(self.immediate, 10, mtu=1500, qp=7)
        others = [roce(4, 1, self.get_req, qp=qp) for qp in range(100, 1124)]
        found = events(pcap(first[:1] + others + first[1:]))[1]
        notes = [(e["dest_qp"], e["frame"], e["note"]) for e in found if e["what"] == "note"]
        self.assertEqual(notes[0], (7, 1025, "an incomplete SEND, forgotten: more than 1024 directions of connections"))
        # The remaining packets belong to a flow that is new again.
        self.assertEqual(notes[1:], [(7, 1024 + len(first), "a SEND without its first packets")])
        self.assertIn("the quietest one was dropped 2 times\n", text(pcap(first[:1] + others + first[1:]))[1])

    def test_records_longer_than_any_packet(self):
        """Bytes behind a packet in its record are ignored, however many there are."""
        long = roce(4, 1, self.get_req) + bytes(200000)
        both = pcap([long] + send(self.immediate, 2, mtu=4096))
        self.assertEqual([e["what"] for e in events(both)[1]], ["SEND", "SEND"])
        status, found, stderr = events(pcap([long])[:-1])
        self.assertEqual((status, found), (1, []))
        self.assertIn("packet 1: truncated dump file; ", stderr)
        # libpcap refuses a record of this length.
        status, found, stderr = events(pcap([roce(4, 1, self.get_req), bytes(1 << 20)]))
        self.assertEqual((status, len(found)), (1, 1))
        self.assertIn("packet 2: invalid packet capture length 1048576", stderr)

    def test_refused_message(self):
        damaged = self.get_req[:4] + b"\x99" + self.get_req[5:]
        status, out, err = text(pcap(send(damaged, 1) + send(self.get_req, 2)))
        self.assertEqual((status, err.count("\n")), (1, 1))
        self.assertIn("refused wire/header/version: ibm_version is 153, limit 18", out)
        self.assertIn("GET_REQ", out)
        self.assertIn("1 message refused", err)
        _, found, _ = events(pcap(send(damaged, 1)))
        self.assertEqual(found[0]["refused"]["rule"], "wire/header/version")
        status, found, _ = events(pcap(send(bytes(20000), 1)))
        self.assertEqual((found[0]["bytes"], found[0]["refused"]["rule"]), (20000, "wire/header/magic"))

    def test_more_than_is_kept_of_a_message(self):
        """What it says of its length is compared with all that came."""
        for bytes_, nob, rule, limit in ((8193, 8193, "limit", 4096), (10000, 10000, "limit", 4096), (10000, 9000, "limit", 4096),
                                         (10000, 10001, "received", 10000), (8193, 8194, "received", 8193)):
            long = bytearray(self.immediate) + bytes(bytes_ - len(self.immediate))
            struct.pack_into("<II", long, 8, nob, 0)
            refused = events(pcap(send(bytes(long), 1)))[1][0]["refused"]
            self.assertEqual((refused["rule"], refused["value"], refused["limit"]), (f"wire/header/nob-over-{rule}", nob, limit))

    def test_tolerated_checksum(self):
        packets = send(capture("092_*BADCK*"), 1)
        self.assertEqual(events(pcap(packets))[0], 1)
        status, found, _ = events(pcap(packets), "--tolerate-immediate-checksum")
        self.assertEqual((status, found[0]["message"]["cksum_flavour"]), (0, "unverified"))

    def test_writes(self):
        reth = struct.pack(">QII", 0xFF00112233445566, 0xABCD, 3000)
        packets = [roce(6, 5, bytes(1024), extra=reth), roce(7, 6, bytes(1024)), roce(8, 7, bytes(952)),
                   roce(10, 8, bytes(17), extra=reth)]
        status, out, _ = text(pcap(packets))
        self.assertIn("WRITE 3000 bytes rkey 0xabcd va 0xff00112233445566 (3 packets)\n", out)
        self.assertIn("WRITE 17 bytes rkey 0xabcd va 0xff00112233445566 (1 packet) but 3000 bytes were announced", out)
        self.assertEqual(status, 0)

    def test_other_packets(self):
        reth = struct.pack(">QII", 0, 1, 2)
        packets = [roce(0x11, 1, extra=b"\x00\x00\x00\x01"), roce(0x11, 1, extra=b"\x60\x00\x00\x01"),
                   roce(0x11, 1, extra=b"\x62\x00\x00\x01"), roce(0x11, 1, extra=b"\x20\x00\x00\x01"),
                   roce(0x0C, 2, extra=reth), roce(0x84, 2), roce(0x64, 1, bytes(256), qp=1, extra=bytes(8)),
                   roce(0x64, 1, bytes(8), qp=9, extra=bytes(8)), roce(6, 3), b"", bytes(14)]
        _, out, _ = text(pcap(packets))
        for expected in ("NAK 0 (sequence error)", "NAK 2 (remote access error)", "RNR NAK", "(an RDMA READ request)",
                         "(an opcode of another transport service)", "that is not the connection manager's",
                         "(a datagram to another queue pair than 1)", "lengths contradict each other",
                         "1 ACKs, 3 NAKs", "2 of other protocols"):
            self.assertIn(expected, out)

    def test_packets_that_were_not_captured_as_a_whole(self):
        packet = send(self.get_req, 1)[0]
        for length in range(0, len(packet), SPARSE):
            status, found, _ = events(pcap([packet[:length]]))
            self.assertEqual(status, 0)
            self.assertNotIn("SEND", [event["what"] for event in found], length)
