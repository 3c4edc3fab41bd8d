#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test `cmake --install` and the Debian package: their content, and that another project's program builds and runs with them.

usage: test_install.py [BUILD]
BUILD: a build folder in which everything was built; else build/gcc.  Last line "N passed, N failed".
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))

import suite  # noqa: E402

BUILD = suite.build()
MANUALS = sorted((ROOT / "docs" / "man").iterdir())
INSTALLED = ("bin/o2ref", "bin/o2props", "bin/o2ref-net-loop", "include/o2ref/impl.h", "include/o2ref/guard.h", "share/pkgconfig/o2ref.pc", "share/man/man1/o2ref.1.gz",
             "share/man/man1/o2props.1.gz", "share/man/man7/o2ref-impl.7.gz", "share/doc/o2ref/oracle.md", "share/bash-completion/completions/o2ref", "share/bash-completion/completions/o2props",
             "share/doc/o2ref/wire.md", "share/doc/o2ref/copyright", "share/o2ref/corpus/vectors",
             "share/o2ref/corpus/msg_decode", "share/o2ref/examples/c/table.c", "share/o2ref/examples/start/mine.c",
             "share/o2ref/examples/python/second.py", "share/o2ref/examples/python/codec.py",
             "share/o2ref/examples/go/main.go")
NETWORK = ("ping", "put", "get", "serve", "conform", "lst")  # commands
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=300, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        destination = Path(cls.folder.name) / "root"
        run("cmake", "--install", BUILD, "--prefix", "/usr", env=dict(os.environ, DESTDIR=str(destination)))
        cls.prefix = destination / "usr"
        cls.work = Path(cls.folder.name) / "work"
        cls.work.mkdir()
        cls.env = dict(os.environ, PATH=f"{cls.prefix}/bin:{os.environ['PATH']}",
                       PKG_CONFIG_PATH=str(cls.prefix / "share" / "pkgconfig"))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def flags(self, *options):
        return run("pkg-config", *options, "o2ref", env=self.env).split()

    def test_everything_is_there(self):
        missing = [name for name in INSTALLED if not (self.prefix / name).exists()]
        self.assertEqual(missing, [])

    def test_no_text_names_the_place_where_it_was_built(self):
        for path in self.prefix.rglob("*"):
            if path.is_file() and path.parent.name != "bin":
                self.assertNotIn(str(ROOT).encode(), path.read_bytes(), path)

    def test_pkg_config_says_the_version(self):
        version, = self.flags("--modversion")
        self.assertEqual(run(self.prefix / "bin" / "o2ref", "--version").strip(), f"o2ref {version}")

    def test_header_stands_alone_in_c_and_cxx(self):
        source = self.work / "alone.c"
        source.write_text("#include <o2ref/impl.h>\nint main(void) { return O2_IMPL_ABI_VERSION != 1; }\n")
        for compiler, language, standard in (("cc", "c", "c99"), ("cc", "c", "c11"), ("c++", "c++", "c++11")):
            if shutil.which(compiler) is None:
                print(f"skipped: no {compiler}")
                continue
            run(compiler, *STRICT, f"-std={standard}", "-x", language, *self.flags("--cflags"), "-o",
                self.work / "alone", source)
            run(self.work / "alone")

    def test_examples_build_with_the_package_alone(self):
        examples = Path(self.flags("--variable=examplesdir")[0])
        for name in ("c", "start"):
            run("cc", *STRICT, "-std=c11", "-shared", "-fPIC", *self.flags("--cflags"), "-o", self.work / f"{name}.so",
                *sorted((examples / name).glob("*.c")), cwd=self.work)

    def test_python_example_answers(self):
        program = self.prefix / "share" / "o2ref" / "examples" / "python" / "second.py"
        frame = b'{"form":"o2ref/msg_decode/input","version":1,"bytes":""}'
        done = subprocess.run([program], input=len(frame).to_bytes(4, "little") + frame, capture_output=True,
                              timeout=60, check=True)
        self.assertIn(b"wire/header/short-for-version", done.stdout)


