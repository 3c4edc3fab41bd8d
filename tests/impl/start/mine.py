#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A starting point for other languages: dma_map for one kind of device, over the process protocol."""

import json
import struct
import sys


def dma_map(form):
    device, entries = form["device"], form["list"]["entries"]
    if device["kind"] != "bus":
        return {"not_implemented": True}
    if not entries:
        return {"refused": {"errno": "EINVAL", "rule": "Empty"}}
    base = int(device["base"], 16)
    segments = [{"addr": hex((base + entry["page"] * device["page_bytes"] + entry["offset"]) % (1 << 64)),
                 "length": entry["length"]} for entry in entries]
    return {"list": {"nob": sum(entry["length"] for entry in entries), "segments": segments}}


while head := sys.stdin.buffer.read(4):
    request = json.loads(sys.stdin.buffer.read(struct.unpack("<I", head)[0]))
    stage = request["form"].split("/")[1]
    answer = dma_map(request) if stage == "dma_map" else {"not_implemented": True}
    answer.update(form=f"o2ref/{stage}/output", version=1)
    frame = json.dumps(answer).encode()
    sys.stdout.buffer.write(struct.pack("<I", len(frame)) + frame)
    sys.stdout.buffer.flush()
