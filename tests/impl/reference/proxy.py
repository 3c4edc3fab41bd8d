#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A program for tests/system/test_oracle.py: the reference program, with the changes that the arguments name.

usage: proxy.py PROGRAM [CHANGE]...
"""

import json
import os
import struct
import subprocess
import sys
import time

PROGRAM = sys.argv[1]
CHANGES = set(sys.argv[2:])
SERVER = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
LATE = os.environ.get("O2_LATE")  # a file with one byte for each late answer
ASKED = [0]
HELD = []
BEHIND = [{"form": "o2ref/sg_build/output", "version": 1, "refused": {"errno": "EINVAL", "rule": ""}}]


def frame(text):
    return struct.pack("<I", len(text)) + text


def ask(text):
    SERVER.stdin.write(frame(text))
    SERVER.stdin.flush()
    return json.loads(SERVER.stdout.read(struct.unpack("<I", SERVER.stdout.read(4))[0]))


def refuse(answer, errno, rule):
    return {"form": answer["form"], "version": 1, "refused": {"errno": errno, "rule": rule}}


def cut(question, answer):
    """The first entry in two, which is as good; with "other-page" its second half is on another page, which is not."""
    entries = answer["list"]["entries"]
    if entries and len(entries) < min(256, question["max_entries"]) and entries[0]["length"] >= 2:
        first, second = dict(entries[0], length=1), dict(entries[0])
        second["length"] -= 1
        second["offset"] += 1
        second["page"] ^= "other-page" in CHANGES
        answer["list"]["entries"] = [first, second, *entries[1:]]


def build(question, answer):
    """A changed answer of sg_build that is not a refusal."""
    size, kiov = question["space"]["page_bytes"], question["buffer"]["kind"] == "kiov"
    if f"refuse-{size}" in CHANGES:
        return refuse(answer, "EINVAL", "")
    if kiov and f"no-size-{size}" in CHANGES:
        return refuse(answer, "EINVAL", f"NoSize{question['buffer']['nob']}")
    if kiov and f"broken-{size}" in CHANGES:
        return refuse(answer, "EIO", "Broken")
    if kiov and f"nob-{size}" in CHANGES:
        answer["list"]["nob"] += 1
    if kiov and "now-and-then" in CHANGES and ASKED[0] % 50 < 2:
        answer["list"]["nob"] += 1
    if "null" in CHANGES:
        answer["refused"] = None
    if "cut" in CHANGES:
        cut(question, answer)
    return answer


def refused(answer):
    """A changed refusal of sg_build."""
    refusal = answer["refused"]
    if f"errno-of-{refusal['rule']}" in CHANGES:
        return refuse(answer, "EINVAL", "")
    if "errno-number" in CHANGES:
        refusal["errno"] = 22
    if "index-below" in CHANGES:
        refusal["index"] = -1
    return answer


def one_flavour(question, answer):
    """Accept no message whose checksum is over signed characters, and decode none."""
    stage = question["form"].split("/")[1]
    if stage == "msg_decode":
        return {"form": answer["form"], "version": 1, "not_implemented": True}
    if stage not in ("connect", "deliver") or question.get("event") == "reject" or "refused" in answer:
        return answer
    decoded = ask(json.dumps({"form": "o2ref/msg_decode/input", "version": 1, "bytes": question["bytes"]}).encode())
    return refuse(answer, "EPROTO", "wire/header/checksum") if '"signed"' in json.dumps(decoded) else answer


def distrust(question, answer):
    """Refuse as a decoder does: empty fragments, which is as good, and a limit of 0, which is not."""
    empty = any(fragment["rf_nob"] == 0 for side in ("source", "sink") for fragment in question[side]["rd_frags"])
    limit = answer.get("refused", {}).get("rule") == "rdma/max-wrs"
    return refuse(answer, "EPROTO", "Bad") if limit or (empty and "refused" not in answer) else answer


def loud_end():
    """Say more at first than o2ref check keeps, and in the end little."""
    if ASKED[0] <= 20:
        print("." * 65536, file=sys.stderr, flush=True)
    if ASKED[0] == 600:
        print("mine.go:7: gone", file=sys.stderr, flush=True)
        sys.exit(3)


def change(question, answer):
    if "one-flavour" in CHANGES:
        return one_flavour(question, answer)
    if f"no-{question['form'].split('/')[1]}" in CHANGES:
        sys.exit(89)
    if "too-long" in CHANGES and answer.get("refused", {}).get("rule") == "wire/header/nob-over-limit":
        return {"form": answer["form"], "version": 1, "bytes": "00" * 4098}
    if "distrust" in CHANGES and question["form"].startswith("o2ref/rdma_plan/"):
        return distrust(question, answer)
    if not question["form"].startswith("o2ref/sg_build/"):
        return answer
    ASKED[0] += 1
    if LATE and ASKED[0] % 100 == 70 and (not os.path.exists(LATE) or os.path.getsize(LATE) < 9):
        with open(LATE, "a", encoding="ascii") as file:
            file.write("x")
        time.sleep(0.9)
    if "loud-end" in CHANGES:
        loud_end()
    if "grow" in CHANGES and 40 < ASKED[0] <= 120:
        HELD.append(os.urandom(1 << 20))
    if "one-behind" in CHANGES:
        BEHIND.append(answer)
        return BEHIND.pop(0)
    return refused(answer) if "refused" in answer else build(question, answer)


def main():
    while len(head := sys.stdin.buffer.read(4)) == 4:
        text = sys.stdin.buffer.read(struct.unpack("<I", head)[0])
        answer = json.dumps(change(json.loads(text), ask(text))).encode()
        if "big-endian" in CHANGES:
            os.write(1, struct.pack(">I", len(answer)))
            time.sleep(0.01)
            os.write(1, answer)
            continue
        os.write(1, frame(answer))
        if "tail" in CHANGES:
            time.sleep(0.01)
            os.write(1, b"trailer")
    if "slow-end" in CHANGES:
        time.sleep(0.8)


if __name__ == "__main__":
    main()
