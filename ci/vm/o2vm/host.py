# SPDX-License-Identifier: MIT
"""--host: run the command with the host's own soft-RoCE devices, without a guest."""
import os

from .common import CannotRun

SYSFS = "/sys/class/infiniband"
# Names of counters that only the soft-RoCE driver has; node descriptions cannot be used, as the system may change them.
RXE_COUNTERS = ("sent_pkts", "completer_retry_err", "lifespan_exceeded_err", "rcvd_rnr_err", "out_of_seq_request")
IPV4_MAPPED = "0000:0000:0000:0000:0000:ffff:"


def read(path):
    try:
        with open(path, encoding="ascii") as f:
            return f.read().strip()
    except OSError:
        return ""


def is_rxe(device):
    counters = os.path.join(SYSFS, device, "ports/1/hw_counters")
    known = [name for name in RXE_COUNTERS if os.path.exists(os.path.join(counters, name))]
    return len(known) >= 3 or read(os.path.join(SYSFS, device, "node_desc")) == "rxe"


def gid_index(device):
    """(index, dotted address) of the IPv4-mapped RoCE v2 entry in the GID table, or None."""
    gids = os.path.join(SYSFS, device, "ports/1/gids")
    for index in sorted(os.listdir(gids), key=int):
        gid = read(os.path.join(gids, index))
        if gid.startswith(IPV4_MAPPED) and read(os.path.join(SYSFS, device, "ports/1/gid_attrs/types", index)) == "RoCE v2":
            words = gid.replace(":", "")[-8:]
            return index, ".".join(str(int(words[i:i + 2], 16)) for i in range(0, 8, 2))
    return None


def environment():
    """The variables that the guest sets.  If the host has only one device, it is both ends."""
    devices = sorted(name for name in (os.listdir(SYSFS) if os.path.isdir(SYSFS) else []) if is_rxe(name))
    usable = []
    for device in devices:
        if read(os.path.join(SYSFS, device, "ports/1/state")) == "4: ACTIVE" and gid_index(device):
            usable.append((device, *gid_index(device)))
    if not usable:
        found = f"{', '.join(devices)} not active with an IPv4 address" if devices else "none found"
        raise CannotRun(f"the host has no soft-RoCE device to use ({found}); without --host the run brings its own guest")
    first = usable[0]
    second = next((entry for entry in usable[1:] if entry[1] == first[1]), first)
    return {"O2REF_RXE_A": first[0], "O2REF_RXE_B": second[0], "O2REF_GID_INDEX": first[1],
            "O2REF_IP_A": first[2], "O2REF_IP_B": second[2]}
