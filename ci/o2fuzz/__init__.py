# SPDX-License-Identifier: MIT
"""Modules that ci/fuzz, ci/fuzz-minimise and ci/bench-fuzz share (docs/fuzzing.md)."""
