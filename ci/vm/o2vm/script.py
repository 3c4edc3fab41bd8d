# SPDX-License-Identifier: MIT
"""The shell script that runs the user's command inside the guest: sets the directory and the environment, then execs it."""
import os
import re
import shlex

GUEST_SHARE = "/run/o2ref/share"
GUEST_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PASSED_ON = re.compile(r"O2REF_|[A-Z]+SAN_OPTIONS$|[A-Z]+SAN_SYMBOLIZER_PATH$|LLVM_PROFILE_FILE$")
# Variables whose values on the host make no sense inside the guest.
NOT_PASSED = {"O2REF_VM_CACHE", "O2REF_SHARE"}


def environment(named, accel, share=GUEST_SHARE):
    """The command's environment, before the guest adds the names of its devices."""
    env = {"PATH": GUEST_PATH, "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8", "TERM": "dumb", "USER": "root",
           "PYTHONDONTWRITEBYTECODE": "1"}
    env.update({name: value for name, value in os.environ.items() if PASSED_ON.match(name) and name not in NOT_PASSED})
    env.update(named)
    env.update({"O2REF_VM": accel, "O2REF_SHARE": share})
    return env


def render(command, cwd, env):
    text = [f"export {name}={shlex.quote(value)}" for name, value in env.items()]
    text.append(". /run/o2ref/env")
    text.append(f"cd {shlex.quote(cwd)} || exit 126")
    text.append("exec " + " ".join(shlex.quote(word) for word in command))
    return "\n".join(text) + "\n"
