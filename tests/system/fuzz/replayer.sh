#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Test the replayer: it passes good files, names the file that fails, and refuses paths that it cannot read.
# Usage: replayer.sh PATH-OF-fuzz_canary_replay PATH-OF-fuzz_deep_replay
set -u
replay=$1
deep=$2
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

complain() {
	echo "replayer: $*" >&2
	cat "$scratch/output" >&2
	exit 1
}

expect() { # status, then the command's arguments
	wanted=$1
	shift
	"$replay" "$@" >"$scratch/output" 2>&1
	status=$?
	[ "$status" -eq "$wanted" ] || complain "status $status for '$*', expected $wanted"
}

mkdir -p "$scratch/good/deeper" "$scratch/mixed"
printf '\001\002' >"$scratch/good/a"
printf '\001\002\003' >"$scratch/good/deeper/b"
: >"$scratch/good/empty"
printf '\001' >"$scratch/mixed/a"
printf '\120\240\001' >"$scratch/mixed/planted-defect"

expect 0 "$scratch/good"
grep -q ' 3 files, all passed' "$scratch/output" || complain "the count is wrong"
expect 0 --verbose "$scratch/good"
grep -q "good/deeper/b (3 bytes)" "$scratch/output" || complain "--verbose names no file"
expect 1 "$scratch/good" "$scratch/mixed"
grep -q "FAILED: $scratch/mixed/planted-defect" "$scratch/output" || complain "the failing file is not named"
grep -q 'o2ref fuzz: canary' "$scratch/output" || complain "the violation is not printed"
mkdir "$scratch/it's a folder"
cp "$scratch/mixed/planted-defect" "$scratch/it's a folder"
expect 1 "$scratch/it's a folder"
line=$(sed -n 's/^  replay: //p' "$scratch/output")
(eval "$line") >"$scratch/output" 2>&1
[ $? -eq 1 ] || complain "the replay line does not fail again: $line"
expect 2 "$scratch/nothing-here"
mkdir "$scratch/no-file"
expect 2 "$scratch/no-file"
expect 2 /proc/self/mem # it can be opened, but not read from its start
expect 2
expect 2 --no-such-option
replay=$deep
expect 1 "$scratch/good"
grep -q "FAILED: $scratch/good/a" "$scratch/output" || complain "the file that overflows the stack is not named"
echo "replayer: 10 cases"
