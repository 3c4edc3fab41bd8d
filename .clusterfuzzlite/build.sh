#!/bin/bash
# SPDX-License-Identifier: MIT
# What OSS-Fuzz and ClusterFuzzLite call in their build image (docs/fuzzing.md, "OSS-Fuzz and ClusterFuzzLite"): every fuzz
# target to $OUT, with what it needs beside it.  Reads CC, CXX, CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE, SANITIZER, OUT, SRC, WORK.
#
# O2_BUILT=DIR takes the programs that stand in DIR, and builds nothing.
set -eu
source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -f "$source/../fuzz/targets.txt" ]; then source=$(cd "$source/.." && pwd); else source=$SRC/o2ref; fi

# The memory sanitizer takes every byte that a library without its instrumentation wrote for uninitialised.
# These targets spend their time in libpcap or libjansson.
needs_foreign_library="pcap judge dump json forms lst"

targets() {
	sed -n 's/^\([a-z][a-z_]*\) *|.*/\1/p' "$source/fuzz/targets.txt" | grep -vx canary |
		if [ "${SANITIZER:-address}" = memory ]; then grep -vxF "${needs_foreign_library// /$'\n'}"; else cat; fi
}

field() { # TARGET NUMBER
	awk -F ' *[|] *' -v name="$1" -v number="$2" '$1 == name { print $number }' "$source/fuzz/targets.txt"
}

# libc and its parts are on every machine; all else stands beside the program.
libraries() { # PROGRAM
	ldd "$1" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv)\.so\.[0-9]+$' || true
}

mapfile -t names < <(targets)
built=${O2_BUILT:-}
if [ -z "$built" ]; then
	built=$WORK/o2ref
	cmake -S "$source" -B "$built" -G Ninja -DCMAKE_BUILD_TYPE=None -DO2_FUZZ_ENGINE=given -DO2_VERBS=OFF
	cmake --build "$built" --target "${names[@]/#/fuzz_}"
fi

mkdir -p "$OUT/lib"
for name in "${names[@]}"; do
	program=$OUT/fuzz_$name
	cp "$built/fuzz_$name" "$program"
	for library in $(libraries "$program"); do
		cp -Ln "$library" "$OUT/lib/"
	done
	rm -f "${program}_seed_corpus.zip"
	folders=()
	for kind in seed found regress; do
		[ ! -d "$source/corpus/$name/$kind" ] || folders+=("$kind")
	done
	(cd "$source/corpus/$name" && zip -q -r -X "${program}_seed_corpus.zip" "${folders[@]}")
	dictionary=$(field "$name" 3)
	[ "$dictionary" = - ] || cp "$source/fuzz/$dictionary" "$program.dict"
	printf '[libfuzzer]\nmax_len = %s\n' "$(field "$name" 2)" > "$program.options"
done
echo "${#names[@]} targets in $OUT"
