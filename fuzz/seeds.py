#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Write the named seeds of sg_kiov, sg_iov, rdma_plan and json (docs/fuzzing.md, "Corpora").

A seed is a choice sequence: the numbers that a target draws, each in the fewest whole bytes that hold its
maximum, big-endian (docs/properties.md).  The order of the draws is the target's; its source begins with it.

Usage: fuzz/seeds.py [--check]     --check writes nothing and fails if corpus/ differs; without it other files there go
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
import json_seeds  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
U64 = 2**64 - 1
WILD = [0, 1, 4095, 4096, 4097, 2**16 - 1, 2**20, 2**31 - 1, 2**32 - 1, 2**32, 2**63 - 1, U64 - 4095, U64]
PAGE_SIZES = [4096, 16384, 65536]


class Choices:
    """Draws, encoded as props/engine/choice.h says."""

    def __init__(self):
        self.data = b""

    def draw(self, value, most):
        assert 0 <= value <= most, (value, most)
        self.data += value.to_bytes((most.bit_length() + 7) // 8, "big")
        return value

    def option(self, index, weights):
        self.draw(sum(weights[:index]), sum(weights) - 1)

    def wild(self, value):
        self.draw(WILD.index(value) if value in WILD else len(WILD), len(WILD))
        if value not in WILD:
            self.draw(value, U64)

    def elements(self, items, least, most, write):
        """A list behind o2_draw_more(): each element is announced, and so is the end."""
        for have, item in enumerate(items):
            if have >= least:
                self.option(1, (1, 31) if most > 3 else (1, 3))
            write(self, have, item)
        if len(items) < most:
            self.option(0, (1, 31) if most > 3 else (1, 3))


MAX_PIECES = 264


def head(c, page_bytes, legacy, npages):
    c.option(PAGE_SIZES.index(page_bytes), (40, 10, 10, 1))
    c.option(1 if legacy else 0, (30, 30, 1))
    c.draw(npages, 255)


def window(c, total, offset, nob):
    if offset == 0 and nob in (None, total):
        c.option(0, (8, 16, 1))
    elif nob is not None and offset <= total and nob <= total - offset + 1:
        c.option(1, (8, 16, 1))
        c.draw(offset, total)
        c.draw(nob, min(total - offset + 1, U64))
    else:
        c.option(2, (8, 16, 1))
        c.wild(offset)
        c.wild(nob)


def kiov(pieces, page_bytes=4096, legacy=False, offset=0, nob=None):
    """Pieces are (page, offset, length), or ("wild", page, offset, length)."""
    c = Choices()
    head(c, page_bytes, legacy, 255)
    shapes = (16, 16, 8, 2, 1)

    def write(c, _have, piece):
        if piece[0] == "wild":
            c.option(4, shapes)
            for number in piece[1:]:
                c.wild(number)
            return
        page, start, length = piece
        shape = 3 if length == 0 else 0 if (start, length) == (0, page_bytes) else 2 if start == 0 else 1
        c.option(shape, shapes)
        c.draw(page, 254)
        if shape == 1:
            c.draw(start, page_bytes)
        if shape in (1, 2):
            c.draw(length, page_bytes - start)

    c.elements(pieces, 1, MAX_PIECES, write)
    window(c, sum(piece[-1] for piece in pieces), offset, nob)
    return c.data


def iov(pieces, ranges=((0, 7, 300),), page_bytes=4096, offset=0, nob=None):
    """Ranges are (start, stride, pages).  Pieces: ("pages", n) on the next page boundary, (range, offset, length)
    or ("wild", base, length)."""
    c = Choices()
    head(c, page_bytes, False, 255)
    shapes = (16, 16, 2, 1)

    def write_range(c, _have, numbers):
        c.draw(numbers[0], 255)
        c.draw(numbers[1], 255)
        c.option(0, (15, 1))
        c.draw(numbers[2], 300)

    def write_piece(c, _have, piece):
        if piece[0] == "wild":
            c.option(3, shapes)
            c.wild(piece[1])
            c.wild(piece[2])
        elif piece[0] == "pages":
            c.option(0, shapes)
            c.draw(piece[1] - 1, 15)
        else:
            c.option(2 if piece[2] == 0 else 1, shapes)
            c.draw(piece[0], max(0, len(ranges) - 1))
            c.draw(piece[1], ranges[piece[0]][2] * page_bytes)
            if piece[2] != 0:
                c.draw(piece[2], 65535)

    c.elements(ranges, 0, 3, write_range)
    c.elements(pieces, 1, MAX_PIECES, write_piece)
    total = 0
    for piece in pieces:
        length = piece[1] * page_bytes if piece[0] == "pages" else piece[-1]
        total += length if total + length <= U64 else 0
    window(c, total, offset, nob)
    return c.data


def plan(source, sink, nob=None, max_wrs=257, wrq_sge=2, nfrags=None):
    """Fragments are "page", (address, length), "empty" or ("wild", address, length)."""
    c = Choices()
    shapes = (16, 16, 2, 1)

    def write(c, _have, fragment):
        if fragment in ("page", "empty"):
            c.option(0 if fragment == "page" else 2, shapes)
        elif fragment[0] == "wild":
            c.option(3, shapes)
            c.wild(fragment[1])
            c.wild(fragment[2])
        else:
            c.option(1, shapes)
            c.draw(fragment[0], 65535)
            c.draw(fragment[1] - 1, 255)

    totals = []
    for fragments in (source, sink):
        c.elements(fragments, 1, 257, write)
        c.option(0 if nfrags is None else 1, (40, 1))
        if nfrags is not None:
            c.wild(nfrags)
        totals.append(sum(4096 if f == "page" else 0 if f == "empty" else f[-1] for f in fragments))
    least = min(totals)
    choice = 0 if nob in (None, least) else 1 if nob <= least else 2 if nob == least + 1 else 3
    c.option(choice, (16, 16, 2, 1))
    if choice == 1:
        c.draw(nob, least)
    if choice == 3:
        c.wild(nob)
    for value, usual, most in ((max_wrs, 257, 257), (wrq_sge, 2, 32)):
        c.option(0 if value == usual else 1 if 1 <= value <= most + 1 else 2, (16, 16, 1))
        if value != usual:
            c.draw(value - 1, most) if 1 <= value <= most + 1 else c.wild(value)
    return c.data


def whole(n, stride=7, page_bytes=4096):
    return [(i * stride % 255, 0, page_bytes) for i in range(n)]


def unaligned(n):
    """n entries without a gap: only the first page's beginning and the last page's end are missing."""
    return [(3, 100, 3996), *whole(n - 2), (9, 0, 100)]


KIOV = {
    "one-page": kiov(whole(1)),
    "one-byte": kiov([(5, 4095, 1)]),
    "256-whole-pages": kiov(whole(256)),
    "257-entries-unaligned": kiov(unaligned(257)),
    "257-entries-limit-256": kiov(unaligned(257), legacy=True),
    "258-entries": kiov([(1, 1, 1)] * 258),
    "dense-partial-ends": kiov(unaligned(5)),
    "gap-page-in-the-middle-not-full": kiov([(1, 0, 4096), (2, 0, 2048), (3, 0, 4096)]),
    "gap-page-in-the-middle-starts-late": kiov([(1, 0, 4096), (2, 2048, 2048), (3, 0, 4096)]),
    "gap-touching-inside-one-page": kiov([(1, 0, 1000), (1, 1000, 3096)]),
    "empty-piece-in-the-middle": kiov([(1, 0, 4096), (2, 77, 0), (3, 0, 4096)]),
    "empty-pieces-only": kiov([(1, 0, 0), (2, 0, 0)]),
    "same-page-twice": kiov([(4, 0, 4096), (4, 0, 4096)]),
    "offset-skips-two-pieces": kiov(whole(4), offset=9000, nob=4000),
    "offset-ends-at-a-piece": kiov(whole(3), offset=4096, nob=8192),
    "spare-pieces-behind-the-end": kiov(unaligned(6), offset=0, nob=5000),
    "one-byte-short": kiov(whole(2), offset=0, nob=8193),
    "nob-zero": kiov(whole(2), offset=100, nob=0),
    "nob-above-1-mib": kiov(whole(257)),
    "offset-at-2-to-the-64": kiov(whole(2), offset=U64, nob=U64),
    "piece-past-its-page": kiov([(1, 0, 4096), ("wild", 2, 1, 4096)]),
    "page-does-not-exist": kiov([(1, 0, 4096), ("wild", 255, 0, 4096)]),
    "sum-of-offset-and-length-wraps": kiov([("wild", 1, 2**32 - 1, 4096)]),
    "bad-piece-behind-the-end": kiov([(1, 0, 4096), ("wild", 255, 0, 4097)], nob=4096),
    "page-size-16384": kiov(whole(4, page_bytes=16384), page_bytes=16384),
    "page-size-65536": kiov([(1, 4096, 61440), (2, 0, 65536), (3, 0, 10)], page_bytes=65536),
}

IOV = {
    "one-page": iov([("pages", 1)]),
    "one-byte-at-a-page-end": iov([(0, 4095, 1)]),
    "two-bytes-over-a-boundary": iov([(0, 4095, 2)]),
    "16-pages-scattered": iov([("pages", 16)]),
    "256-pages": iov([("pages", 16)] * 16),
    "257-pages-unaligned": iov([("pages", 16)] * 17, offset=100, nob=2**20),
    "piece-longer-than-the-transfer": iov([("pages", 16)], offset=5000, nob=20000),
    "gap-second-piece-starts-late": iov([(0, 0, 4096), (0, 8292, 3996)]),
    "gap-first-piece-ends-early": iov([(0, 0, 4000), (0, 8192, 4096)]),
    "dense-two-pieces": iov([(0, 100, 3996), (0, 8192, 5000)]),
    "touching-inside-one-page": iov([(0, 0, 1000), (0, 1000, 3096)]),
    "empty-piece-in-the-middle": iov([(0, 0, 4096), (0, 77, 0), (0, 4096, 4096)]),
    "no-range": iov([("pages", 1)], ranges=()),
    "runs-out-of-its-range": iov([(0, 4096, 8192)], ranges=((0, 7, 2),)),
    "address-zero": iov([(1, 0, 5000)], ranges=((0, 7, 10), (1, 3, 10))),
    "last-page-of-the-address-space": iov([(2, 0, 4095)], ranges=((0, 7, 10), (1, 3, 10), (2, 5, 1))),
    "end-wraps": iov([("wild", U64 - 4095, 4096)], ranges=((0, 7, 10), (1, 3, 10), (2, 5, 1))),
    "length-2-to-the-64": iov([("wild", 4096, U64)], nob=4096),
    "sum-of-lengths-wraps": iov([("wild", 0, 2**63 - 1)] * 3, offset=U64, nob=1),
    "transfer-ends-past-2-to-the-64": iov(
        [("wild", 0, U64 - 10), (0, 0, 5), (0, 100, 50)],
        ranges=((0, 7, 10), (1, 3, 10), (2, 5, 1)),
        offset=U64 - 20,
        nob=35,
    ),
    "page-size-65536": iov([("pages", 3)], page_bytes=65536, offset=70000, nob=66000),
    "one-byte-short": iov([("pages", 1)], nob=4097),
}

ROW = [(i * 200, 1 + i % 200) for i in range(40)]
PLAN = {
    "page-to-page": plan(["page"], ["page"]),
    "256-pages-to-256-pages": plan(["page"] * 256, ["page"] * 256),
    "257-fragments-to-257": plan([(7, 100), *["page"] * 255, (9, 100)], [(7, 100), *["page"] * 255, (9, 100)]),
    "one-to-many": plan(["page"], [(i * 300, 200) for i in range(20)]),
    "many-to-one": plan([(i * 300, 200) for i in range(20)], ["page"]),
    "many-to-one-wrq-sge-32": plan([(i * 300, 100) for i in range(40)], ["page"], wrq_sge=32),
    "many-to-one-wrq-sge-1": plan([(i * 300, 100) for i in range(40)], ["page"], wrq_sge=1),
    "cut-in-different-places": plan(ROW, list(reversed(ROW))),
    "shifted-by-one-byte": plan([(0, 1), *["page"] * 8], [*["page"] * 8, (1, 1)]),
    "short-ends-inside-a-sink-fragment": plan(["page"] * 2, ["page"] * 2, nob=5000),
    "short-ends-at-a-sink-fragment": plan(["page"] * 2, ["page"] * 2, nob=4096),
    "short-one-entry-of-two": plan([(0, 100)], ["page"]),
    "exactly-max-wrs": plan(["page"] * 4, ["page"] * 4, max_wrs=4),
    "one-more-than-max-wrs": plan(["page"] * 5, ["page"] * 5, max_wrs=4),
    "empty-fragments": plan(["empty", (0, 9), "empty", (50, 9)], [(0, 5), "empty", "empty", (70, 13)]),
    "empty-descriptors": plan(["empty"], ["empty"]),
    "source-too-small": plan([(0, 10)], ["page"], nob=11),
    "sink-too-small": plan(["page"], [(0, 10)], nob=11),
    "nob-zero": plan(["page"], ["page"], nob=0),
    "nob-above-1-mib": plan([("wild", 0, 2**21)], [("wild", 0, 2**21)], nob=2**20 + 1),
    "lengths-2-to-the-32": plan([("wild", 0, 2**32 - 1)] * 3, [("wild", 0, 2**32 - 1)] * 3, nob=2**20),
    "address-wraps": plan([("wild", U64, 4096)], [("wild", U64 - 4095, 4097)]),
    "count-2-to-the-32": plan(["page"], ["page"], nfrags=2**32 - 1),
    "limits-zero": plan(["page"], ["page"], max_wrs=0, wrq_sge=0),
    "limits-above": plan(["page"], ["page"], max_wrs=258, wrq_sge=33),
    "sinks-overlap": plan(["page"], [(0, 200), (100, 200)], nob=400),
}


JSON = json_seeds.seeds()


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        print(__doc__, file=sys.stderr)
        return 2
    stale = []
    for target, seeds in (("sg_kiov", KIOV), ("sg_iov", IOV), ("rdma_plan", PLAN), ("json", JSON)):
        folder = ROOT / "corpus" / target / "seed"
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in seeds.items():
            path = folder / name
            if check and (not path.exists() or path.read_bytes() != data):
                stale.append(f"{path.relative_to(ROOT)} is not what fuzz/seeds.py writes")
            elif not check:
                path.write_bytes(data)
        for path in sorted(folder.iterdir()):
            if path.name not in seeds and check:
                stale.append(f"{path.relative_to(ROOT)} is not written by fuzz/seeds.py")
            elif path.name not in seeds:
                path.unlink()
    for line in stale:
        print(line, file=sys.stderr)
    print(f"{len(KIOV) + len(IOV) + len(PLAN) + len(JSON)} seeds, {len(stale)} differ")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
