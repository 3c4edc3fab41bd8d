# SPDX-License-Identifier: MIT
"""One QEMU process and its three lines out: control, standard output, standard error."""
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

# nokaslr: addresses in two logs compare. oops=panic: an oops ends the run at once, with its cause named.
KERNEL_ARGUMENTS = ("console=ttyS0 loglevel=5 panic=-1 oops=panic nokaslr "
                    "random.trust_cpu=on rdinit=/init")


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def option(text):
    """A path inside a QEMU option: commas are doubled."""
    return text.replace(",", ",,")


class Stream:
    """Output on its way to a file descriptor; the guest closes it by a mark that no program can guess."""

    def __init__(self, sink, mark):
        self.sink = sink
        self.mark = mark
        self.held = b""
        self.ended = False

    def take(self, data):
        self.held += data
        if self.held.endswith(self.mark):
            self.write(self.held[:-len(self.mark)])
            self.held = b""
            self.ended = True
            return
        keep = next((n for n in range(len(self.mark) - 1, 0, -1) if self.held.endswith(self.mark[:n])), 0)
        ready, self.held = self.held[:len(self.held) - keep], self.held[len(self.held) - keep:]
        self.write(ready)

    def flush(self):
        """What was held back belongs to the output after all when the guest is gone."""
        self.write(self.held)
        self.held = b""

    def write(self, data):
        while data:
            data = data[os.write(self.sink, data):]


class Guest:
    """start(), then pump events with wait_line(); output streams to the given file descriptors all the while."""

    def __init__(self, image, accel, smp, memory_mib, directories):
        self.image = image
        self.accel = accel
        self.smp = smp
        self.memory_mib = memory_mib
        self.directories = directories  # log, control, share
        self.sockets = {}
        self.end_mark = f"\0o2ref-end-{os.urandom(16).hex()}\n".encode()
        self.streams = {"out": Stream(1, self.end_mark), "err": Stream(2, self.end_mark)}
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
                "-kernel", self.image.vmlinux, "-initrd", self.image.initrd, "-append", KERNEL_ARGUMENTS,
                "-chardev", f"file,id=console,path={option(self.console_path())}", "-serial", "chardev:console",
                "-device", "virtio-serial-pci,max_ports=4"]
        for number, (name, port) in enumerate(ports.items(), start=1):
            args += ["-chardev", f"socket,id={name},fd={port.fileno()}",
                     "-device", f"virtserialport,chardev={name},nr={number},name=o2ref.{name}"]
        return args + self.share_arguments()

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
                                         pass_fds=[port.fileno() for port in far.values()], start_new_session=True,
                                         preexec_fn=die_with_parent)
        for port in far.values():
            port.close()

    def kill(self):
        if self.qemu:
            self.qemu.kill()
            self.qemu.wait()
        for port in self.sockets.values():
            port.close()
        self.sockets = {}

    def send(self, line):
        try:
            self.sockets["control"].sendall(line.encode() + b"\n")
        except (OSError, KeyError):
            pass  # a guest that died says so by the end of its streams

    def pump(self, seconds):
        """Move what has arrived; waits at most the given time for something to arrive."""
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
        """The guest's next control line; None at the deadline, "" when the guest is gone."""
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
        """Wait for the end of both streams; False if something of them is missing."""
        deadline = time.monotonic() + DRAIN_SECONDS
        while not all(stream.ended for stream in self.streams.values()):
            if not self.alive() or time.monotonic() > deadline:
                return False
            self.pump(1)
        return True

    def collect(self):
        """Ask for dmesg, devices and counters of a guest that failed but still answers."""
        self.send("collect")
        self.wait_line(time.monotonic() + COLLECT_SECONDS)

    def abort(self):
        """Stop the command; its exit line if the guest manages to give one."""
        self.send("abort")
        return self.wait_line(time.monotonic() + ABORT_GRACE_SECONDS)
