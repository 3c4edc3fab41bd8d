# SPDX-License-Identifier: MIT
"""What all programs of ci/vm share: exit statuses, paths, and how they report that they cannot run."""
import os
import subprocess
import sys

# Exit statuses in addition to those of the command; docs/vm.md lists them.
EX_USAGE = 2
EX_KERNEL_WARNING = 70
EX_PANIC = 71
EX_NO_ANSWER = 72
EX_RULE_BROKEN = 73  # ci/vm/pair: o2ref judge found a broken rule in the capture
EX_NOT_JUDGED = 74  # ci/vm/pair: the capture could not be written, or o2ref judge failed
EX_CANNOT_RUN = 77
EX_TIMEOUT = 124

VM_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REPO_DIR = os.path.dirname(os.path.dirname(VM_DIR))

DEFAULT_KERNEL_PACKAGE = "linux-image-amd64"


class CannotRun(Exception):
    """The machine lacks something; the text is one line for the user, and the exit status is 77."""


class WrongUsage(CannotRun):
    """What the user named cannot be used: exit status 2."""


class BadKernel(WrongUsage):
    """A file that the user named is not a valid kernel or module."""


def say(text):
    print(f"vm: {text}", file=sys.stderr, flush=True)


def refuse(reason):
    """Print the reason on one line; returns the exit status."""
    if isinstance(reason, WrongUsage):
        say(reason)
        return EX_USAGE
    say(f"cannot run here: {reason}")
    return EX_CANNOT_RUN


def make_folder(path):
    """Make a folder that the user named, unless it is there."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as problem:
        raise WrongUsage(f"{path}: no folder, and it cannot be made: {problem.strerror}") from problem


def default_cache_dir():
    return os.environ.get("O2REF_VM_CACHE") or os.path.join(REPO_DIR, "build", "vm")


def find_program(name, package):
    """The path of a program; also searches sbin, which an ordinary user's PATH lacks."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/usr/bin:/bin"
    for directory in path.split(":"):
        candidate = os.path.join(directory, name)
        if directory and os.access(candidate, os.X_OK):
            return candidate
    raise CannotRun(f"{name} is missing (package {package}); `ci/setup vm` installs it")


def pipe_through(program, package, options, data):
    """The program's standard output if `data` is its standard input."""
    done = subprocess.run([find_program(program, package), *options], input=data, capture_output=True, check=False)
    if done.returncode != 0:
        raise CannotRun(f"{program}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
