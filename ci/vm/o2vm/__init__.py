# SPDX-License-Identifier: MIT
"""The soft-RoCE guest: what ci/vm/prepare and ci/vm/run are made of (docs/vm.md)."""
