# SPDX-License-Identifier: MIT
"""The wire between the two guests of a pair: a network card in each, and a socket between the two QEMU processes."""
import socket

# The socket is passed as file descriptors: no path that could be too long, no port, and no file is left behind.  It is a local
# socket, because a TCP socket delays messages by some 40 ms.
MTU = 4500  # the same as for the pair of devices in each guest (rxe-up)
ADDRESSES = {"a": "192.168.78.1", "b": "192.168.78.2"}


class End:
    """One guest's end of the wire; if a capture is wanted, this end writes packets of both directions to a pcap file."""

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
        # The kernel passes parameters that it does not know to the first process.  idle=halt: a virtual processor that polls
        # while it is idle takes time from the other guest.
        return ["idle=halt", f"o2ref_wire={self.side}"]

    def qemu_arguments(self):
        args = ["-netdev", f"stream,id=wire,server=off,addr.type=fd,addr.str={self.fileno()}",
                "-device", f"virtio-net-pci,netdev=wire,mac=02:00:00:00:78:0{1 if self.side == 'a' else 2},host_mtu={MTU}"]
        if self.capture:
            path = self.capture.replace(",", ",,")
            args += ["-object", f"filter-dump,id=capture,netdev=wire,file={path},maxlen={self.snap_bytes}"]
        return args


def make(capture=None, snap_bytes=65535):
    """Make both ends; guest a's end writes the capture."""
    a, b = socket.socketpair()
    return End("a", a, capture, snap_bytes), End("b", b)
