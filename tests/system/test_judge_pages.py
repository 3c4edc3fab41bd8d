#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test the page of o2ref judge --html: it shows the content of the capture and the findings, and no content of a capture can
act as a part of the page.

A browser (chromium) renders it, at the width of a desktop and of a phone; without a browser that part is skipped.

usage: test_judge_pages.py [O2REF]   the program; default $O2REF_CLI, else build/gcc/o2ref.  Last line "N passed, N failed".
"""

import json
import re
import struct
import subprocess
import sys
import unittest
import zlib
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "lib"))
import pages  # noqa: E402
from cli.judge_cases import (ACKED, AT_DESC, AT_NOB, AT_PUT_LENGTH, BACK, GET_DONE, IMMEDIATE, PROGRAM, PUT_ACK,  # noqa: E402
                             THERE, Files, judge, message, put_ack, transfer, write, wrong_status)
from pages import NO_BROWSER, Document  # noqa: E402
from cli.pcap_cases import packets_of, pcap, roce, send  # noqa: E402
from test_judge import (AT_SRCSTAMP, AT_TYPE, BROKEN, BTH, FOLDER, HELD, MESSAGE, PUT_DONE, PUT_REQ, USAGE, Capture,  # noqa: E402
                        payload_capture, peak, stream, suite)

AT_SRC_COOKIE, AT_DST_COOKIE, AT_COOKIE = 48, 56, 120
LNET_ACK, LNET_PUT, AT_LNET_TYPE, AT_UNION, AT_MLENGTH, AT_HDR_DATA = 0, 1, 72, 80, 104, 104
FRAGS = [(0x1000, 1000), (0x5000, 3000), (0x9000, 500), (0xf000, 4000)]
# Two WRITEs in one fragment, one that goes 200 bytes too far, one half of which was written before, one outside all fragments.
WRITES = [(0x1000, 1000), (0x5000, 1500), (0x55dc, 1500), (0x9000, 700), (0xf000, 1500), (0xf000 + 500, 2000), (0x99999, 64)]


def number_of(row):
    """The packet to which the row of an event belongs."""
    return int(row.find(css="no")[0].text())


class Page(Files):
    RECORDINGS = "*.pcap"

    def page(self, *words):
        out = self.path / "page.html"
        done = judge("--html", out, *words)
        self.assertIn(done.returncode, (HELD, BROKEN, USAGE), done.stderr)
        return done, Document(out.read_text(encoding="utf-8")).root

    def decoded(self, path):
        lines = subprocess.run([PROGRAM, "decode", "--pcap", "--json", path], capture_output=True, timeout=60, check=False)
        return [json.loads(line) for line in lines.stdout.splitlines()]

    def test_the_style_has_each_rule_once(self):
        self.page(sorted(FOLDER.glob(self.RECORDINGS))[0])
        style, = re.findall("<style>(.*?)</style>", (self.path / "page.html").read_text(encoding="utf-8"), re.S)
        rules = [line for line in style.splitlines() if line.endswith("}")]
        self.assertGreater(len(rules), 50)
        self.assertEqual(sorted(set(rules)), sorted(rules))

    def test_every_event_is_an_arrow(self):
        names = sorted(FOLDER.glob(self.RECORDINGS))
        self.assertGreater(len(names), 1)
        for path in names:
            done, root = self.page(path)
            self.assertEqual(done.returncode, HELD)
            arrows = []
            for conn in root.find(css="conn"):
                a, b = (head.find("small")[0].text().split()[0] for head in conn.find(css="head"))
                for row in conn.find(css="row"):
                    source = a if "ab" in row.classes else b
                    self.assertEqual(len(row.find(css="arrow")), 1)
                    arrows.append((number_of(row), source, row.find("b")[0].text() if row.find("b") else "DREQ"))
            expected = []
            for event in self.decoded(path):
                name = event.get("message", {}).get("ibm_type") or event.get("reject", {}).get("ibr_why")
                if event["what"] in ("SEND", "WRITE") or event.get("cm") in ("REQ", "REP", "REJ"):
                    expected.append((event["frame"], event["src"], str(name or event["what"])))
            with self.subTest(path.name):
                self.assertEqual(sorted(arrow for arrow in arrows if arrow[2] != "DREQ"), expected)

    def test_a_finding_is_at_its_event(self):
        capture, number = wrong_status()
        done, root = self.page(self.put("broken.pcap", capture.bytes()))
        self.assertEqual(done.returncode, BROKEN)
        row, = root.find(css="shows")
        self.assertEqual((number_of(row), row.classes >= {"must", "ab"}), (number, True))
        self.assertIn("bytes written is 3977, expected 3976", row.find(css="finding")[0].text())
        self.assertIn("status 3976", row.find(css="what")[0].text())
        earlier, = root.find(css="earlier")
        self.assertIn("PUT_ACK", earlier.find(css="what")[0].text())
        # The index links to the finding, the finding to the earlier event, and that event back to the finding.
        name, back = row.attributes["id"], earlier.attributes["id"]
        self.assertEqual([a.attributes["href"] for a in root.find(css="index")[0].find("a")], ["#" + name])
        self.assertEqual([a.attributes["href"] for a in row.find(css="finding")[0].find("a")], ["#" + back])
        self.assertEqual([a.attributes["href"] for a in earlier.find(css="finding")[0].find("a")], ["#" + name])
        # The field is marked among the bytes.
        bad, = row.find("tr", "bad")
        self.assertEqual([cell.text() for cell in bad.find("td")], ["0038", "88 0f 00 00", "ibcm_status", "3976"])

    def test_a_finding_in_the_middle_of_a_write_is_at_the_write(self):
        """
        A PUT whose WRITE takes sixteen packets: the wrong byte is in the last one, or in one before it.  A message of the other
        side, which proves the finding, comes after the WRITE or before its end.
        """
        for at, place in ((65535, 23), (40000, 23), (40000, 19), (100, 23), (100, 19)):
            def change(data, at=at):
                data[at] ^= 1
                return data
            packets = [packet for _, packet in packets_of(payload_capture(change, 4096))][:25]
            done, root = self.page(self.put("payload.pcap", pcap(packets[:place] + packets[23:] + packets[place:23])))
            self.assertEqual(done.returncode, BROKEN)
            row, = root.find(css="write")
            self.assertLessEqual({"shows", "must"}, row.classes)
            self.assertIn(f"payload[{at}] is ", row.find(css="finding")[0].text())
            self.assertEqual([a.attributes["href"] for a in root.find("li", "must")[0].find("a")], ["#" + row.attributes["id"]])

    def test_a_write_that_is_not_held_any_more(self):
        """The proof of a finding comes after many events elsewhere: a later WRITE is not taken for the one with the wrong byte."""
        def change(data):
            data[40000] ^= 1
            return data
        packets = [packet for _, packet in packets_of(payload_capture(change, 4096))][:25]
        psn = int.from_bytes(packets[20][BTH + 9:BTH + 12], "big") + 1
        elsewhere = [packet for number in range(5000) for packet in send(bytes(message(IMMEDIATE)), number, source=3, target=4)]
        for others, links in (([], ["packet 14"]), (elsewhere, [])):
            data = pcap(packets[:22] + others + [write(psn, 0x1000, 64)] + packets[22:])
            _, root = self.page("--events", 0, self.put("later.pcap", data))
            row, = [row for row in root.find("li", "must") if "payload/put" in row.text()]
            self.assertIn("packet 14", row.text())
            self.assertEqual([a.text() for a in row.find("a")], links)

    def test_a_beginning_that_is_not_held_any_more(self):
        """The request was seen; many events elsewhere come before a finding, which only then makes the connection incomplete."""
        capture = Capture("put_small_ack.plain.pcap")
        number = capture.of_type(IMMEDIATE)[-1]
        capture.at(number)[MESSAGE + AT_TYPE] = 0x33
        packets = [packet for _, packet in packets_of(capture.bytes())]
        said = bytes(message(IMMEDIATE))
        elsewhere = [packet for psn in range(4200) for packet in send(said, psn, source=3, target=4)]
        for others, words in (([], "seen from its request on"), (elsewhere, "packets of it are missing")):
            _, root = self.page("--events", 0, self.put("later.pcap", pcap(packets[:number - 1] + others + packets[number - 1:])))
            conn, = root.find(css="conn")
            self.assertIn(f"; {words}; ", conn.find(css="facts")[0].text())

    def test_the_field_of_a_finding_is_marked(self):
        """The rule that a capture breaks, and the fields that are marked where it shows."""
        def changed(name, kind, lnet_type, place, data):
            capture = Capture(name + ".plain.pcap")
            for number in capture.of_type(kind):
                body = capture.at(number)
                if lnet_type is None or body[MESSAGE + AT_LNET_TYPE] == lnet_type:
                    body[MESSAGE + place:MESSAGE + place + len(data)] = data
            return capture.bytes()

        request, other = bytes(message(PUT_REQ)), bytes(message(IMMEDIATE))
        again = [*send(other, 198, **BACK), *send(other, 199, **BACK), roce(0x11, 199, extra=bytes(4), **THERE),
                 *send(request, 100, **THERE), ACKED, *send(request, 101, **THERE)]
        once = transfer(FRAGS, FRAGS[:1], 1000)
        ping = [bytes(packet) for _, packet in packets_of((FOLDER / "ping.plain.pcap").read_bytes())]
        last = [packet for packet in ping if packet[BTH:BTH + 1] == b"\x04" and packet[29] == THERE["source"]][-1]
        stray = ping + [write(int.from_bytes(last[BTH + 9:BTH + 12], "big") + 1, *FRAGS[0])]
        reth = struct.pack(">QI", FRAGS[0][0], int.from_bytes(message(PUT_ACK)[AT_DESC:AT_DESC + 4], "little"))
        short = once.replace(reth + struct.pack(">I", 1000), reth + struct.pack(">I", 999))
        right = stream(9, 100)
        portal = struct.pack("<QII", 9, 60, 0)
        handle = [f"hdr.dst_wmd.wh_{half}_cookie" for half in ("interface", "object")]
        for rule, data, fields in (
                ("transfer/cookie-reused", pcap(again), ["ibprm_cookie"]),
                ("transfer/unasked", changed("get_nomatch_big", GET_DONE, None, AT_SRC_COOKIE, b"\x99"), ["ibcm_cookie"]),
                ("transfer/sink", changed("put_3977", PUT_REQ, None, AT_PUT_LENGTH, b"\x64\x00"), ["ibpam_rd.rd_frags[0].rf_nob"]),
                ("write/twice", transfer(FRAGS, 2 * FRAGS[:1], 1000), ["virtual address"]), ("write/key", pcap(stray), ["R_Key"]),
                ("write/announced", short, ["bytes that came"]),
                ("payload/put", changed("put_small_ack", IMMEDIATE, LNET_PUT, AT_HDR_DATA, portal + right[:99] + b"\0"), ["payload"]),
                ("payload/put", changed("put_small_ack", IMMEDIATE, LNET_PUT, AT_HDR_DATA, portal + right[:60] + right[:40]), ["payload"]),
                ("lnet/ack", changed("put_small_ack", IMMEDIATE, LNET_ACK, AT_MLENGTH, b"\xc8"), ["hdr.mlength"]),
                ("lnet/unasked", changed("put_small_ack", IMMEDIATE, LNET_ACK, AT_UNION, b"\xff" * 16), handle)):
            _, root = self.page(self.put("marked.pcap", data))
            rows = [row for row in root.find(css="shows") if rule in row.find(css="finding")[0].text()]
            with self.subTest(rule):
                self.assertTrue(rows)
                self.assertEqual([line.find("td")[2].text() for line in rows[0].find("tr", "bad")], fields)

    def test_bytes_are_those_of_the_capture_with_decodes_names(self):
        capture = Capture("put_64K_odd.plain.pcap")
        _, root = self.page(FOLDER / "put_64K_odd.plain.pcap")
        rows = {number_of(row): row for row in root.find(css="row")}
        for kind in (PUT_REQ, PUT_ACK, PUT_DONE):
            number = capture.of_type(kind)[0]
            data = capture.at(number)[MESSAGE:]
            data = bytes(data[:struct.unpack_from("<I", data, AT_NOB)[0]])
            lines = [[cell.text() for cell in line.find("td")] for line in rows[number].find("tr")]
            self.assertEqual(bytes.fromhex("".join(line[1] for line in lines)), data)
            said = subprocess.run([PROGRAM, "decode", "--raw-input", "-"], input=data, capture_output=True, timeout=60,
                                  check=True).stdout.decode()
            self.assertEqual([" ".join(line) for line in lines], [" ".join(line.split()) for line in said.splitlines()])

    def test_a_message_of_which_not_all_is_kept(self):
        """Its bytes end early, but all of them came."""
        long = message(IMMEDIATE) + bytes(10000)
        for nob, words, came in ((10000, "wire/header/nob-over-limit: ibm_nob is 10000, limit 4096", "10000"),
                                 (99999, f"wire/header/nob-over-received: ibm_nob is 99999, limit {len(long)}",
                                  "99999 (more than was received)")):
            struct.pack_into("<I", long, AT_NOB, nob)
            _, root = self.page(self.put("long.pcap", pcap(send(bytes(long), 1))))
            row, = root.find(css="row")
            self.assertIn(f"refused {words} ", row.find(css="what")[0].text())
            said = {cells[2]: cells[3] for cells in ([cell.text() for cell in line.find("td")] for line in row.find("tr"))}
            self.assertEqual(said["ibm_nob"], came)

    def test_long_marks_up_to_forty_fragments(self):
        for nfrags, top in ((40, 0), (41, 11)):
            frags = [(0x10000 + 8192 * i, 100) for i in range(nfrags)]
            _, root = self.page(self.put(f"{nfrags}.pcap", transfer(frags, frags, 100 * nfrags)))
            self.assertEqual(re.findall(r"(\d+)V14", root.find("path")[0].attributes["d"]), [str(top)] * (nfrags + 1))

    def test_writes_are_bars_over_their_fragments(self):
        _, root = self.page(self.put("frags.pcap", transfer(FRAGS, WRITES, 8464)))
        total = sum(length for _, length in FRAGS)
        starts = {address: sum(length for _, length in FRAGS[:i]) for i, (address, _) in enumerate(FRAGS)}
        marks = [float(x) for x in re.findall(r"M([\d.]+) 0V14", root.find("path")[0].attributes["d"])]
        self.assertEqual(marks, [0] + [round((starts[address] + length) * 1000 / total, 1) for address, length in FRAGS])
        rows = root.find(css="write")
        self.assertEqual(len(rows), len(WRITES))
        for row, (address, length) in zip(rows, WRITES):
            bar, = row.find("svg")
            self.assertEqual(bar.find("use")[0].attributes["href"], "#" + root.find("path")[0].attributes["id"])
            places = [(starts[at] + address - at, min(length, at + size - address)) for at, size in FRAGS
                      if at <= address < at + size]
            for rect, (start, inside) in zip(bar.find("rect", "now"), places):
                self.assertAlmostEqual(float(rect.attributes["x"]), start * 1000 / total, delta=.06)
                self.assertAlmostEqual(float(rect.attributes["width"]), inside * 1000 / total, delta=.06)
            self.assertEqual(len(bar.find("rect", "now")), len(places))
            over = length - sum(inside for _, inside in places)
            self.assertEqual(bool(bar.find("rect", "over")), over != 0)
            self.assertEqual([em.text() for em in row.find("em")], [f"{over} bytes outside"] if over else [])
        again, = root.find("rect", "again")
        self.assertAlmostEqual(float(again.attributes["width"]), 1000 * 1000 / total, delta=.06)

    def test_a_write_without_bytes_goes_nowhere(self):
        """Its address may lie in a fragment or in none."""
        _, root = self.page(self.put("none.pcap", transfer(FRAGS, [(0x1000, 0), (0x99999, 0)], 0)))
        rows = root.find(css="write")
        self.assertEqual(len(rows), 2)
        for row in rows:
            self.assertRegex(row.find(css="what")[0].text(), r"^WRITE 0 bytes key \w+ addr \w+ into 3$")
            self.assertEqual([rect.attributes["class"] for rect in row.find("rect")], ["sink"])

    def test_many_writes_are_folded(self):
        """The first and the last WRITE are shown, and both to which a finding refers."""
        frags = [(0x10000 * i, 4096) for i in range(1, 65)]
        twice = frags[:40] + [(frags[39][0], 4096)] + frags[40:]
        for writes, runs in ((frags, [62]), (twice, [38, 23]), (frags[:5], [])):
            _, root = self.page(self.put("many.pcap", transfer(frags, writes, 4096 * len(frags))))
            self.assertEqual(len(root.find(css="write")), len(writes))
            folded = root.find(css="run")
            self.assertEqual([len(run.find(css="write")) for run in folded], runs)
            self.assertEqual([run.find("summary")[0].text() for run in folded], [f"{count} WRITEs more" for count in runs])
            self.assertEqual([run.find(css="shows") for run in folded], [[] for _ in runs])
            for number, row in enumerate(root.find(css="write"), 1):
                self.assertIn(f"fragment {number - (number > 40 and writes is twice)} of 64, ", row.text())

    def test_the_end_says_what_was_written(self):
        for status, word in ((8500, "status"), (8499, "over")):
            _, root = self.page(self.put("whole.pcap", transfer(FRAGS, FRAGS, status)))
            done = [row for row in root.find(css="row") if "PUT_DONE" in row.text()][0]
            self.assertIn(f"8500 bytes written of 8500 that are offered, {status} reported", done.text())
            self.assertIn(word, done.find("rect")[-1].classes)
        # A WRITE is missing in the capture: the page does not judge the sum.
        data = Capture("put_64K_odd.plain.pcap")
        first = [number for number, _ in enumerate(data.packets, 1) if 5 <= number <= 20]
        _, root = self.page(self.put("lost.pcap", data.bytes(without=first)))
        done = [row for row in root.find(css="row") if "PUT_DONE" in row.text()]
        self.assertEqual(["bytes written" in row.text() for row in done], [False, True])

    def test_links_lead_to_what_is_answered(self):
        """Two PUTs and two GETs, one after the other."""
        for name, kinds in (("put_3977", ["", "answers", "into", "answers", ""]), ("get_3977", ["", "into", "answers"])):
            _, root = self.page(FOLDER / f"{name}.plain.pcap")
            rows = root.find(css="row")
            self.assertEqual(len(rows), 2 * len(kinds))
            for at, row in enumerate(rows):
                first, step = at - at % len(kinds), at % len(kinds)
                links = [(a.text(), a.attributes["href"]) for a in row.find(css="what")[0].find("a")]
                # The end of a transfer answers the descriptor; in a GET the descriptor is in the request.
                cause = rows[first + (1 if len(kinds) == 5 and step > 1 else 0)]
                expected = [(f"{kinds[step]} {number_of(cause)}", "#" + cause.attributes["id"])] if kinds[step] else []
                self.assertEqual(links, expected)

    def test_one_key_for_all_memory(self):
        """Two PUTs are open with the same key: a WRITE's address tells to which one it belongs, also where one ends and the other begins."""
        first, second = put_ack([(0x2000, 4096)]), put_ack([(0x1000, 4096)])
        request = message(PUT_REQ)
        packets = [*send(bytes(request), 100, **THERE), ACKED, *send(bytes(first), 200, **BACK)]
        for data, places in ((request, (AT_COOKIE,)), (second, (AT_SRC_COOKIE, AT_DST_COOKIE))):
            for place in places:
                data[place] ^= 0x40
        packets += [*send(bytes(request), 101, **THERE), *send(bytes(second), 201, **BACK)]
        packets += [write(102, 0x1000, 4096), write(103, 0x2000, 4096)]
        _, root = self.page(self.put("key.pcap", pcap(packets)))
        self.assertEqual([row.find("a")[0].text() for row in root.find(css="write")], ["into 5", "into 3"])

    def test_credits_are_those_that_each_side_has(self):
        path = FOLDER / "ping.plain.pcap"
        _, root = self.page(path)
        rows = {number_of(row): row for row in root.find(css="row")}
        credits, sides = None, {}
        for event in self.decoded(path):
            if event.get("cm") == "REQ":
                sides = {event["src"]: 0, event["dst"]: 1}
            if event.get("cm") == "REP":
                credits = [event["message"]["body"]["ibcp_queue_depth"]] * 2
            if event["what"] == "SEND":
                side = sides[event["src"]]
                credits[side] -= 1
                credits[1 - side] += event["message"]["ibm_credits"]
            if event["what"] == "SEND" or event.get("cm") == "REP":
                self.assertEqual([cell.text() for cell in rows[event["frame"]].find(css="cr")], list(map(str, credits)))
                self.assertEqual([cell.attributes["style"] for cell in rows[event["frame"]].find(css="cr")],
                                 [f"--c:{have * 100 // 8}%;--m:{have * 100 // 8}%" for have in credits])

    def test_several_files(self):
        files = self.several()
        done, root = self.page(*files)
        self.assertEqual(done.returncode, USAGE)
        links = root.find(css="files")[0].find("a")
        self.assertEqual([a.text() for a in links], [str(path) for path in files])
        sections = root.find("section", "file")
        self.assertEqual(["#" + section.attributes["id"] for section in sections], [a.attributes["href"] for a in links])
        self.assertEqual([len(section.find(css="why")) for section in sections], [0, 0, 0, 1, 1])
        ids = [node.attributes["id"] for node in root.all() if "id" in node.attributes]
        self.assertEqual(len(ids), len(set(ids)))
        for node in root.find("a"):
            self.assertIn(node.attributes["href"][1:], ids)

    def hostile(self):
        """A capture and a name whose content tries to become part of the page."""
        capture = Capture("put_small_ack.plain.pcap")
        text = b"<script>alert(1)</script><img src=x onerror=alert(2)>\"'></td></table><style>*{display:none}"
        for _, body in capture.packets:
            if len(body) > MESSAGE + 220 and body[MESSAGE + AT_TYPE] == IMMEDIATE:
                body[MESSAGE + 120:MESSAGE + 120 + len(text)] = text[:len(body) - MESSAGE - 124]
        return self.put("<script>alert(3)<&script><img src=x onerror='alert(4)'>\".pcap", capture.bytes())

    def test_nothing_of_a_capture_becomes_markup(self):
        path = self.hostile()
        _, root = self.page(path, self.put("broken.pcap", wrong_status()[0].bytes()))
        self.assertLessEqual({node.tag for node in root.all()},
                             set("html head meta title style body h1 h2 h3 p span a section div ul li b i em strong small code "
                                 "br details summary table tbody tr td svg rect path use".split()))
        for node in root.all():
            self.assertLessEqual(set(node.attributes), set("lang charset http-equiv content name class id href style d x y width "
                                                           "height viewbox preserveaspectratio aria-hidden".split()))
            self.assertTrue(node.attributes.get("href", "#").startswith("#"))
            self.assertRegex(node.attributes.get("style", ""), r"^(--c:\d+%;--m:\d+%)?$")
        self.assertIn("default-src 'none'", root.find("meta")[1].attributes["content"])
        self.assertIn("<script>", root.find(css="bytes") and "".join(table.text() for table in root.find("table", "bytes")))
        self.assertEqual(root.find("h2")[0].text(), str(path))
        self.assertEqual(len(root.find("style")), 1)

    def test_a_long_capture(self):
        """Memory does not grow with the capture."""
        ping, path, peaks = Capture("ping.plain.pcap"), self.path / "long.pcap", []
        for times in (400, 8000):
            # Write the capture in pieces: a child process begins with the memory size of this process.
            with open(path, "wb") as file:
                file.write(ping.head)
                for _ in range(times):
                    file.write(ping.bytes()[24:])
            status, kib = peak(PROGRAM, "judge", "--html", str(self.path / "page.html"), str(path))
            self.assertEqual(status, HELD)
            peaks.append(kib)
        self.assertLess(peaks[1] - peaks[0], 8 * 1024)

    def test_a_long_connection(self):
        """The first events and those around the finding are shown; the others are only counted."""
        first, before, after, length, bad = 15, 10, 5, 6000, 5000
        recorded = Capture("disc.plain.pcap")
        message = recorded.at(recorded.of_type(IMMEDIATE)[0])[MESSAGE:-4]
        wrong = bytearray(message)
        wrong[AT_SRCSTAMP] ^= 1
        packets = [packet for number in range(1, length + 1)
                   for packet in send(bytes(wrong if number == bad else message), number, source=1, target=2)]
        _, root = self.page("--events", first, self.put("long.pcap", pcap(packets)))
        seen = [number_of(row) if "row" in row.classes else row.text() for row in root.find("div")
                if row.classes & {"row", "gap"}]
        gone = "{} events that are not on this page"
        self.assertEqual(seen, [*range(1, first + 1), gone.format(bad - before - first - 1),
                                *range(bad - before, bad + after + 1), gone.format(length - bad - after)])
        self.assertEqual([number_of(row) for row in root.find(css="shows")], [bad])
        self.assertIn(f"{first + before + 1 + after} of {length} events are on this page: the first {first}, ", root.text())


