#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check that tests/unit/lnd/test_every_call.c makes every call of the library fail that can fail.

    tests/system/test_every_call.py PROGRAM

Finds the calls of libibverbs and of the memory functions in the rooms whose code runs in conversations, and compares
them with `PROGRAM --calls`.  The last line is "N passed, N failed".
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("lnd", "lnet", "mem", "rdma", "reg", "wire")
ELSEWHERE = ("cm_rdma", "_json")  # files of librdmacm and JSON, which conversations do not use
# A name followed by "(3)" or the like is a manual page, not a call.
CALL = re.compile(r"\b(ibv_\w+|malloc|calloc|realloc|aligned_alloc|mmap|memfd_create|ftruncate)\((?!\d\))")
CANNOT_FAIL = {"ibv_get_device_name", "ibv_free_device_list", "ibv_wc_status_str", "ibv_ack_cq_events"}
SAME = {"ibv_reg_mr_iova": "ibv_reg_mr"}


def calls_of(text):
    return {SAME.get(name, name) for name in CALL.findall(text)} - CANNOT_FAIL


def main():
    listed = set(subprocess.run([sys.argv[1], "--calls"], capture_output=True, text=True, check=True).stdout.split())
    failed = checked = 0
    for room in ROOMS:
        for file in sorted((ROOT / "ref" / room).rglob("*.c")):
            if any(word in file.name for word in ELSEWHERE):
                continue
            found = calls_of(file.read_text(encoding="utf-8"))
            checked += len(found)
            for name in sorted(found - listed):
                failed += 1
                print(f"{file.relative_to(ROOT)} calls {name}, which tests/lib/faults/calls.c does not let fail")
    if checked < len(listed) / 2:
        failed += 1
        print(f"only {checked} calls were found: the search is broken")
    print(f"{checked - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
