#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test `o2ref decode --pcap -` with a capture of more than 1 GiB from a pipe: every packet is counted, every message is
decoded, and memory does not grow with the capture; in pcap format and in pcapng.

The capture repeats one conversation of corpus/captures/pcap: a connection is made, and two PUTs of 64 KiB follow. The
expected figures are found by decoding the conversation alone.

    tests/system/test_capture.py O2REF
"""

import os
import re
import struct
import subprocess
import sys
import threading
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from cli.pcap_cases import packets_of, pcapng  # noqa: E402

FOLDER = Path(__file__).resolve().parents[2] / "corpus" / "captures" / "pcap"
HEADER_BYTES = 24
LONG_BYTES = (1 << 30) + (1 << 26)
EARLY_BYTES = 1 << 25  # by then memory use has reached its final size
GROWTH_KIB = 2048
LIMIT_KIB = 32 * 1024  # docs/cli.md, "Captures"
FIELDS = re.compile(r"(\d+) (packets|SENDs|WRITEs|connection manager|ACKs|NAKs|repeated|of other protocols|refused)")
CONVERSATION = ["ping.plain.pcap", "put_64K.cksum.pcap"]


def totals(line):
    return {name: int(number) for number, name in FIELDS.findall(line)}


def records(name):
    data = (FOLDER / name).read_bytes()
    assert struct.unpack("<I", data[:4]) == struct.unpack("<I", (FOLDER / CONVERSATION[0]).read_bytes()[:4])
    return data[HEADER_BYTES:]


def peak_kib(pid):
    """The process's peak memory in KiB so far; 0 if it has ended."""
    found = re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found.group(1)) if found else 0


def decode(program, header, block, times):
    """(totals, lines, memory early on and just before the end, exit status) for so many blocks."""
    seen = {"lines": 0, "last": b""}

    def read(stream):
        for line in stream:
            seen["lines"] += 1
            seen["last"] = line

    # Keep the address sanitizer's quarantine of freed memory small: it does not belong to the command.
    sanitizer = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "quarantine_size_mb=1")))
    with subprocess.Popen([program, "decode", "--pcap", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env={**os.environ, "ASAN_OPTIONS": sanitizer}) as child:
        reader = threading.Thread(target=read, args=(child.stdout,))
        reader.start()
        early, late = 0, 0
        try:
            child.stdin.write(header)
            for number in range(times):
                child.stdin.write(block)
                if early == 0 and (number + 1) * len(block) >= EARLY_BYTES:
                    early = peak_kib(child.pid)
            # By now the command has read everything except the content of the pipe.
            child.stdin.flush()
            late = peak_kib(child.pid)
            child.stdin.close()
        except BrokenPipeError:
            pass  # its exit status tells the reason
        reader.join()
    return totals(seen["last"].decode()), seen["lines"], (early, late), child.returncode


def problems_of(program, header, block):
    one, lines, _, status = decode(program, header, block, 1)
    if status != 0 or one["packets"] < 50:
        yield f"one conversation: exit status {status}, {one}"
    times = -(-LONG_BYTES // len(block))
    many, many_lines, (early, late), status = decode(program, header, block, times)
    print(f"{times} conversations, {times * len(block)} bytes: {many}, {many_lines} lines; "
          f"{early} KiB after {EARLY_BYTES} bytes, {late} KiB at the end")
    if status != 0:
        yield f"exit status {status}"
    # Each conversation begins with a new connection, so repeated sequence numbers are no error.
    expected = {name: number * times for name, number in one.items()}
    if many != expected or many_lines != (lines - 1) * times + 1:
        yield f"expected {expected}, {(lines - 1) * times + 1} lines"
    if late - early > GROWTH_KIB:
        yield f"memory grew by {late - early} KiB, limit {GROWTH_KIB}"
    # With sanitizers the limit is not checked, as their own memory would count.
    if b"__asan_init" not in Path(program).read_bytes() and late > LIMIT_KIB:
        yield f"{late} KiB at the end, limit {LIMIT_KIB}"


def main():
    program = sys.argv[1]
    header = (FOLDER / CONVERSATION[0]).read_bytes()[:HEADER_BYTES]
    block = b"".join(map(records, CONVERSATION))
    newer = pcapng([])
    problems = [*problems_of(program, header, block),
                *problems_of(program, newer, pcapng(packets_of(header + block))[len(newer):])]
    for line in problems:
        print(line, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