class Manuals(unittest.TestCase):
    def test_lint(self):
        if shutil.which("mandoc") is None:
            self.skipTest("mandoc is not installed")
        for page in MANUALS:
            with self.subTest(page.name):
                self.assertEqual(run("mandoc", "-T", "lint", "-W", "warning", page), "")

    def test_the_network_commands_options_are_in_their_sections(self):
        """Only sections of the command count: options of decode have some of the same names."""
        page = (ROOT / "docs" / "man" / "o2ref.1").read_text(encoding="utf-8").partition(".Sh ENVIRONMENT")[0]
        sections = [part.partition(":\n") for part in page.split("\nOptions of")[1:]]
        for command in NETWORK:
            mine = "".join(text for head, _, text in sections
                           if head == " all six" or re.search(rf"\b{command}\b", head))
            self.assertIn(".It Fl -", mine)
            for option in re.findall(r"^  (?:-h, )?--([a-z-]+)", run(BUILD / "o2ref", command, "--help"), re.M):
                if option != "help":
                    with self.subTest(f"{command} --{option}"):
                        self.assertRegex(mine, rf"Fl -{option}(?![a-z-])")

    def test_every_command_and_option_is_in_its_page(self):
        for program, page in (("o2ref", "o2ref.1"), ("o2props", "o2props.1")):
            text = (ROOT / "docs" / "man" / page).read_text(encoding="utf-8")
            usage = run(BUILD / program, "--help")
            commands = re.findall(r"^  ([a-z]+)  ", usage, re.M) if program == "o2ref" else []
            for command in commands:
                usage += run(BUILD / program, command, "--help")
                self.assertRegex(text, rf"\.(Cm|It Cm) {command}\b")
            if program == "o2props":
                usage += run(BUILD / program, "hostile", "--help") + run(BUILD / program, "explore", "--help")
            for option in set(re.findall(r"--([a-z][a-z-]+)", usage)) - {"mutant", "mutant-counts", "property"}:
                with self.subTest(f"{program} --{option}"):
                    self.assertRegex(text, rf"Fl -{option}\b")

    HIDDEN = {"list-options"}  # options for the shell's completion, not in --help

    @staticmethod
    def offered(program, command):
        """The options that the command's help lists."""
        return set(re.findall(r"^  (?:-[a-zA-Z], )?--([a-z][a-z-]*)", run(BUILD / program, *command.split(), "--help"), re.M))

    def holds_to_help(self, page, heading, helps, shared):
        """Check that the lists of options in a manual page match the options of its commands.

        helps: {command: its options}, "" for the program's own; shared: (words in a list's heading, commands with the list).
        """
        text = (ROOT / "docs" / "man" / page).read_text(encoding="utf-8")
        everywhere = set().union(*helps.values()) | self.HIDDEN
        self.assertEqual(set(re.findall(r"\bFl -([a-z][a-z-]*)", text)) - everywhere, set())
        for part in re.split(heading, text.partition(".Sh OPTIONS")[2].partition(".Sh ENVIRONMENT")[0], flags=re.M):
            head, _, items = part.partition(".Bl -tag")
            of = [name for name in re.findall(r"\w+", head.partition("some of them")[0]) if name in helps]
            of = of or next(names for words, names in shared if words in head)
            has = set().union(*(helps[name] for name in of)) | self.HIDDEN
            for option in re.findall(r"\bFl -([a-z][a-z-]*)", "".join(re.findall(r"^\.It .*$", items, re.M))):
                with self.subTest(f"{' '.join(of)} --{option}"):
                    self.assertIn(option, has)

    def test_every_option_of_a_page_is_one_of_its_command(self):
        commands = re.findall(r"^  ([a-z]+)  ", run(BUILD / "o2ref", "--help"), re.M)
        helps = {name: self.offered("o2ref", name) for name in ["", *commands]}
        self.holds_to_help("o2ref.1", r"^Options of", helps, (
            ("all six", NETWORK), ("rules", ["decode", "judge", "encode"]), ("", ["", "decode", "encode", "explain"])))
        self.holds_to_help("o2props.1", r"^\.Ss Options of", {name: self.offered("o2props", name)
                                                           for name in ("", "explain", "hostile", "explore")}, (("", ["", "explain"]),))


class Package(unittest.TestCase):
    def test_package_is_complete_and_says_what_it_needs(self):
        if shutil.which("dpkg-shlibdeps") is None:
            self.skipTest("dpkg-dev is not installed")
        with tempfile.TemporaryDirectory() as folder:
            run("cpack", "-G", "DEB", "-B", folder, "--config", BUILD / "CPackConfig.cmake", cwd=BUILD)
            package, = Path(folder).glob("o2ref_*.deb")
            fields = run("dpkg-deb", "-f", package)
            for needed in ("libc6", "libjansson4", "libpcap0.8(t64)?"):  # since Debian 13 some package names have a suffix
                self.assertRegex(fields, rf"(?m)^Depends:.*\b{needed}\b")
            root = Path(folder) / "root"
            run("dpkg-deb", "-x", package, root)
            self.assertEqual([name for name in INSTALLED if not (root / "usr" / name).exists()], [])
            self.assertRegex(run(root / "usr" / "bin" / "o2ref", "--version"), r"^o2ref \d")
            self.lint(package)

    def lint(self, package):
        """Tolerated messages are listed with their reasons in ci/lintian-overrides."""
        if shutil.which("lintian") is None:
            print("skipped: lintian of the package: lintian is not installed")
            return
        root = ["--allow-root"] if os.geteuid() == 0 else []
        # Use a fixed locale: warnings about other locales are not the package's.
        self.assertEqual(run("lintian", *root, "--fail-on", "error,warning", package, env=dict(os.environ, LC_ALL="C.UTF-8")), "")


if __name__ == "__main__":
    sys.exit(suite.run(suite.of(sys.modules[__name__])))
