#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test o2ref serve, ping, put and get on the in-process network against docs/peer.md.

usage: test_net.py [O2REF]   the program; default $O2REF_CLI, else build/gcc/o2ref.  Last line "N passed, N failed".
"""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "lib"))

import suite  # noqa: E402

PROGRAM = suite.program()
PEER = "10.77.0.2@o2ib"
OK, FAILED, USAGE = 0, 1, 2
MODES = ("global", "fmr", "fastreg", "user", "phys", "fastreg_gaps")


def run(*arguments):
    return suite.ended([PROGRAM, *arguments], (OK, FAILED, USAGE), stdin=subprocess.DEVNULL, timeout=60, text=True)


def await_handler(running, number):
    """Wait until a process has a handler for the signal, or has ended."""
    while running.poll() is None and not suite.in_signal_set(running.pid, "SigCgt", number):
        time.sleep(0.01)


def loop(command, *arguments, peer=PEER):
    return run(command, "--device", "loop", *arguments, peer)


class Moves(unittest.TestCase):
    def moved(self, done, count, verified=None):
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        self.assertIn(f": {count} done, 0 failed, ", done.stdout)
        if verified is not None:
            self.assertIn(f"verify: {verified} checked, 0 wrong\n", done.stdout)

    def test_ping(self):
        done = loop("ping")
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        self.assertRegex(done.stdout, rf"^{re.escape(PEER)}: \d+ us, pid 12345, features 0xe: 0@lo {re.escape(PEER)}\n$")
        done = loop("ping", "--count", 3, "--interval", 1)
        self.assertEqual(done.stdout.count(f"{PEER}: "), 3)
        self.moved(done, 3)

    def test_every_mode_and_form(self):
        for mode in MODES:
            for size in (1, 3976, 3977, 65536, 1048576):
                for command in ("put", "get"):
                    with self.subTest(mode=mode, size=size, command=command):
                        self.moved(loop(command, "--mode", mode, "--size", size, "--count", 3, "--verify"), 3, 3)

    def test_fragments(self):
        for mode, fragments, goes in (
            ("fastreg", 16, True), ("fastreg", 17, False), ("fmr", 17, True), ("global", 257, True),
            ("fastreg_gaps", 257, True), ("phys", 16, True), ("phys", 17, False), ("user", 2, False),
        ):
            for command in ("put", "get"):
                with self.subTest(mode=mode, fragments=fragments, command=command):
                    done = loop(command, "--mode", mode, "--fragments", fragments, "--size", 65536, "--verify")
                    if goes:
                        self.moved(done, 1, 1)
                    else:
                        self.assertEqual(done.returncode, FAILED)
                        self.assertRegex(done.stderr, r"^o2ref: (PUT|GET) 0 at .*: reg/[^\n]*\n$")

    def test_many_at_a_time(self):
        self.moved(loop("put", "--count", 300, "--in-flight", 64, "--size", 5000, "--verify"), 300, 300)
        self.moved(loop("get", "--count", 300, "--in-flight", 64, "--size", 5000, "--verify"), 300, 300)
        self.moved(loop("put", "--count", 100, "--in-flight", 64, "--queue-depth", 2, "--size", 100), 100)
        self.moved(loop("put", "--count", 100, "--no-ack", "--size", 100, "--verify"), 100, 100)
        for checksum in ("off", "unsigned", "signed", "auto"):
            self.moved(loop("put", "--count", 10, "--checksum", checksum, "--size", 3000, "--verify"), 10, 10)
        self.moved(loop("get", "--count", 10, "--max-frags", 256, "--size", 1048576, "--verify"), 10, 10)

    def test_more_scattered_memory_than_windows(self):
        """Each operation needs a window over its scattered pages, and there are far fewer windows: operations wait for one."""
        for mode in ("fastreg", "fmr", "phys", "fastreg_gaps", "global"):
            for command, depth in (("put", 8), ("put", 255), ("get", 8), ("get", 255)):
                with self.subTest(mode=mode, command=command, depth=depth):
                    self.moved(loop(command, "--mode", mode, "--queue-depth", depth, "--count", 300, "--in-flight", 255,
                                    "--size", 32768, "--fragments", 8, "--verify"), 300, 300)
            # The peer's memory is in as many pieces, so its end waits as well.
            for command, depth in (("put", 255), ("get", 8)) if mode in ("fastreg", "fmr", "phys") else (("put", 8),):
                with self.subTest(mode=mode, command=command, depth=depth, size=1048576):
                    self.moved(loop(command, "--mode", mode, "--queue-depth", depth, "--count", 100, "--in-flight", 100,
                                    "--size", 1048576, "--fragments", 256, "--timeout", 300), 100)

    def test_as_many_as_may_be(self):
        """In mode user memory is one piece; for reading back, each operation in flight needs a place of its own."""
        for command in ("put", "get"):
            self.moved(loop(command, "--mode", "user", "--count", 300, "--in-flight", 255, "--size", 32768, "--verify"), 300, 300)
        self.moved(loop("put", "--in-flight", 255, "--count", 300, "--size", 65536, "--verify"), 300, 300)
        self.moved(loop("put", "--in-flight", 16, "--count", 20, "--size", 1048576, "--offset", 7 << 20, "--verify"), 20, 20)

    def test_the_queue_pairs_patience(self):
        self.moved(loop("put", "--count", 3, "--ack-timeout", 31, "--retries", 0, "--rnr-retries", 6, "--verify"), 3, 3)

    def test_verify_looks_at_the_bytes(self):
        self.moved(loop("get", "--offset", 4096, "--verify"), 1, 1)
        # The peer holds the bytes of seed 1, so with another seed every byte is wrong, although the transfers succeed.
        done = loop("get", "--count", 3, "--verify", "--seed", 2)
        self.assertEqual(done.returncode, FAILED)
        self.assertRegex(done.stdout, r"get: 3 done, 0 failed, .*\nverify: 3 checked, 3 wrong\n$")
        self.assertEqual(len(re.findall(r"^o2ref: GET \d: byte [0-3] is 0x.., not 0x.. \(seed 2\)$", done.stderr, re.M)), 3)

    def test_json(self):
        for command, count in (("ping", 2), ("put", 4), ("get", 4)):
            done = loop(command, "--json", "--count", count, *(["--interval", 1] if command == "ping" else ["--verify"]))
            report = json.loads(done.stdout)
            self.assertEqual((report["form"], report["version"]), (f"o2ref/{command}/output", 1))
            self.assertEqual((report["nid"], report["peer"]), ("10.0.0.1@o2ib", PEER))
            self.assertEqual((report["done"], report["failed"], report["wrong"]), (count, 0, 0))
            self.assertEqual(report["verified"], 0 if command == "ping" else count)
            self.assertEqual(report["bytes"], count * (48 if command == "ping" else 65536))
            self.assertLessEqual(report["min_us"], report["mean_us"])
            self.assertLessEqual(report["mean_us"], report["max_us"])
            self.assertAlmostEqual(report["operations_per_second"], count / report["seconds"], delta=1)

    def test_progress(self):
        # The command waits for an answer that never comes, long enough to print two lines.
        done = loop("get", "--size", 100, "--portal", 62, "--timeout", 3, "--progress")
        self.assertEqual(done.returncode, FAILED)
        self.assertGreaterEqual(done.stderr.count("get: 0 done, 0 failed, 0.0 MB/s, 0/s\n"), 2)

    def test_networks_and_nids(self):
        self.assertIn("10.77.0.2@o2ib7\n", loop("ping", peer="10.77.0.2@o2ib7").stdout)
        self.assertEqual(loop("ping", peer="10.0.0.1@o2ib").returncode, OK)
        self.assertEqual(loop("ping", "--nid", "10.77.0.9@o2ib").returncode, OK)


class Quirks(unittest.TestCase):
    """Quirks of a peer (docs/peer.md, "Quirks"): the command that a quirk affects names it."""

    def well(self, quirk, *arguments):
        done = loop(*arguments, "--loop-quirk", quirk)
        self.assertEqual((done.returncode, done.stderr), (OK, ""), (quirk, arguments))

    def named(self, pattern, quirk, *arguments):
        done = loop(*arguments, "--loop-quirk", quirk)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (FAILED, 1), done.stderr)
        self.assertRegex(done.stderr, r"^o2ref: (reading back )?(ping|PUT|GET) \d+.*" + pattern)

    def test_sums_signed(self):
        self.well("sums-signed", "put", "--verify", "--count", 9)
        self.well("sums-signed", "put", "--verify", "--count", 9, "--size", 3000, "--checksum", "signed")
        self.well("sums-signed", "put", "--verify", "--count", 9, "--size", 3000, "--checksum", "auto")
        self.named(r"fatal \(reason 3\)", "sums-signed", "put", "--checksum", "unsigned")
        self.named(r"fatal \(reason 3\)", "sums-signed", "ping", "--checksum", "unsigned")

    def test_sums_other_bytes(self):
        for command in (["ping"], ["get", "--size", 3000, "--verify"]):
            self.named("wire/header/checksum: .*--tolerate-immediate-checksum", "sums-other-bytes", *command)
            self.well("sums-other-bytes", *command, "--tolerate-immediate-checksum")
        self.well("sums-other-bytes", "get", "--verify")

    def test_second_page_wrong(self):
        self.named("byte 1096 is 0xee, not 0x", "second-page-wrong", "get", "--size", 3000, "--offset", 3000, "--verify")
        self.named("byte 1096 is 0xee, not 0x", "second-page-wrong", "put", "--size", 3000, "--offset", 3000, "--verify")
        self.well("second-page-wrong", "get", "--size", 1096, "--offset", 3000, "--verify")
        self.well("second-page-wrong", "get", "--verify")
        self.well("second-page-wrong", "ping")

    def test_short_get_claims(self):
        # A GET of the last 4096 bytes of the served memory and 4096 bytes beyond its end.
        short = ("get", "--size", 8192, "--offset", (8 << 20) - 4096)
        self.named("the peer reports 8192 bytes and wrote 0 of them$", "short-get-claims", *short, "--verify")
        self.named("the peer reports 8192 bytes and wrote 0 of them$", "short-get-claims", *short, "--verify", "--accept-short")
        self.well("short-get-claims", "get", "--verify")
        # A transfer that fits an IMMEDIATE uses no GET_REQ.
        self.named("short: the peer reports 1000 of 3000 bytes$", "short-get-claims", "get", "--size", 3000, "--offset", (8 << 20) - 1000)

    def test_gapped_source_silent(self):
        self.named(r"waited \d+ ms for the peer's GET_DONE, limit 1000 ms$", "gapped-source-silent", "get", "--timeout", 1)
        self.well("gapped-source-silent", "get", "--mode", "fmr", "--verify")
        self.well("gapped-source-silent", "put", "--verify")

    def test_closes_first(self):
        for command in ("ping", "put", "get"):
            self.named(r"the peer has ended the connection \(DREQ\)$", "closes-first", command)
        # Operations are numbered from 0, also those of ping.
        self.assertIn("o2ref: ping 0 at ", loop("ping", "--loop-quirk", "closes-first").stderr)
        # The PUT ends when the device has acknowledged it, but the peer has not received it.
        self.named(r"the peer has ended the connection \(DREQ\)$", "closes-first", "put", "--no-ack", "--size", 100, "--verify")

    def test_late(self):
        for command, answer in ((["ping"], "LNet's REPLY"), (["put"], "the peer's PUT_ACK"), (["put", "--size", 3000], "LNet's ACK"),
                                (["get"], "the peer's GET_DONE"), (["get", "--size", 3000], "LNet's REPLY")):
            self.named(rf"waited \d+ ms for {answer}, limit 1000 ms$", "late=1500", *command, "--timeout", 1)
        # Of several late operations, the one is reported for whose answer the others have waited.
        self.named(r"waited \d+ ms for the peer's PUT_ACK, limit 1000 ms$", "late", "put", "--timeout", 1, "--in-flight", 64,
                   "--count", 100)
        self.well("late=300", "ping", "--count", 3, "--interval", 1)
        self.well("late=300", "put", "--verify")

    def test_several(self):
        self.named(r"fatal \(reason 3\)", "late=100,sums-signed", "put", "--checksum", "unsigned")

    def test_words(self):
        self.assertRegex(run("serve", "--help").stdout, r"(?m)^  late\[=MS\] +each message .*\n")
        for arguments in (("serve", "--quirk", "late=60001"), ("serve", "--quirk", "closes-first", "--quirk", "late=60001"),
                          ("ping", "--loop-quirk", "late,late=60001", PEER)):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (USAGE, 1), done.stderr)
            self.assertRegex(done.stderr, "-quirk is 'late=60001', not one of: sums-signed, .*, MS 1 to 60000 ")


class Refusals(unittest.TestCase):
    def refused(self, status, pattern, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, status, arguments)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertRegex(done.stderr, r"^o2ref: " + pattern, arguments)
        return done

    def test_help(self):
        for command in ("serve", "ping", "put", "get"):
            done = run(command, "--help")
            self.assertEqual((done.returncode, done.stderr), (OK, ""))
            self.assertTrue(done.stdout.startswith(f"usage: o2ref {command} [OPTION]..."))
            # Every option in the help text is accepted.
            for option in re.findall(r"^  (?:-h, )?--([a-z-]+)", done.stdout, re.M):
                again = run(command, "--device", "loop", f"--{option}", "--help")
                self.assertNotIn("is no option", again.stderr, option)
            self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)

    def test_usage(self):
        for pattern, arguments in (
            ("exactly one NID", ["ping", "--device", "loop"]),
            ("exactly one NID", ["put", "--device", "loop", PEER, PEER]),
            ("'10.77.0.2' is no NID", ["ping", "10.77.0.2"]),
            ("'10.77.0.2@tcp' is no NID", ["ping", "10.77.0.2@tcp"]),
            ("'0.0.0.0@o2ib' is no NID", ["ping", "0.0.0.0@o2ib"]),
            ("'fe80::1@o2ib' is no NID", ["ping", "fe80::1@o2ib"]),
            ("'x' is no NID", ["ping", "--nid", "x", PEER]),
            ("'10.77.0.2@o2ib' is our own NID", ["ping", "--nid", PEER, PEER]),
            ("'10.77.0.2@o2ib' is not on the network", ["ping", "--nid", "10.77.0.1@o2ib1", PEER]),
            ("unexpected argument 'x'", ["serve", "x"]),
            ("--size is '0', not a number of 1 to 1048576", ["put", "--size", "0", PEER]),
            ("--size is '1048577'", ["put", "--size", "1048577", PEER]),
            ("--size is '-1'", ["put", "--size", "-1", PEER]),
            ("--size is '1k'", ["put", "--size", "1k", PEER]),
            ("--count is '0'", ["get", "--count", "0", PEER]),
            ("--fragments is '258'", ["get", "--fragments", "258", PEER]),
            ("--in-flight is '256', not a number of 1 to 255", ["get", "--in-flight", "256", PEER]),
            ("--port is '65536'", ["ping", "--port", "65536", PEER]),
            ("--queue-depth is '1'", ["ping", "--queue-depth", "1", PEER]),
            ("--checksum is 'sometimes', not off, unsigned, signed or auto", ["put", "--checksum", "sometimes", PEER]),
            # --checksum once was a flag; now it takes the next word, the peer's name, as its value.
            (f"--checksum is '{PEER}', not off, unsigned, signed or auto", ["ping", "--checksum", PEER]),
            ("'--checksum' is no option, or its value is missing", ["serve", "--checksum"]),
            ("--mode is 'fast'", ["put", "--mode", "fast", PEER]),
            ("--match-bits is '0x10000000000000000'", ["get", "--match-bits", "0x10000000000000000", PEER]),
            ("--offset is '4294967296', not a number of 0 to 4294967295", ["get", "--offset", "4294967296", PEER]),
            ("--offset is 4294967295: the last of 2 in flight, 65536 bytes apart, is at 4295032831, limit 4294967295",
             ["put", "--offset", "4294967295", "--verify", "--count", "9", "--in-flight", "2", PEER]),
            ("--offset is 4294901761: the last of 2 in flight, 65536 bytes apart, is at 4294967297, limit 4294967295",
             ["put", "--offset", "4294901761", "--verify", "--count", "2", PEER]),
            ("4 bytes cannot be in 5 pieces", ["get", "--size", "4", "--fragments", "5", PEER]),
            ("--buffer is '60'", ["serve", "--buffer", "60"]),
            ("--buffer is '60:1:0'", ["serve", "--buffer", "60:1:0"]),
            ("--buffer is '60:1:67108865'", ["serve", "--buffer", "60:1:67108865"]),
            ("--buffer is '60:1:rw'", ["serve", "--buffer", "60:1:rw"]),
            ("--buffer is '60:1:ro:9'", ["serve", "--buffer", "60:1:ro:9"]),
            ("--buffer is '1:1'", ["serve"] + ["--buffer", "1:1"] * 17),
            ("'--no-ack' is no option", ["get", "--no-ack", PEER]),
            ("'--timeout' is no option, or its value", ["get", "--timeout"]),
            ("--ack-timeout is '0', not a number of 1 to 31", ["serve", "--ack-timeout", 0]),
            ("--ack-timeout is '32', not a number of 1 to 31", ["ping", "--ack-timeout", 32, PEER]),
            ("--retries is '7', not a number of 0 to 6", ["put", "--retries", 7, PEER]),
            ("--rnr-retries is '-1', not a number of 0 to 6", ["get", "--rnr-retries", -1, PEER]),
        ):
            with self.subTest(arguments=arguments):
                self.refused(USAGE, pattern, *arguments)

    def test_who_runs_them_has_no_others(self):
        for program in ("o2ref-net", "o2ref-net-loop"):
            done = suite.ended([Path(PROGRAM).with_name(program), "decode", PEER], (USAGE,), text=True)
            self.assertEqual(done.stderr, "o2ref: 'decode' is not a command of this program (see: o2ref --help)\n")

    def test_no_device(self):
        self.refused(USAGE, r"there is no RDMA device none9 ", "ping", "--device", "none9", PEER)
        self.refused(USAGE, r"there is no RDMA device none9 ", "ping", "--device", "loop", "--dev=none9", PEER)

    def test_the_last_device_counts_however_it_is_written(self):
        for words in (["--dev", "loop"], ["--device", "none9", "--devic=loop"]):
            with self.subTest(words):
                self.assertEqual(run("ping", *words, PEER).returncode, OK)
        self.refused(USAGE, r"device loop is a network inside the process", "serve", "--device", "loop")

    def test_nothing_there(self):
        self.refused(FAILED, r"GET 0 at 10.77.0.2@o2ib: no matching memory at that portal .*ENODATA",
                     "get", "--device", "loop", "--portal", 62, PEER)
        self.refused(FAILED, r"PUT 0 at 10.77.0.2@o2ib: no matching memory at that portal .*ENODATA.*: lnet/put/no-match: "
                     r"PUT_NAK's status is 0 \(",
                     "put", "--device", "loop", "--match-bits", "0x1235", PEER)
        self.refused(FAILED, r"GET 0 at 10.77.0.2@o2ib: no matching memory .* too small .*ENODATA",
                     "get", "--device", "loop", "--offset", 8 << 20, PEER)
        # The largest offset is sent unchanged: the command itself refuses it only if something must be added to it.
        for more in (["--in-flight", 2, "--count", 2], ["--verify"]):
            done = loop("put", "--offset", 4294967295, *more)
            self.assertEqual(done.returncode, FAILED)
            self.assertRegex(done.stderr, "^o2ref: PUT 0 at 10.77.0.2@o2ib: no matching memory .* too small .*ENODATA")
        # Portal 61 can only be read.
        self.refused(FAILED, r"PUT 0 at 10.77.0.2@o2ib: no matching memory .*ENODATA", "put", "--device", "loop", "--portal", 61, PEER)
        # A small GET gets no answer at all.
        self.refused(FAILED, r"GET 0 at 10.77.0.2@o2ib: no answer in time \(ETIMEDOUT\): our deadline: "
                     r"waited \d+ ms for LNet's REPLY, limit 1000 ms",
                     "get", "--device", "loop", "--size", 100, "--portal", 62, "--timeout", 1, PEER)

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "ping", "--device", "loop", PEER], stdout=full, stderr=subprocess.PIPE,
                                  timeout=60, check=False)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn(b"standard output", done.stderr)

    def interrupted(self, *words, least=0):
        """Interrupt a command after half a second; if it has not ended `least` operations by then, another one later."""
        for seconds in (0.5, 5, 30):
            with subprocess.Popen([PROGRAM, *map(str, words), PEER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
                await_handler(running, signal.SIGINT)
                time.sleep(seconds)
                running.send_signal(signal.SIGINT)
                out, err = running.communicate(timeout=60)
            self.assertEqual(running.returncode, FAILED)
            self.assertRegex(err, r"^o2ref: ended after \d+ of \d+ operations\n$")
            done, count = map(int, re.findall(r"\d+", err)[1:])
            if done >= least:
                break
        self.assertLess(done, count)
        return out, done

    def test_what_a_signal_has_ended_does_not_look_whole(self):
        for command in ("put", "get"):
            for more in ((), ("--in-flight", 8), ("--verify",)):
                with self.subTest(command=command, more=more):
                    out, done = self.interrupted(command, "--device", "loop", "--count", 4294967295, *more, "--json", least=1)
                    report = json.loads(out)
                    self.assertEqual((report["done"], report["failed"]), (done, 0))
                    self.assertGreater(done, 0)
        out, done = self.interrupted("ping", "--device", "loop", "--count", 100, "--interval", 60000, least=1)
        self.assertEqual((done, out.count("\n"), out.count("ping: 1 done, 0 failed, ")), (1, 2, 1))
        for command in ("ping", "get"):
            self.assertEqual(self.interrupted(command, "--device", "loop", "--loop-quirk", "late=5000")[1], 0)

    def test_a_signal_while_lines_wait_for_their_reader(self):
        """What the command has printed by then is whole."""
        reader, writer = os.pipe()
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        with open(reader, encoding="utf-8") as lines, subprocess.Popen(
                [PROGRAM, "ping", "--device", "loop", "--count", "2000", "--interval", "0", PEER], stdout=writer,
                stderr=subprocess.PIPE, text=True) as running:
            os.close(writer)
            while running.poll() is None and not suite.waits_for_a_reader(running.pid):
                time.sleep(0.01)
            running.send_signal(signal.SIGINT)
            while suite.in_signal_set(running.pid, "ShdPnd", signal.SIGINT):
                time.sleep(0.01)
            *pings, summary = lines.read().splitlines()
            err = running.stderr.read()
        self.assertEqual((running.returncode, err), (FAILED, f"o2ref: ended after {len(pings)} of 2000 operations\n"))
        self.assertIn(f"ping: {len(pings)} done, 0 failed", summary)

    def test_a_signal_ends_it(self):
        running = subprocess.Popen([PROGRAM, "ping", "--device", "loop", "--count", "1000", PEER], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertIn(PEER, running.stdout.readline())
        running.send_signal(signal.SIGTERM)
        out, err = running.communicate(timeout=20)
        self.assertEqual((running.returncode, err), (FAILED, "o2ref: ended after 1 of 1000 operations\n"))
        self.assertIn("ping: 1 done, 0 failed", out)


if __name__ == "__main__":
    sys.exit(suite.run(suite.of(sys.modules[__name__])))
