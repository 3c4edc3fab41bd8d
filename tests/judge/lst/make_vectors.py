#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Write corpus/lst: test vectors of LNet selftest's messages, and the seeds of the fuzz target.

  make_vectors.py [--check]

--check: write nothing; exit status 1 if existing files differ from what would be written.  Nothing here is random, and
nothing comes from ref/lst: the bytes are those of recordings, or made by the second codec (codec.py).
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import codec  # noqa: E402
import recordings  # noqa: E402

FOLDER = Path(__file__).resolve().parents[3] / "corpus" / "lst"
HEAD = ("# Test vectors of LNet selftest's messages (docs/lst.md): id, bytes, outcome, fields, canonical form; tabs between.\n"
        "# Made by tests/judge/lst/make_vectors.py; README.md says what the columns are.\n")


def outcome(data):
    """(outcome, message or None)"""
    try:
        return "ok", codec.decode(data)
    except codec.Refused as refused:
        return f"{refused.rule} {refused.value:x} {refused.limit:x}", refused.message


def shown(name, value):
    if name == "byte_order":
        return f"{name}={codec.ORDERS.index(value)}"
    return f"{name}={value.hex() if isinstance(value, bytes) else format(value, 'x')}"


def line(name, data):
    what, message = outcome(data)
    fields = "-" if message is None else ",".join(shown(*each) for each in message.items())
    canonical = b"" if message is None else codec.encode(message)
    again = "-" if message is None else "=" if canonical == data else canonical.hex()
    return "\t".join((name, data.hex() or "-", what, fields, again)) + "\n"


# --- recorded ---------------------------------------------------------------------------------------------------------


def status_of(message):
    return next((value for name, value in message.items() if name.endswith("_status")), -1)


def recorded():
    """(name, bytes) of the first message of each type, byte order, status, features etc. in the recordings."""
    seen = set()
    # Recording 00 is about making a connection; its messages of LNet selftest are in 01 too.
    for path in sorted(recordings.FOLDER.glob("0[1-9]*.pcap")) + sorted(recordings.FOLDER.glob("[1-9]*.pcap")):
        for number, _, _, data in recordings.messages(path):
            what, message = outcome(data)
            if message is None:
                key = what
            else:
                key = (message["byte_order"], message["msg_type"], status_of(message), message["msg_ses_feats"],
                       message.get("tsr_is_client"), message.get("bar_opc"), message.get("brw_rw"), what)
            if key not in seen:
                seen.add(key)
                kind = "refused" if message is None else codec.BODIES[message["msg_type"]][0]
                yield f"recorded/{path.name[:2]}/{number}/{kind}", data


# --- made -------------------------------------------------------------------------------------------------------------


def sample(kind, order, service=codec.SERVICE_BRW, features=1):
    """A message in which the fields of the body have different values."""
    message = {"byte_order": order, "msg_version": 1, "msg_type": kind, "msg_reserved0": 0, "msg_reserved1": 0,
               "msg_ses_feats": features}
    fields = list(codec.BODIES[kind][2])
    if kind == codec.TEST_REQUEST:
        fields += codec.parameters({"tsr_service": service, "msg_ses_feats": features})
    for index, (name, _, size) in enumerate(fields):
        number = int.from_bytes(bytes((0x11 * (index + 1) + step) % 255 + 1 for step in range(size)), "big")
        message[name] = b"name %d" % kind if size == codec.NAME_BYTES else number
    if kind == codec.TEST_REQUEST:
        message["tsr_service"] = service
    return message


def edited(data, at, new):
    return data[:at] + new + data[at + len(new):]


def made_plain(order):
    for kind, (name, size, _) in codec.BODIES.items():
        data = codec.encode(sample(kind, order))
        yield f"plain/{name}", data
        yield f"tail/{name}", data[:24 + size] + bytes(range(1, 137 - size))
        yield f"reserved/{name}", edited(data, 12, bytes(range(1, 9)))
        for field, at, width in codec.BODIES[kind][2]:
            if width != codec.NAME_BYTES:
                continue
            for note, text in (("none", b""), ("31", b"a" * 31), ("without-zero", bytes(range(0x41, 0x61))),
                               ("behind-zero", b"ab\0cd" + b"\xff" * 27), ("bytes", b"\\\x01\x7f\x80\xff\"")):
                yield f"name/{field}/{kind}/{note}", edited(data, at, text.ljust(32, b"\0"))
    for service, features in ((11, 0), (11, 2), (11, 3), (12, 0), (12, 1), (0, 1), (10, 1), (13, 0), (0xB000000, 1)):
        yield f"parameters/{service}/{features}", codec.encode(sample(codec.TEST_REQUEST, order, service, features))


def made_refused(order):
    data = codec.encode(sample(0, order))
    for length in (0, 3, 4, 8, 24, 84, 159):
        yield f"length/{length}", data[:length]
    yield "length/161", data + b"\0"
    yield "length/200", data + bytes(40)
    for at in range(4):
        yield f"magic/byte-{at}", edited(data, at, bytes((data[at] ^ 0x10,)))
    yield "magic/zero", edited(data, 0, bytes(4))
    for kind in (18, 255, 256, 0xFFFFFFFF, 0x80000000):
        yield f"type/{kind:x}", edited(data, 8, kind.to_bytes(4, order))
    for version in (0, 2, 0x01000000, 0xFFFFFFFF):
        for kind in (0, 12, 7):
            yield (f"version/{version:x}/{kind}",
                   edited(codec.encode(sample(kind, order)), 4, version.to_bytes(4, order)))
    broken = edited(edited(data, 4, (2).to_bytes(4, order)), 8, (99).to_bytes(4, order))
    yield "order/type-before-version", broken
    yield "order/magic-before-type", edited(broken, 0, b"\0\0\0\0")
    yield "order/length-before-magic", edited(broken, 0, b"\0\0\0\0")[:-1]


def vectors():
    yield from recorded()
    for order in codec.ORDERS:
        for name, data in (*made_plain(order), *made_refused(order)):
            yield f"{order}/{name}", data


# --- files ------------------------------------------------------------------------------------------------------------


def seeds():
    """(file name, bytes) of each seed: the recorded messages, and the big-endian ones except plain/ and tail/."""
    for name, data in recorded():
        yield name.replace("/", "-") + ".bin", data
    for name, data in (*made_plain("big"), *made_refused("big")):
        if data and not name.startswith(("plain", "tail")):
            yield "big-" + name.replace("/", "-") + ".bin", data


def main():
    files = {"vectors.txt": (HEAD + "".join(line(*each) for each in vectors())).encode()}
    files |= {f"seed/{name}": data for name, data in seeds()}
    names = [text.split(b"\t")[0] for text in files["vectors.txt"].splitlines()]
    assert len(set(names[2:])) == len(names) - 2, "a name occurs twice"
    if sys.argv[1:] == ["--check"]:
        there = {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in FOLDER.rglob("*")
                 if path.is_file() and path.name != "README.md" and path.parent.name not in ("found", "regress")}
        wrong = sorted(name for name in files.keys() | there.keys() if files.get(name) != there.get(name))
        print(f"{len(files)} files, {len(names) - 2} vectors, {len(wrong)} that differ: {' '.join(wrong[:5])}")
        return wrong != []
    (FOLDER / "seed").mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (FOLDER / name).write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
