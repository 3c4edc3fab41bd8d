# SPDX-License-Identifier: MIT
"""The soft-RoCE guest: modules of ci/vm/prepare, ci/vm/run and ci/vm/pair (docs/vm.md)."""
