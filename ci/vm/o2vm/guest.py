# SPDX-License-Identifier: MIT
"""One QEMU process and its three output channels: control, standard output, standard error."""
import ctypes
import os
import select
import signal
import socket
import subprocess
import time

from . import accel as acceleration

READ_BYTES = 65536
PR_SET_PDEATHSIG = 1
COLLECT_SECONDS = 20
ABORT_GRACE_SECONDS = 10
DRAIN_SECONDS = 30

# nokaslr: addresses in two logs can be compared.  oops=panic: an oops ends the run at once and names its cause.  For speed, as
# no attacker can reach the guest: no mitigations of side channels, pages are not cleared twice, and the kernel does not test
# its ciphers at boot.
KERNEL_ARGUMENTS = ("console=ttyS0 loglevel=5 panic=-1 oops=panic nokaslr mitigations=off init_on_alloc=0 cryptomgr.notests "
                    "no_timer_check random.trust_cpu=on rdinit=/init")


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def option(text):
    """A path for a QEMU option: commas must be doubled."""
    return text.replace(",", ",,")


def to_descriptor(number):
    """A sink that writes all data to the file descriptor."""
    def write(data):
        while data:
            data = data[os.write(number, data):]

    return write


class Stream:
    """Output on its way to a sink.  The guest ends it by a random mark that no program can guess."""

    def __init__(self, sink, mark):
        self.sink = sink
        self.mark = mark
        self.held = b""
        self.ended = False

    def take(self, data):
        self.held += data
        if self.held.endswith(self.mark):
            self.sink(self.held[:-len(self.mark)])
            self.held = b""
            self.ended = True
            return
        keep = next((n for n in range(len(self.mark) - 1, 0, -1) if self.held.endswith(self.mark[:n])), 0)
        ready, self.held = self.held[:len(self.held) - keep], self.held[len(self.held) - keep:]
        self.sink(ready)

    def flush(self):
        """The guest is gone: data held back as a possible end mark is ordinary output."""
        self.sink(self.held)
        self.held = b""


class Guest:
    """Call start(), then wait_line(), which handles events and passes output on to the two sinks.

    wire: one end of a wire to another guest (wire.End), or None.
    """

    def __init__(self, image, accel, smp, memory_mib, directories, sinks=(to_descriptor(1), to_descriptor(2)), wire=None):
        self.image = image
        self.accel = accel
        self.smp = smp
        self.memory_mib = memory_mib
        self.directories = directories  # log, control, share
        self.sockets = {}
        self.end_mark = f"\0o2ref-end-{os.urandom(16).hex()}\n".encode()
        self.streams = {name: Stream(sink, self.end_mark) for name, sink in zip(("out", "err"), sinks)}
        self.wire = wire
        self.control = b""
        self.qemu = None

    def share_arguments(self):
        args = []
        for tag, path, mode in (("hostroot", "/", "readonly=on,"), ("control", self.directories["control"], ""),
                                ("share", self.directories["share"], "")):
            args += ["-fsdev", f"local,id={tag},path={option(path)},security_model=none,{mode}multidevs=remap",
                     "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
        return args

    def arguments(self, ports):
        args = [acceleration.qemu_path(), "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
                "-machine", "q35", *acceleration.arguments(self.accel), "-smp", str(self.smp), "-m", str(self.memory_mib),
                "-kernel", self.image.boot, "-initrd", self.image.initrd,
                "-append", " ".join([KERNEL_ARGUMENTS, *acceleration.kernel_arguments(self.accel),
                                     *(self.wire.kernel_arguments() if self.wire else [])]),
                "-chardev", f"file,id=console,path={option(self.console_path())}", "-serial", "chardev:console",
                "-device", "virtio-serial-pci,max_ports=4"]
        for number, (name, port) in enumerate(ports.items(), start=1):
            args += ["-chardev", f"socket,id={name},fd={port.fileno()}",
                     "-device", f"virtserialport,chardev={name},nr={number},name=o2ref.{name}"]
        return args + self.share_arguments() + (self.wire.qemu_arguments() if self.wire else [])

    def console_path(self):
        return os.path.join(self.directories["log"], "console.log")

    def console(self):
        with open(self.console_path(), encoding="utf-8", errors="replace") as f:
            return f.read()

    def start(self):
        with open(os.path.join(self.directories["control"], "end-mark"), "wb") as f:
            f.write(self.end_mark)
        far = {}
        for name in ("control", "out", "err"):
            self.sockets[name], far[name] = socket.socketpair()
            self.sockets[name].setblocking(False)
        with open(os.path.join(self.directories["log"], "qemu.log"), "wb") as log:
            self.qemu = subprocess.Popen(self.arguments(far), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                         pass_fds=[port.fileno() for port in far.values()] + self.wire_descriptors(),
                                         start_new_session=True, preexec_fn=die_with_parent)
        for port in far.values():
            port.close()
        if self.wire:
            self.wire.close()  # only QEMU keeps it open, so the other guest notices when this QEMU ends

    def wire_descriptors(self):
        return [self.wire.fileno()] if self.wire else []

    def stop(self):
        if self.qemu:
            self.qemu.kill()
            self.qemu.wait()

    def kill(self):
        self.stop()
        for port in self.sockets.values():
            port.close()
        self.sockets = {}

    def send(self, line):
        try:
            self.sockets["control"].sendall(line.encode() + b"\n")
        except (OSError, KeyError):
            pass  # the end of its streams shows that the guest has died

    def pump(self, seconds):
        """Handle data that has arrived; waits for it at most `seconds`."""
        by_port = {port: name for name, port in self.sockets.items()}
        for port in select.select(list(by_port), [], [], max(0, seconds))[0]:
            name = by_port[port]
            try:
                data = port.recv(READ_BYTES)
            except ConnectionResetError:
                data = b""
            if not data:
                port.close()
                del self.sockets[name]
                if name in self.streams:
                    self.streams[name].flush()
            elif name == "control":
                self.control += data
            else:
                self.streams[name].take(data)

    def alive(self):
        return bool(self.sockets)

    def wait_line(self, deadline):
        """The guest's next control line; None at the deadline, "" if the guest is gone."""
        while b"\n" not in self.control:
            if not self.alive():
                return ""
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            self.pump(left)
        line, self.control = self.control.split(b"\n", 1)
        return line.decode(errors="replace")

    def drain(self):
        """Wait for the end of both streams; False if a part of them is missing."""
        deadline = time.monotonic() + DRAIN_SECONDS
        while not all(stream.ended for stream in self.streams.values()):
            if not self.alive() or time.monotonic() > deadline:
                return False
            self.pump(1)
        return True

    def ask(self, order, seconds):
        """Send an order and return the guest's answer, or None if there is none in time."""
        self.send(order)
        return self.wait_line(time.monotonic() + seconds)

    def collect(self):
        """Ask a guest that failed but still answers to write dmesg, devices and counters."""
        self.ask("collect", COLLECT_SECONDS)

    def abort(self):
        """Stop the command.  Returns its exit line, if the guest still sends one."""
        return self.ask("abort", ABORT_GRACE_SECONDS)
