#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test `o2ref check` with the implementations of tests/impl: the independent ones agree, and each defect of
broken/defects.py is reported under its check, with a case that is as small as stated there.

usage: test_impls.py [BUILD] [--only WORD] [--show]
BUILD: the build folder of o2ref; default build/gcc.  --only: test only the defects whose name contains WORD, or that are in
file WORD.  --show: print the findings of each defect.  Last line "N passed, N failed".
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "broken"), str(HERE.parent / "lib")]

import builds  # noqa: E402
import suite  # noqa: E402
import vectors  # noqa: E402
from defects import DEFECTS  # noqa: E402

PARSER = argparse.ArgumentParser(add_help=False)
PARSER.add_argument("build", nargs="?", type=Path, default=HERE.parents[1] / "build" / "gcc")
PARSER.add_argument("--only")
PARSER.add_argument("--show", action="store_true")
OPTIONS = PARSER.parse_args()
BUILD = OPTIONS.build.resolve()
O2REF = BUILD / "o2ref"
SECOND, START = BUILD / "libsecond.so", BUILD / "libstart.so"

AGREE, DIFFER = 0, 1
SEED = "20260101"
STAGES = {"sg.c": "sg_build", "dma.c": "dma_map", "reg.c": "reg_plan", "rdma.c": "rdma_plan", "wire_decode.c": "msg_decode",
          "wire_encode.c": "msg_encode", "wire_rules.c": "msg_decode", "wire_fields.c": "msg_decode", "transfer.c": "transfer",
          "device.c": "device", "chain.c": "rdma_chain", "connect.c": "connect",
          "deliver.c": "deliver", "keys.c": "keys", "send.c": "send_plan", "setup.c": "setup", "flow.c": "flow"}
LATER = ("device", "rdma_chain", "connect", "deliver", "keys", "send_plan", "setup", "flow")  # of version 2
UNSAID = ("msg_encode", "send_plan")  # the JSON forms cannot express some of their questions
CASES = {"second": 20000, "python": 3000, "go": 5000, "broken": 20000, "few": 2000}


