#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""tshark as a judge of the codec: it dissects messages that the reference encoded, random ones and those recorded from
a kernel, and what it shows is compared field by field (name, offset, length, value) with what the reference says.

The file tests/judge/wire/tshark_known.json lists how tshark is known to differ; its answer must then be the one that is
predicted from the reference's values.  At the end each value is changed once, to show that the comparison notices it.

The last line is "N passed, N failed"; exit status 0, 1, or 77 (cannot run).  docs/wire.md, "Judges".
"""

import argparse
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as tree
from dataclasses import replace
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import roce_pcap  # noqa: E402
from tshark_fields import (HEADER, LNET_END, LNET_TYPES, TYPES, Field, descriptor, expected, lnet_header,  # noqa: E402
                           message_of, with_nid_parts)

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("O2REF_BUILD") or ROOT / "build")
KNOWN = ROOT / "tests" / "judge" / "wire" / "tshark_known.json"
CAPTURES = ROOT / "corpus" / "captures"
TIMEOUT_S = 240
CANNOT_RUN = 77
DEFAULT_PROGRAM = str(BUILD / "gcc" / "judge_messages")
DEFAULT_SEED = 20240601
DEFAULT_COUNT = 12
SHOWN_AT_MOST = 10  # failures that are printed in full; the others are only counted

MALFORMED, COMPLAINT = "_ws.malformed", "lnet.bad_buflen"
# Layers of tshark's answer: those that carry a message, and what it calls bytes that it does not understand.
CARRYING = ("geninfo", "frame", "eth", "ip", "udp", "infiniband")
# Protocols whose dissectors would guess at what LNet's dissector does not accept.
GUESSING = ("smc", "smb_direct", "rpcordma", "nvme-rdma", "iser", "fcoib", "infiniband_sdp", "infiniband.eoib")
UNDISSECTED = ("data", "fake-field-wrapper")


# --- how tshark is known to differ --------------------------------------------------------------------------------
def image(fields, length):
    """The message with these values, little-endian; it tells what tshark reads at a wrong place."""
    data = bytearray(length)
    for one in fields:
        if isinstance(one.value, int):
            mask = (1 << 8 * one.size) - 1
            data[one.at:one.at + one.size] = (one.value & mask).to_bytes(one.size, "little")
    return bytes(data)


def read(data, at, size):
    return int.from_bytes(data[at:at + size], "little")


def as_time(value):
    seconds, nanoseconds = value & 0xFFFFFFFF, struct.unpack("<i", struct.pack("<I", value >> 32))[0]
    when = time.gmtime(seconds)
    month = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")[when.tm_mon - 1]
    return f"{month} {when.tm_mday:2}, {when.tm_year} {time.strftime('%H:%M:%S', when)}.{nanoseconds:09} UTC"


def complaint(message, kind_number, nob, lnet_number, end):
    nob = struct.unpack("<i", struct.pack("<I", nob))[0]
    text = f"Capture:{message.room()} offset:{end} (length:{nob}) msg_type:{lnet_number} ib_type:{kind_number:02x}"
    return Field("", COMPLAINT, 0, 0, text)


def descriptor_at(fields, message, at):
    """What tshark shows if it takes what is at `at` for a descriptor."""
    data = image(fields, len(message.data))
    count = read(data, at + 4, 4)
    complete = min(count, (len(data) - at - 8) // 12)
    rows = descriptor("ibgm_rd", at, complete)
    if complete < count:  # it stops where the message ends
        rows[0] = (*rows[0][:3], len(data) - at)
    shown = [Field(ours, name, where, size, None if ours == "ibgm_rd" else read(data, where, size))
             for ours, name, where, size in rows]
    if complete < count:
        return shown + [Field("", MALFORMED, 0, 0)]
    return shown + [complaint(message, TYPES["GET_REQ"], message.values["ibm_nob"], LNET_TYPES["GET"],
                              at + 8 + 12 * complete)]


def reject_as_message(message, differences):
    """What tshark shows of a reject record: it reads the record, followed by zeros, as an LNet ACK."""
    values = message.values
    record = struct.pack("<IHBBQHHI", *(values[name] for name in ("ibr_magic", "ibr_version", "ibr_why")), 0,
                         values["ibr_incarnation"], values["ibr_cp.ibcp_queue_depth"],
                         values["ibr_cp.ibcp_max_frags"], values["ibr_cp.ibcp_max_msg_size"])
    data = record.ljust(roce_pcap.private_room("REJECT"), b"\0")
    rows = list(with_nid_parts(HEADER + lnet_header("ACK")))
    places = {ours for ours, _, _, _ in rows if ours.endswith("nid") or ours == "hdr.unused"}
    fields = [Field(ours, shown, at, size, None if ours in places else read(data, at, size))
              for ours, shown, at, size in rows]
    likeness = replace(message, kind="IMMEDIATE", lnet="ACK", values={"hdr.payload_length": 0})
    fields, _ = predict(likeness, fields, [one for one in differences if one["formula"] != "reject_as_message"])
    return fields + [complaint(message, values["ibr_why"], read(data, 8, 4), LNET_TYPES["ACK"], LNET_END)]


FORMULAS = {
    "renamed": lambda one, how, data: replace(one, shown=how["name"]),
    "seconds_nanoseconds": lambda one, how, data: replace(one, value=as_time(one.value)),
    "bytes_reversed": lambda one, how, data: replace(
        one, value=int.from_bytes(one.value.to_bytes(one.size, "little"), "big")),
    "moved": lambda one, how, data: replace(one, at=one.at + how["by_bytes"],
                                            value=read(data, one.at + how["by_bytes"], one.size)),
    "placed": lambda one, how, data: replace(one, at=how["at_bytes"], size=how["size_bytes"]),
    "absent": lambda one, how, data: None,
}


def apply(how, message, fields, truth, differences):
    formula = how["formula"]
    if formula == "nothing_shown":
        return []
    if formula == "length_complaint":
        values = message.values
        end = how.get("end_bytes", len(message.data))
        return fields + [complaint(message, values["ibm_type"], values["ibm_nob"], values["hdr.type"], end)]
    if formula == "descriptor_moved":
        kept = [one for one in fields if not one.ours.startswith("ibgm_rd")]
        return kept + descriptor_at(truth, message, how["at_bytes"])
    if formula == "reject_as_message":
        return reject_as_message(message, differences)
    data = image(truth, len(message.data))
    changed = [FORMULAS[formula](one, how, data) if one.ours in how["fields"] else one for one in fields]
    return [one for one in changed if one is not None]


def concerns(how, message):
    return (message.order in how.get("orders", ["little"]) and message.kind in how.get("types", TYPES)
            and message.lnet in how.get("lnet_types", [message.lnet])
            and {"payload": lambda: message.values["hdr.payload_length"] > 0,
                 "pad": lambda: message.pad() > 0}.get(how.get("with"), lambda: True)())


def predict(message, truth, differences):
    """(fields that tshark should show, {field that is not as in the truth: id of the listed difference})."""
    fields, origin = list(truth), {}
    for how in differences:
        if concerns(how, message):
            before, fields = fields, apply(how, message, fields, truth, differences)
            origin |= {one: how["id"] for one in set(before) ^ set(fields)}
    return fields, origin


# --- what tshark says ---------------------------------------------------------------------------------------------
def shown_value(text):
    if text == "":
        return None
    parts = text.split(".")
    if len(parts) == 4 and all(part.isdigit() for part in parts):
        return int.from_bytes(bytes(map(int, parts)), "big")
    try:
        return int(text, 0)
    except ValueError:
        return text


def shown_fields(packet, message_at):
    """The fields of LNet, with offsets in the message; a layer that does not belong there is a field of its name."""
    fields = []
    for layer in packet:
        name = layer.get("name")
        if name in UNDISSECTED or name in CARRYING:
            continue
        if name == "lnet":
            for one in layer.iter("field"):
                if one.get("name") == COMPLAINT:
                    fields.append(Field("", COMPLAINT, 0, 0, one.get("showname")))
                elif one.get("name").startswith("lnet."):
                    fields.append(Field("", one.get("name"), int(one.get("pos")) - message_at, int(one.get("size")),
                                        shown_value(one.get("show"))))
        else:
            fields.append(Field("", name, 0, 0))
    return fields


def dissect(messages, capture):
    packets = []
    for index, message in enumerate(messages):
        carried = message.in_private_data()
        packets.append(roce_pcap.connect(message.data, message.kind, index % 2, index) if carried
                       else roce_pcap.send(message.data, index % 2, index))
    roce_pcap.write(capture, [packet.frame for packet in packets])
    with tempfile.TemporaryDirectory() as home:  # no user's preferences
        environment = dict(os.environ, HOME=home, XDG_CONFIG_HOME=home, WIRESHARK_CONFIG_DIR=home, TZ="UTC", LC_ALL="C")
        without = [word for name in GUESSING for word in ("--disable-protocol", name)]
        done = subprocess.run(["tshark", "-n", *without, "-r", capture, "-T", "pdml", "-J", "lnet"], env=environment,
                              capture_output=True, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"tshark ended with status {done.returncode}: {done.stderr.decode(errors='replace')}")
    dissected = tree.fromstring(done.stdout).findall("packet")
    if len(dissected) != len(messages):
        raise RuntimeError(f"tshark shows {len(dissected)} of {len(messages)} packets")
    for message, packet, elements in zip(messages, packets, dissected):
        message.shown = shown_fields(elements, packet.message_at)


# --- the judgement ------------------------------------------------------------------------------------------------
def judge(message, differences):
    """(lines that describe how tshark differs from what it should show, ids of the listed differences met)."""
    predicted, origin = predict(message, expected(message), differences)
    left = {one.place(): one for one in message.shown}
    unseen = [one for one in predicted if left.pop(one.place(), None) is None]
    lines = []
    for one in unseen:
        listed = f" [listed difference {origin[one]}]" if one in origin else ""
        lines.append(f"{one.ours or 'field'}: expected {one.text()}{listed}")
        rival = next((other for other in left.values() if other.shown == one.shown or other.at == one.at), None)
        lines.append(f"    tshark shows {rival.text() if rival else 'nothing there'}")
        if rival:
            left.pop(rival.place())
    lines += [f"not expected: {one.text()}" for one in left.values()]
    for name in sorted({origin[one] for one in unseen if one in origin}):
        shorter, _ = predict(message, expected(message), [how for how in differences if how["id"] != name])
        if {one.place() for one in shorter} == {one.place() for one in message.shown}:
            lines.append(f"{name} does not occur any more: remove it from {KNOWN.name}")
    return lines, set(origin.values())


def sensitivity(messages, known):
    """(passed, failed): a change of any value must be noticed, except of those listed as not judged."""
    unseen, tried = set(), set()
    for message in messages:
        if message.order == "big":  # nothing of it is judged
            continue
        for name, value in message.values.items():
            what = (message.kind, message.lnet, re.sub(r"\[\d+\]", "[]", name))
            if what not in tried:
                tried.add(what)
                changed = replace(message, values=message.values | {name: value ^ 1})
                if not judge(changed, known["differences"])[0]:
                    unseen.add(what)
    listed = {(one["type"], one.get("lnet_type"), one["field"]) for one in known["not_judged"]}
    for what in sorted(unseen ^ listed, key=str):
        why = "a change is not seen" if what in unseen else "listed as not judged, but a change is seen"
        print(f"FAIL {' '.join(filter(None, what))}: {why}")
    print(f"{len(tried)} values of all kinds of messages changed, one at a time: {len(tried - unseen)} changes seen, "
          f"{len(unseen & listed)} listed as not judged")
    return len(tried) - len(unseen ^ listed), len(unseen ^ listed)


def reference(program, mode, arguments):
    done = subprocess.run([program, mode, *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT_S,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(f"judge_messages {mode}: status {done.returncode}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def replay_of(options):
    program = [] if options.program == DEFAULT_PROGRAM else ["--program", options.program]
    numbers = ["--seed", str(options.seed), "--count", str(options.count)]
    return shlex.join(["tests/judge/wire/tshark_judge.py", *program, *numbers])


def gather(options):
    """Random messages, then the recorded ones."""
    me, messages = f"{replay_of(options)} --only", []
    for index, line in enumerate(reference(options.program, "random", [options.seed, options.count])):
        messages.append(message_of(line, f"random:{index}", f"{me} random:{index}"))
    files = sorted(CAPTURES.glob("*.bin"))
    rejects = [path for path in files if path.name.split("_")[1].startswith("REJ")]
    for mode, paths in (("decode", [path for path in files if path not in rejects]), ("reject", rejects)):
        for line in reference(options.program, mode, paths):
            name = Path(line["file"]).name
            messages.append(message_of(line, name, f"{me} {name}"))
    return messages


def report(message, lines):
    print(f"FAIL {message.label()}\n    message {message.data.hex()}")
    print("\n".join(f"    {line}" for line in lines))
    print(f"    replay: {message.replay}", flush=True)


def compare(messages, differences, complete):
    """(passed, failed); complete: every listed difference must occur."""
    failed, met = 0, {}
    for message in messages:
        lines, ids = judge(message, differences)
        for one in ids:
            met[one] = met.get(one, 0) + 1
        if lines:
            failed += 1
            if failed <= SHOWN_AT_MOST:
                report(message, lines)
    passed = len(messages) - failed
    for how in differences if complete else []:
        count = met.get(how["id"], 0)
        passed, failed = passed + (count > 0), failed + (count == 0)
        print(f"{'known' if count else 'FAIL never met, known'} {how['id']}: in {count} messages: {how['instead']}")
    return passed, failed


def options_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=DEFAULT_PROGRAM, help="judge_messages, which gives the reference's values")
    parser.add_argument("--seed", type=lambda text: int(text, 0), default=DEFAULT_SEED, help="for the random messages")
    parser.add_argument("--count", type=int, default=DEFAULT_COUNT, help="messages of each kind and order")
    parser.add_argument("--only", metavar="NAME", help="judge one message (random:17, or a recording's file name)")
    parser.add_argument("--pcap", metavar="FILE", help="keep the packets here")
    return parser.parse_args()


def cannot_run(options):
    if shutil.which("tshark") is None:
        return "tshark is not installed (Debian package tshark)"
    if not os.access(options.program, os.X_OK):
        return f"no program {options.program}: build judge_messages, or name it with --program"
    return None


def main():
    options = options_of()
    why = cannot_run(options)
    if why:
        print(f"cannot run here: {why}")
        return CANNOT_RUN
    print(f"seed {options.seed} (replay: {replay_of(options)})")
    known = json.loads(KNOWN.read_text())
    version = subprocess.run(["tshark", "--version"], capture_output=True, text=True, check=False).stdout.split("\n")[0]
    print(f"{version}; differences listed for version {known['tshark']}")
    messages = gather(options)
    with tempfile.TemporaryDirectory() as folder:
        dissect(messages, options.pcap or os.path.join(folder, "messages.pcap"))
    if options.only:
        messages = [message for message in messages if message.name == options.only]
        if not messages:
            print(f"no message {options.only}\n0 passed, 1 failed")
            return 1
    passed, failed = compare(messages, known["differences"], complete=not options.only)
    fields = sum(len(message.shown) for message in messages)
    print(f"{len(messages)} messages, {fields} fields that tshark shows")
    if failed == 0 and not options.only:
        seen, blind = sensitivity(messages, known)
        passed, failed = passed + seen, failed + blind
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
