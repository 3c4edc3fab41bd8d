# SPDX-License-Identifier: MIT
"""What ci/campaign and ci/test share (docs/campaign.md)."""
