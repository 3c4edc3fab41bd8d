# SPDX-License-Identifier: MIT
"""Modules that ci/campaign and ci/test share (docs/campaign.md)."""
