# SPDX-License-Identifier: MIT
"""What prepare and run share: exit statuses, places, one way to refuse."""
import os
import sys

# Exit statuses beside the command's own; docs/vm.md lists them.
EX_USAGE = 2
EX_KERNEL_WARNING = 70
EX_PANIC = 71
EX_NO_ANSWER = 72
EX_CANNOT_RUN = 77
EX_TIMEOUT = 124

VM_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REPO_DIR = os.path.dirname(os.path.dirname(VM_DIR))

DEFAULT_KERNEL_PACKAGE = "linux-image-amd64"


class CannotRun(Exception):
    """Something that the machine lacks; one line for the user, exit status 77."""


def say(text):
    print(f"vm: {text}", file=sys.stderr, flush=True)


def default_cache_dir():
    return os.environ.get("O2REF_VM_CACHE") or os.path.join(REPO_DIR, "build", "vm")


def find_program(name, package):
    """The path of a program, also where an ordinary user's PATH lacks sbin."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/usr/bin:/bin"
    for directory in path.split(":"):
        candidate = os.path.join(directory, name)
        if directory and os.access(candidate, os.X_OK):
            return candidate
    raise CannotRun(f"{name} is missing (package {package}); `ci/setup vm` installs it")
