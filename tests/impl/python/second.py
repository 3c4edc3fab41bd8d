#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""An implementation of all stages over the process protocol of docs/oracle.md: o2ref check -- ./second.py

The codec in codec.py encodes and decodes messages. The other stages are in the files from which
they are imported.
"""

import json
import struct
import sys
from pathlib import Path

# codec.py is in the folder of this file, or in the folder of the tests of the wire format.
sys.path.append(str(Path(__file__).resolve().parents[2] / "judge" / "wire"))
sys.dont_write_bytecode = True

import codec  # noqa: E402
from chain import rdma_chain  # noqa: E402
from connect import connect  # noqa: E402
from deliver import deliver  # noqa: E402
from device import device  # noqa: E402
from flow import flow  # noqa: E402
from keys import keys  # noqa: E402
from mapping import dma_map, rdma_plan, sg_build  # noqa: E402
from refusal import Refuse  # noqa: E402
from registration import reg_plan  # noqa: E402
from send import send_plan  # noqa: E402
from setup import setup  # noqa: E402
from transfer import transfer  # noqa: E402


def options_of(form):
    return dict(codec.NO_OPTIONS, **form.get("options", {}))


def msg_decode(form):
    return {"message": codec.to_json(codec.decode(bytes.fromhex(form["bytes"]), options_of(form)))}


def msg_encode(form):
    return {"bytes": codec.encode(codec.from_json(form["message"]), options_of(form)).hex()}


STAGES = {"msg_decode": msg_decode, "msg_encode": msg_encode, "sg_build": sg_build, "dma_map": dma_map,
          "reg_plan": reg_plan, "rdma_plan": rdma_plan, "transfer": transfer}
# The stages of version 2; each answer lists them.
LATER = {"device": device, "rdma_chain": rdma_chain, "connect": connect, "deliver": deliver,
         "keys": keys, "send_plan": send_plan, "setup": setup, "flow": flow}


def answer(form):
    stage = form["form"].split("/")[1]
    try:
        result = {**STAGES, **LATER}[stage](form)
    except Refuse as error:
        result = {"refused": error.form}
    except codec.Refused as error:
        result = {"refused": error.answer}
    return {"form": f"o2ref/{stage}/output", "version": 1, "stages": list(LATER), **result}


def main():
    while head := sys.stdin.buffer.read(4):
        length, = struct.unpack("<I", head)
        request = json.loads(sys.stdin.buffer.read(length))
        frame = json.dumps(answer(request), separators=(",", ":")).encode()
        sys.stdout.buffer.write(struct.pack("<I", len(frame)) + frame)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