@unittest.skipIf(NO_BROWSER, NO_BROWSER)
class Browser(Page):
    """The same page in a browser: its structure, and how it is rendered."""

    RECORDINGS = "put_64K*.pcap"
    # Measure from outside, in a frame of that width: our page runs no scripts.
    MEASURE = """<!DOCTYPE html><meta charset=utf-8>
<iframe id=frame style="width:WIDTHpx;height:800px;border:0" src=page.html></iframe><pre id=out></pre><script>onload = () => {
  const page = frame.contentDocument;
  const box = (node) => { const b = node.getBoundingClientRect(); return [b.left, b.right, b.top, b.bottom]; };
  for (const details of page.querySelectorAll("details")) details.open = OPEN;
  const style = (node) => frame.contentWindow.getComputedStyle(node);
  out.textContent = JSON.stringify({
    wide: page.documentElement.scrollWidth, paper: style(page.body).backgroundColor, ink: style(page.body).color,
    accused: [...page.querySelectorAll(".finding.must:not(.back)")].map((node) => style(node).borderLeftColor),
    rows: [...page.querySelectorAll(".row")].map((row) => ({
      write: row.classList.contains("write"), row: box(row), arrow: box(row.querySelector(".arrow")),
      lines: style(row).backgroundPosition, what: [...row.querySelectorAll(".what")].map(box),
      bar: [...row.querySelectorAll(".bar")].map(box), now: [...row.querySelectorAll(".now")].map(box)}))});
}</script>"""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = pages.Browser()
        cls.addClassCleanup(cls.browser.close)

    def page(self, *words):
        done, _ = super().page(*words)
        return done, Document(self.browser.dom(self.path / "page.html")).root

    def measure(self, width, opened, scheme=""):
        measure = self.MEASURE.replace("WIDTH", str(width)).replace("OPEN", opened)
        (self.path / "measure.html").write_text(measure, encoding="utf-8")
        dom = Document(self.browser.dom(self.path / "measure.html", scheme)).root
        return json.loads(dom.find("pre")[0].text())

    def test_it_fits_a_desk_and_a_phone(self):
        self.page(self.put("frags.pcap", transfer(FRAGS, WRITES, 8463)))
        for width in (1280, 390):
            for opened in ("false", "true"):
                with self.subTest(f"{width} pixels, opened {opened}"):
                    seen = self.measure(width, opened)
                    self.assertLessEqual(seen["wide"], width)
                    self.assertEqual(len(seen["rows"]), 4 + len(WRITES))
                    for above, below in zip(seen["rows"], seen["rows"][1:]):
                        self.assertLess(abs(above["row"][3] - below["row"][2]), .5, "the life lines have holes")
                    for row in seen["rows"]:
                        left, right = row["arrow"][:2]
                        self.assertGreater(right - left, width / 2)
                        for one in row["what"] + row["bar"]:
                            self.assertTrue(left <= one[0] < one[1] <= right, row)
                    for row, (address, length) in zip((row for row in seen["rows"] if row["write"]), WRITES):
                        for now in row["now"]:
                            frag = [size for at, size in FRAGS if at <= address < at + size][0]
                            share = min(length, frag) / sum(size for _, size in FRAGS)
                            self.assertAlmostEqual((now[1] - now[0]) / (row["bar"][0][1] - row["bar"][0][0]), share, delta=.01)

    def test_light_and_dark(self):
        self.page(self.put("broken.pcap", wrong_status()[0].bytes()))
        for scheme, dark in (("light", False), ("dark", True)):
            seen = self.measure(1280, "false", scheme)
            paper, ink = (sum(map(int, re.findall(r"\d+", seen[name])[:3])) / 3 for name in ("paper", "ink"))
            self.assertEqual(paper < 64, dark, seen["paper"])
            self.assertGreater(abs(paper - ink), 128)
            self.assertEqual(len(seen["accused"]), 1)
            red, green, blue = map(int, re.findall(r"\d+", seen["accused"][0]))
            self.assertGreater(red, 1.8 * max(green, blue))

    def test_a_picture(self):
        self.page(self.put("frags.pcap", transfer(FRAGS, WRITES, 8463)))
        for width in (1280, 500):
            data, at, pixels = self.browser.picture(self.path / "page.html", width, 1200), 8, b""
            self.assertEqual(struct.unpack_from(">II", data, 16), (width, 1200))
            while at < len(data):
                size, kind = struct.unpack_from(">I4s", data, at)
                pixels += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
                at += size + 12
            lines = zlib.decompress(pixels)
            step = len(lines) // 1200
            self.assertGreater(len({lines[at + 1:at + step] for at in range(0, len(lines), step)}), 300)


if __name__ == "__main__":
    if NO_BROWSER:
        print(f"skipped: what a browser draws: {NO_BROWSER}")
    sys.exit(suite.run(suite.of(sys.modules[__name__])))
