# SPDX-License-Identifier: MIT
"""Access to a Debian suite that apt's sources do not list (backports), on the mirror that they name."""
import os
import re
import subprocess

from .common import CannotRun, find_program

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
FIELDS = "$(REPO_URI)|$(ORIGIN)|$(LABEL)|$(COMPONENT)"


def mirror():
    """The URI of Debian's own archive, from the first of apt's sources that has it."""
    done = subprocess.run([find_program("apt-get", "apt"), "indextargets", "--format", FIELDS, "Created-By: Packages"],
                          capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        uri, origin, label, component = line.split("|")
        if (origin, label, component) == ("Debian", "Debian", "main"):
            return uri
    raise CannotRun("apt's sources name no mirror of Debian, or it was never asked; run `apt-get update` once")


def apt_options(name, directory):
    """Options that make apt use only this suite, with all its state in `directory`; needs no privilege."""
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise CannotRun(f"{name!r} is no name of a suite")
    for folder in ("state/lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(directory, folder))
    sources = os.path.join(directory, "suite.sources")
    signed_by = f"Signed-By: {KEYRING}\n" if os.path.exists(KEYRING) else ""
    with open(sources, "w", encoding="ascii") as f:
        f.write(f"Types: deb\nURIs: {mirror()}\nSuites: {name}\nComponents: main\n{signed_by}")
    settings = {"Dir::State": f"{directory}/state", "Dir::State::status": "/var/lib/dpkg/status",
                "Dir::Cache": f"{directory}/cache", "Dir::Etc::sourcelist": sources, "Dir::Etc::sourceparts": "/dev/null",
                "APT::Sandbox::User": "root"}
    options = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
    done = subprocess.run([find_program("apt-get", "apt"), *options, "-q", "update"], capture_output=True, text=True,
                          check=False)
    problems = [line for line in done.stderr.splitlines() if line.startswith(("E:", "W:"))]
    if done.returncode != 0 or problems:
        raise CannotRun(f"no suite {name} at the mirror of apt's sources: {(problems or ['apt-get update failed'])[0]}")
    return options