def check(*arguments, cases, expect):
    """Run o2ref check and return the implementations' results.  expect: the required exit status; None: AGREE or DIFFER."""
    command = [O2REF, "check", "--seed", SEED, "--cases", cases, "--pedantic", "--json", "-", *arguments]
    command = [str(part) for part in command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    if done.returncode not in ((AGREE, DIFFER) if expect is None else (expect,)):
        raise AssertionError(f"status {done.returncode}, not {expect}; replay: {' '.join(command)}\n"
                             f"{done.stdout[-6000:]}{done.stderr}")
    return json.loads(done.stdout)["implementations"]


def sizes(form):
    """The size of a case: numbers of list elements, of bytes, and nob (in a transfer, the sum of both sides)."""
    found = {}

    def walk(value):
        for name, member in value.items() if isinstance(value, dict) else ():
            if name in ("pieces", "entries", "segments", "rd_frags", "events", "rounds") and isinstance(member, list):
                key = "frags" if name == "rd_frags" else name
                found[key] = found.get(key, 0) + len(member)
            elif name in ("bytes", "payload"):
                found["bytes"] = found.get("bytes", 0) + len(member) // 2
            elif name == "nob" and "list" not in form:
                found["nob"] = found.get("nob", 0) + member
            walk(member)

    walk(form)
    if "list" in form:
        found["nob"] = form["list"]["nob"]
    return found


class Independent(unittest.TestCase):
    def whole(self, result, unsaid=()):
        """All stages were asked and answered, and nothing differs. unsaid: stages that may leave some questions unanswered."""
        self.assertEqual(result["findings"], [])
        for stage in result["stages"]:
            with self.subTest(stage["stage"]):
                self.assertGreater(stage["asked"], 0)
                if stage["stage"] in unsaid:
                    self.assertLess(stage["not_implemented"], stage["asked"] / 10)
                else:
                    self.assertEqual(stage["not_implemented"], 0)
                self.assertEqual(stage["agreed"] + stage["not_implemented"], stage["asked"])

    def test_c(self):
        result, = check(SECOND, cases=CASES["second"], expect=AGREE)
        self.whole(result)

    def test_python(self):
        result, = check("--", HERE / "python" / "second.py", cases=CASES["python"], expect=AGREE)
        self.whole(result, unsaid=UNSAID)

    def test_go(self):
        with tempfile.TemporaryDirectory() as folder:
            program = builds.go(Path(folder))
            if program is None:
                self.skipTest("go is not installed (package golang-go)")
            names = HERE / "go" / "errors.json"
            result, = check("--map", names, "--", program, cases=CASES["go"], expect=AGREE)
            differ, asked = vectors.differences(program, json.loads(names.read_text(encoding="utf-8"))["errors"])
        self.assertEqual(result["unmapped_names"], 0)
        self.whole(result, unsaid=UNSAID)
        self.assertEqual(differ, [])
        self.assertGreater(asked, 1000)

    def test_together(self):
        results = check(SECOND, HERE / "python" / "second.py", cases=300, expect=AGREE)
        self.assertEqual([result["agrees"] for result in results], [True, True])


class Start(unittest.TestCase):
    def test_differs_in_one_check_only(self):
        result, = check("--map", HERE / "start" / "errors.json", START, cases=3000, expect=DIFFER)
        self.assertEqual([finding["check"] for finding in result["findings"]], ["sg/kiov/gap-flag"])
        self.assertEqual(result["unmapped_names"], 0)


class OfCopies(unittest.TestCase):
    """Tests that build copies of tests/impl/c."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.builds = builds.Broken(Path(cls.folder.name))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()


# Defects whose reproducers are compiled and run: one of each file, and one of each kind of difference in refusals.
REPRODUCED = ({next(defect.name for defect in DEFECTS if defect.file == file)
               for file in {defect.file for defect in DEFECTS}} |
              {"entries-shared", "second-entry-other-key", "unmapped-page-mapped", "errno-of-gaps", "payload-closes",
               "count-unchecked", "capacity-unseen", "side-confused", "sum-of-headers", "peers-limit-unseen", "sink-publishes-all",
               "region-at-page", "region-at-zero", "nothing-published", "nothing-published-behind",
               "invalidated-twice", "foreign-invalidated", "failed-mapping-gathered", "unmapped-page-gathered",
               "gathered-at-page"})


class Broken(OfCopies):
    def program(self, finding, *more):
        """The program of a finding's reproducer, compiled as an implementation's author would compile it."""
        program = Path(self.folder.name) / "again"
        builds.run(*builds.COMPILE, "-o", program, finding["reproducer"], *more, "-ldl")
        return program

    def reproduced(self, library, finding):
        """The reproducer differs on the broken implementation and agrees on a correct one."""
        program = self.program(finding)
        for asked, right in ((library, False), (SECOND, True), (None, False)):
            done = subprocess.run([str(word) for word in (program, asked) if word], capture_output=True, text=True, timeout=60,
                                  check=False)
            crashes = finding["check"].startswith("run/") and not right
            self.assertEqual(done.returncode < 0 if crashes else done.returncode, crashes or int(not right), done.stdout)
            self.assertEqual("DIFFERS" in done.stdout, not right and not crashes, done.stdout)

    def named(self, defect):
        """The defect is reported under its check on a small case. Most defects need only a few cases, so try that first."""
        library = self.builds.build(defect)
        for cases in (CASES["few"], CASES["broken"]):
            out = Path(self.folder.name) / f"{defect.name}-{cases}.out"
            result, = check("--stage", defect.stage or STAGES[defect.file], "--out", out, library, cases=cases,
                            expect=DIFFER if cases == CASES["broken"] else None)
            named = [sizes(finding["question"]) for finding in result["findings"] if finding["check"] == defect.check]
            small = any(all(size.get(part, 0) <= limit for part, limit in defect.size.items()) for size in named)
            if small:
                break
        self.assertEqual(len(list(out.glob("*.json"))), len(result["findings"]))
        stands = {found["cause"]: found["severity"] for found in result["findings"] if found["stands_for_it"]}
        self.assertEqual([found["check"] for found in result["findings"] if found["severity"] == "must" != stands[found["cause"]]], [])
        if defect.name in REPRODUCED:
            self.reproduced(library, next(found for found in result["findings"] if found["check"] == defect.check))
        if OPTIONS.show:
            for found in result["findings"]:
                print(defect.name, found["cause"], found["check"], found["reason"], sizes(found["question"]), found["seen"])
        self.assertTrue(named, defect.check)
        self.assertTrue(small, f"{named}, limits {defect.size}")

    def test_names_are_unique_and_there_are_enough(self):
        self.assertEqual(len({defect.name for defect in DEFECTS}), len(DEFECTS))
        self.assertGreaterEqual(len(DEFECTS), 78)

    def test_one_does_not_hide_the_other(self):
        """Both of two defects are reported, although the first one also shows in most of the cases that show the second."""
        for names in (("frags-unlimited-hides-few", "few-frags-taken", "life-unseen"),
                      ("queues-hide-each-other", "no-room-for-invalidates", "completions-of-signalled"),
                      ("keys-hide-completion", "message-under-source-key", "message-unsignaled"),
                      ("length-hides-status", "told-what-was-asked", "error-swallowed"),
                      ("leak-hides-errno", "teardown-forgets-messages", "errno-of-its-own"),
                      ("record-hides-depth", "record-in-own-order", "old-peer-asked-deep"),
                      ("close-hides-credits", "closes-when-full", "acknowledged-credit")):
            name, *pair = names
            if OPTIONS.only and OPTIONS.only not in name:
                continue
            defects = [defect for defect in DEFECTS if defect.name in pair]
            with self.subTest(name):
                self.assertEqual(len(defects), 2)
                library = self.builds.build_with(name, [(defect.file, defect.right, defect.wrong) for defect in defects])
                result, = check("--stage", STAGES[defects[0].file], library, cases=CASES["broken"], expect=DIFFER)
                named = {finding["check"] for finding in result["findings"]}
                self.assertLessEqual({defect.check for defect in defects}, named)

    def test_each_is_named_on_a_small_case(self):
        for defect in DEFECTS:
            if OPTIONS.only and OPTIONS.only not in (defect.name, defect.file) and OPTIONS.only not in defect.name:
                continue
            with self.subTest(defect.name):
                self.named(defect)


# Five places in four stages where a copy crashes, each in a different way.
CRASHES = (
    ("sg.c", "uint64_t addr = in->buffer.iov[i].base + from;",
     "uint64_t addr = in->buffer.iov[i].base + from;\n\t\t\tif (i == 1) *(volatile char *)8 = 1;"),
    ("sg.c", "entry.page = in->buffer.kiov[i].page;", "if (i == 2) __builtin_trap(); entry.page = in->buffer.kiov[i].page;"),
    ("dma.c", "page = device->device_page[page];", "if (page % 2) __builtin_abort(); page = device->device_page[page];"),
    ("reg.c", "if (job->segment.count > job->request->max_pages)",
     "if (job->segment.count == 2) *(volatile char *)8 = 1;\n\tif (job->segment.count > job->request->max_pages)"),
    ("wire_decode.c", "if (layout->minimum == IMMEDIATE_BYTES)",
     "if (layout->minimum == IMMEDIATE_BYTES && out->hdr.payload_length > 100) __builtin_trap();\n"
     "\tif (layout->minimum == IMMEDIATE_BYTES)"),
)
CRASHED = ("sg_build", "dma_map", "reg_plan", "msg_decode")
# An implementation of two of the six modes.
TWO_MODES = (
    ("reg.c", "int32_t status = check_request(&in->request, refusal);",
     "int32_t status = check_request(&in->request, refusal);\n"
     "\tif (in->request.mode > O2_IMPL_FMR)\n\t\treturn O2_IMPL_NOT_IMPLEMENTED;"),
    ("transfer.c", "if (in->op == O2_IMPL_PUT) {",
     "if (in->source.mode > O2_IMPL_FMR || in->sink.mode > O2_IMPL_FMR)\n\t\treturn O2_IMPL_NOT_IMPLEMENTED;\n"
     "\tif (in->op == O2_IMPL_PUT) {"),
)


class Linked(OfCopies):
    def test_a_reproducer_is_linked_with_an_implementation(self):
        out = Path(self.folder.name) / "start"
        result, = check("--map", HERE / "start" / "errors.json", "--out", out, START, cases=300, expect=DIFFER)
        source = result["findings"][0]["reproducer"]
        self.assertEqual(Path(source).name, "0-sg_build-sg-kiov-gap-flag-gaps.c")
        for implementation, status in (([HERE / "start" / "mine.c"], DIFFER), (self.builds.objects(), AGREE)):
            program = out / "linked"
            builds.run(*builds.COMPILE, "-DLINKED", "-o", program, source, *implementation)
            self.assertEqual(subprocess.run([program], capture_output=True, timeout=60, check=False).returncode, status)


class Steered(OfCopies):
    """Questions without an answer are recognized and then left out, and all other questions are still asked."""

    def stages(self, name, changes, stages, expect, cases=CASES["broken"]):
        result, = check("--stage", ",".join(stages), self.builds.build_with(name, changes), cases=cases, expect=expect)
        return result, {stage["stage"]: stage for stage in result["stages"]}

    def test_five_crashes_are_five_findings_and_no_stage_ends(self):
        result, stages = self.stages("crashes", CRASHES, CRASHED, DIFFER)
        crashes = [finding for finding in result["findings"] if finding["check"] == "run/crash"]
        self.assertEqual(sorted(finding["stage"] for finding in crashes), sorted((*CRASHED, "sg_build")))
        self.assertEqual(result["causes"], 5)
        for stage in stages.values():
            with self.subTest(stage["stage"]):
                self.assertFalse(stage["given_up"])
                self.assertGreater(stage["agreed"], stage["asked"] / 2)

    def test_a_crash_names_its_line_where_there_are_symbols(self):
        result, _ = self.stages("crashes", CRASHES, ("dma_map",), DIFFER, cases=300)
        finding, = result["findings"]
        if not shutil.which("addr2line"):
            self.skipTest("addr2line is not installed (package binutils)")
        text = (Path(self.folder.name) / "crashes-dma.c").read_text(encoding="utf-8").splitlines()
        line = 1 + next(i for i, text in enumerate(text) if "__builtin_abort" in text)
        self.assertEqual(finding["backtrace"][0], f"place at crashes-dma.c:{line}")
        self.assertTrue(finding["backtrace"][1].startswith("second_dma_map at crashes-dma.c:"), finding["backtrace"])
        # addr2line may append "(discriminator N)" to a line; the backtrace must not change.
        real, folder = shutil.which("addr2line"), Path(self.folder.name) / "path"
        folder.mkdir()
        (folder / "addr2line").write_text(f"#!/bin/sh\n{real} \"$@\" | sed '/:[0-9]*$/s/$/ (discriminator 2)/'\n", encoding="ascii")
        (folder / "addr2line").chmod(0o755)
        with unittest.mock.patch.dict(os.environ, {"PATH": f"{folder}:{os.environ['PATH']}"}):
            result, _ = self.stages("crashes", CRASHES, ("dma_map",), DIFFER, cases=300)
        self.assertEqual(result["findings"][0]["backtrace"], finding["backtrace"])

    def test_a_crash_names_its_places_where_no_one_knows_lines(self):
        folder = Path(self.folder.name) / "says-nothing"
        folder.mkdir()
        (folder / "addr2line").symlink_to("/bin/true")
        with unittest.mock.patch.dict(os.environ, {"PATH": f"{folder}:{os.environ['PATH']}"}):
            result, _ = self.stages("crashes", CRASHES, ("dma_map",), DIFFER, cases=300)
        finding, = result["findings"]
        self.assertTrue(finding["backtrace"])
        for call in finding["backtrace"]:
            self.assertRegex(call, r"^[^/+]+\.so\+0x[1-9a-f][0-9a-f]*$")

    def test_a_third_of_the_modes_is_asked_for_most_of_the_time(self):
        result, stages = self.stages("two-modes", TWO_MODES, ("reg_plan", "transfer"), AGREE, cases=200000)
        self.assertEqual(result["findings"], [])
        for stage in stages.values():
            with self.subTest(stage["stage"]):
                self.assertGreater(stage["agreed"], 0)
                self.assertGreaterEqual(stage["agreed"], 0.9 * stage["asked"], stage)
                self.assertGreater(stage["left_out"], 0)


class Accepted(OfCopies):
    def test_what_a_profile_does_not_ask_for_is_named_when_it_is_broken(self):
        defect = next(defect for defect in DEFECTS if defect.name == "past-page-taken")
        arguments = ("--profile", "kernel", "--stage", "sg_build")
        result, = check(*arguments, self.builds.build(defect), cases=CASES["broken"], expect=AGREE)
        whole, = check(*arguments, SECOND, cases=CASES["broken"], expect=AGREE)
        self.assertIn(defect.check, [risk["check"] for risk in result["accepted"]["broken"]])
        self.assertEqual(whole["accepted"]["broken"], [])
        self.assertEqual(whole["accepted"]["not_asked_for"], result["accepted"]["not_asked_for"])
        self.assertGreater(whole["accepted"]["not_asked_for"], 10)


# How a kernel differs from the reference.  FOLD: the loss of NID bits for which its internal form has no room.
FOLD = "({0} >> 48 & 0xff) == 0xff ? UINT64_MAX : {0} << 8 >> 8"
WHOLE_PAGES = "region(job, 0, job->out->npages * (uint64_t)job->request->page_bytes)"
KERNEL = (
    ("wire_decode.c", "load_fields(layout->body, bytes, out);\n",
     "load_fields(layout->body, bytes, out);\n"
     f"\tout->hdr.dest_nid = {FOLD.format('out->hdr.dest_nid')};\n\tout->hdr.src_nid = {FOLD.format('out->hdr.src_nid')};\n"),
    ("wire_encode.c", "store_fields(layout->body, msg, bytes);\n",
     "store_fields(layout->body, msg, bytes);\n"
     "\tif (layout->lnet_types) {\n"
     f"\t\tstore(bytes + 48, 8, false, {FOLD.format('msg->hdr.dest_nid')});\n"
     f"\t\tstore(bytes + 56, 8, false, {FOLD.format('msg->hdr.src_nid')});\n\t}}\n"),
    # The caller of the encoder is trusted: nothing is checked, not even the capacity.
    ("wire_encode.c", "int32_t status = check_header(in, refusal);\n\tuint32_t nob;", "int32_t status = 0;\n\tuint32_t nob;"),
    ("wire_encode.c", "status = check_body(in, layout, nob, refusal);", "status = 0;"),
    ("wire_encode.c", "if (nob > out->capacity_bytes)", "if (nob == 0)"),
    # A failed assertion instead of a refusal.
    ("sg.c", "status = refuse(refusal, EINVAL, \"sg/vector-too-short\", NO_INDEX);", "__builtin_trap();"),
    # Regions have whole pages, and allow remote writes on both sides.
    ("reg.c", "return publish_whole(job, job->start[0], \"\", NO_INDEX);",
     f"return {WHOLE_PAGES}, publish(job, job->start[0], job->segment.tick[job->segment.count]), O2_IMPL_OK;"),
    ("reg.c", "region(job, low, high - low);", WHOLE_PAGES + ";"),
    ("reg.c", "out->remote_write = in->request.side == O2_IMPL_SINK;", "out->remote_write = 1;"),
    # The gaps flag of sg_build is not verified, and the peer's limit is checked only when the work requests are made.
    ("reg.c", "if (!job->request->gaps && !joins(job, i))",
     "if (!job->request->gaps && job->request->mode != O2_IMPL_FMR && !joins(job, i))"),
    ("reg.c", "out->nfrags > in->request.peer_max_frags)", "out->nfrags > O2_IMPL_MAX_FRAGS)"),
    # The PD includes the region, and a queue pair that fails is tried again with a smaller queue.
    ("setup.c", "if (net->in->mode == O2_IMPL_GLOBAL) {", "if (net->in->mode > O2_IMPL_FASTREG) {"),
    ("setup.c", "\treturn net->qp;",
     "\tif (net->cq && !net->qp) {\n\t\tdrop(net, &net->place[--net->nplaces]);\n"
     "\t\tnet->qp = o2_impl_setup_acquire(net->log, O2_IMPL_SETUP_QP, net->pd, net->cq);\n\t}\n\treturn net->qp;"),
)
KERNEL_RISKS = {"wire/lnet-nid-folded", "wire/checksum-one-flavour", "sg/vector-too-short", "reg/fmr/range-in-pages",
                "reg/source-access", "reg/fmr/undeclared-gap", "reg/more-fragments-than-peer-accepts", "transfer/source-access",
                "transfer/range-in-pages"}
# By the signedness of char: the checksum flavour that the implementation accepts and writes.
CHARS = {
    "unsigned": (("wire_decode.c", "else if (found == sums.with_sign)", "else if (found == 0)"),
                 ("wire_decode.c", "else if (tolerable(in, out))", "else if (found == 0)"),
                 ("wire_encode.c", "msg->cksum_flavour == O2_IMPL_CKSUM_SIGNED ? sums.with_sign : sums.plain", "sums.plain")),
    "signed": (("wire_decode.c", "if (found == sums.plain)\n", "if (found == 0)\n"),
               ("wire_decode.c", "else if (tolerable(in, out))", "else if (found == 0)"),
               ("wire_encode.c", "msg->cksum_flavour == O2_IMPL_CKSUM_SIGNED ? sums.with_sign : sums.plain",
                "sums.with_sign")),
}
MESSAGES = ("--stage", "msg_decode,msg_encode")


class Kernel(OfCopies):
    """The behaviour of public trees is no difference under profile kernel, and all of it is listed as accepted."""

    def broken(self, result):
        return {risk["check"] for risk in result["accepted"]["broken"]}

    def test_a_tree_as_it_is_agrees(self):
        tree = self.builds.build_with("kernel", KERNEL + CHARS["unsigned"])
        result, = check("--profile", "kernel", tree, cases=CASES["broken"], expect=AGREE)
        self.assertEqual(result["findings"], [])
        self.assertLessEqual(KERNEL_RISKS, self.broken(result))
        self.assertGreater(result["accepted"]["not_given"], 100)

    def test_both_flavours_alike(self):
        for char, changes in CHARS.items():
            with self.subTest(char):
                tree = self.builds.build_with(char, changes)
                result, = check("--profile", "kernel", *MESSAGES, tree, cases=4000, expect=AGREE)
                self.assertEqual(self.broken(result), {"wire/checksum-one-flavour"})
                result, = check(*MESSAGES, tree, cases=4000, expect=DIFFER)
                self.assertEqual({finding["check"] for finding in result["findings"]}, {"wire/checksum-one-flavour"})

    def test_the_other_flavour_may_be_tolerated(self):
        for char, changes in CHARS.items():
            with self.subTest(char):
                kept = [change for change in changes if "tolerable" not in change[1]]
                self.assertEqual(len(kept), len(changes) - 1)
                tree = self.builds.build_with(f"tolerant-{char}", kept)
                result, = check("--profile", "kernel", *MESSAGES, tree, cases=4000, expect=AGREE)
                self.assertEqual(self.broken(result), {"wire/checksum-one-flavour"})

    def test_unverified_without_tolerance_is_a_difference(self):
        tree = self.builds.build_with("unverified", (
            ("wire_decode.c", "out->cksum_flavour = O2_IMPL_CKSUM_UNSIGNED;", "out->cksum_flavour = O2_IMPL_CKSUM_UNVERIFIED;"),
            CHARS["unsigned"][0]))
        result, = check("--profile", "kernel", "--stage", "msg_decode", tree, cases=4000, expect=DIFFER)
        self.assertEqual({finding["check"] for finding in result["findings"]}, {"wire/decode/cksum-flavour"})

    def test_neither_flavour_is_a_difference(self):
        tree = self.builds.build_with("neither", (("wire_decode.c", "if (found == sums.plain)\n", "if (found == 0)\n"),
                                                  CHARS["unsigned"][0]))
        result, = check("--profile", "kernel", "--stage", "msg_decode", tree, cases=4000, expect=DIFFER)
        self.assertIn("wire/noop/refused-legal", {finding["check"] for finding in result["findings"]})

    def test_bytes_are_held_as_strictly(self):
        for name in ("gaps-in-one-fragment", "pages-by-length", "tail-unsent", "cookie-in-order", "source-writable"):
            defect = next(defect for defect in DEFECTS if defect.name == name)
            with self.subTest(name):
                check("--profile", "kernel", "--stage", STAGES[defect.file], self.builds.build(defect), cases=5000,
                      expect=AGREE if name == "source-writable" else DIFFER)


# An implementation that allocates an array of its own and writes one byte outside of it.
OWN_ARRAY = """#include <stdlib.h>
#include <string.h>
#include <o2ref/impl.h>

static int32_t sg_build(const struct o2_impl_sg_in *in, struct o2_impl_sg_list *out, struct o2_impl_refusal *refusal)
{
	const size_t bytes = in->buffer.count + 1;
	volatile char *own = malloc(bytes);

	(void)out, (void)refusal;
	if (own == NULL)
		abort();
	own[bytes - 1] = 1;
	if (in->buffer.count == 2)
		own[WHERE] = 1;
	own = realloc((void *)own, bytes + 5000);
	if (own == NULL || own[bytes - 1] != 1)
		abort();
	own[bytes + 4999] = 1;
	free((void *)own);
	free(strdup("a text"));
	return O2_IMPL_NOT_IMPLEMENTED;
}

static const struct o2_impl impl = {O2_IMPL_HEAD("own"), .sg_build = sg_build};

const struct o2_impl *o2_impl_v1(void)
{
	return &impl;
}
"""


class OwnArrays(unittest.TestCase):
    """o2ref/guard.h and the sanitizers detect writes outside of arrays that the implementation itself allocated."""

    def crash(self, where, words, preload=None):
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder) / "own.c", Path(folder) / "own.so"
            source.write_text(OWN_ARRAY, encoding="utf-8")
            builds.run("cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g", "-shared", "-fPIC", f"-I{builds.HEADER_ROOT}",
                       f"-DWHERE={where}", *words, "-o", library, source)
            question = {"form": "o2ref/sg_build/input", "version": 1, "max_entries": 257,
                        "space": {"page_bytes": 4096, "npages": 4, "ranges": []}, "buffer": {
                            "kind": "kiov", "offset": 0, "nob": 2, "pieces": [{"page": 1, "offset": 0, "len": 1}] * 2}}
            command = [O2REF, "check", "--case", json.dumps(question), "--timeout-ms", "20000", "--json", "-", library]
            environment = dict(os.environ)
            if preload:
                environment.update(LD_PRELOAD=preload, ASAN_OPTIONS="abort_on_error=1:detect_leaks=0")
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=280, check=False,
                                  env=environment)
        if done.returncode == 2:
            return None
        return [finding["found"] for finding in json.loads(done.stdout)["implementations"][0]["findings"]
                if finding["check"] == "run/crash"]

    def test_the_header_sees_it(self):
        guard = ("-DO2_GUARD_ALL", "-include", "o2ref/guard.h")
        self.assertIsNone(self.crash("0", guard))
        self.assertIsNone(self.crash("bytes", ()), "malloc alone sees it, too: choose another place")
        self.assertIn("a byte behind an array was written", self.crash("bytes", guard)[0])
        self.assertIn("a byte in front of an array was written", self.crash("-1", guard)[0])
        self.assertIn("SIGSEGV", self.crash("(bytes + 15) / 16 * 16", guard)[0])

    def test_the_sanitizers_see_it(self):
        library = subprocess.run(["cc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=False).stdout.strip()
        if not library.startswith("/"):
            self.skipTest("the compiler brings no libasan.so along")
        self.assertTrue(self.crash("bytes", ("-fsanitize=address",), library))


class Document(unittest.TestCase):
    def test_sizes_in_the_document_are_true(self):
        text = (HERE.parents[1] / "docs" / "oracle.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| `(\w+)/` \|.*\| (\d+) \|$", text, re.M)
        self.assertEqual({name for name, _ in rows}, {"c", "python", "go", "start"})
        for name, lines in rows:
            files = [path for path in (HERE / name).iterdir() if path.suffix in (".c", ".h", ".py", ".go")]
            count = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
            self.assertEqual(int(lines), count, name)


if __name__ == "__main__":
    sys.exit(suite.run(suite.of(Broken if OPTIONS.only else sys.modules[__name__])))
