#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A program for tests/system/test_oracle.py that speaks the process protocol with the mistake that its argument names.

It accepts requests of sg_build only and exits with status 89 on others. Without a mistake its answers are "not implemented".
"""

import io
import json
import os
import struct
import sys
import time

MISTAKE = sys.argv[1]
KEPT = []
OUT = io.BufferedWriter(io.FileIO(1, "wb", closefd=False), 1 << 16)


def read(length):
    """Read length bytes. With the mistake "short-read": the result of a single read, which may be shorter."""
    if MISTAKE == "short-read":
        return os.read(0, length)
    data = b""
    while len(data) < length:
        more = os.read(0, length - len(data))
        if not more:
            return data
        data += more
    return data


def refusal(errno="EINVAL", rule="talker-length"):
    return {"form": "o2ref/sg_build/output", "version": 1, "refused": {"errno": errno, "rule": rule}}


def answer(request):
    if request["form"] != "o2ref/sg_build/input":
        sys.exit(89)
    if MISTAKE in ("refuse-all", "grow"):
        return refusal()
    if MISTAKE == "forge":
        return refusal(rule="x\x1b[2J\nFORGED")
    form = {"form": "o2ref/sg_build/output", "version": 1, "not_implemented": True}
    if MISTAKE == "other-form":
        form["form"] = "o2ref/dma_map/output"
    if MISTAKE == "missing-field":
        return {"form": "o2ref/sg_build/output", "version": 1, "list": {"gaps": False}}
    if MISTAKE == "bad-errno":
        return refusal("EWHAT")
    if MISTAKE.startswith("bad-"):
        form = refusal()
        form["refused"].update({"bad-class": {"class": "conection"}, "bad-rule": {"rule": 7}, "bad-index": {"index": "0"}}[MISTAKE])
    return form


def send(text):
    head = struct.pack("<I", len(text))
    if MISTAKE == "no-length":
        head = b""
    elif MISTAKE == "big-endian":
        head = struct.pack(">I", len(text))
    elif MISTAKE == "length-of-all":
        head = struct.pack("<I", len(text) + 4)
    elif MISTAKE == "no-json":
        text = b"{" * len(text)
    elif MISTAKE == "newline":
        text += b"\n"
    for _ in range(2 if MISTAKE == "twice" else 1):
        OUT.write(head + text)
        if MISTAKE != "no-flush":
            OUT.flush()
            time.sleep(0.01 * (MISTAKE == "twice"))


def main():
    while True:
        head = read(4)
        if len(head) < 4:
            break
        request = json.loads(read(struct.unpack("<I", head)[0]))
        form = answer(request)
        if MISTAKE == "grow":
            KEPT.append(bytearray(os.urandom(1 << 16)))
        if MISTAKE == "two-places" and request["buffer"]["kind"] == "iov":
            raise ValueError(request["buffer"]["nob"])
        if MISTAKE == "two-places":
            raise KeyError(request["buffer"]["nob"])
        if MISTAKE == "crash":
            os.abort()
        if MISTAKE == "exit":
            sys.exit(3)
        if MISTAKE == "exit-loud":
            sys.stderr.buffer.write(b"panic \xff\n")
            sys.exit(3)
        if MISTAKE == "hang-loud":
            print("looking at a", request["buffer"]["kind"], file=sys.stderr, flush=True)
        if MISTAKE in ("hang", "hang-loud"):
            time.sleep(3600)
        if MISTAKE == "closes":
            os.close(1)
            time.sleep(3600)
        if MISTAKE == "print":
            print(f"looking at {request['buffer']}", flush=True)
        send(json.dumps(form).encode())
        if MISTAKE == "one-request":
            break
    OUT.flush()
    if MISTAKE == "stays":
        time.sleep(3600)


main()
