# SPDX-License-Identifier: MIT
"""The wire between the two guests of a pair: a network card in each, and a socket between the two QEMU processes."""
import socket

# Passed as file descriptors: no path that could be too long, no port, and nothing left behind.  A local socket,
# since one of TCP holds a message back for some 40 ms.
MTU = 4500  # as of the pair of devices in each guest (rxe-up)
ADDRESSES = {"a": "192.168.78.1", "b": "192.168.78.2"}


class End:
    """One guest's end; with a capture, that end writes what passes it either way as a pcap file."""

    def __init__(self, side, port, capture=None, snap_bytes=65535):
        self.side = side
        self.port = port
        self.capture = capture
        self.snap_bytes = snap_bytes

    def fileno(self):
        return self.port.fileno()

    def close(self):
        self.port.close()

    def kernel_arguments(self):
        # What a kernel does not know of a line it hands to the first process.  A virtual processor that polls for
        # something to do takes its time from the other guest.
        return ["idle=halt", f"o2ref_wire={self.side}"]

    def qemu_arguments(self):
        args = ["-netdev", f"stream,id=wire,server=off,addr.type=fd,addr.str={self.fileno()}",
                "-device", f"virtio-net-pci,netdev=wire,mac=02:00:00:00:78:0{1 if self.side == 'a' else 2},host_mtu={MTU}"]
        if self.capture:
            path = self.capture.replace(",", ",,")
            args += ["-object", f"filter-dump,id=capture,netdev=wire,file={path},maxlen={self.snap_bytes}"]
        return args


def make(capture=None, snap_bytes=65535):
    """Both ends; the capture is made at a's."""
    a, b = socket.socketpair()
    return End("a", a, capture, snap_bytes), End("b", b)
