# SPDX-License-Identifier: MIT
"""What ci/fuzz, ci/fuzz-minimise and ci/bench-fuzz share (docs/fuzzing.md)."""
