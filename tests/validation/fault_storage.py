# SPDX-License-Identifier: Apache-2.0
"""Storage behind a network, as slow as each request asks for: fault_storage.py FOLDER, prints its port.

A request is a line `NAME SECONDS BYTES_PER_SECOND`. The file's contents follow after SECONDS. They come at
BYTES_PER_SECOND for all readers together (0: no limit). The reader waits inside its recv(), as with a real slow server.
"""
import os
import socket
import socketserver
import sys
import threading
import time


class Bucket:
    """Shares a number of bytes a second among all readers: readers that come later wait longer."""

    def __init__(self):
        self.lock, self.free = threading.Lock(), 0.0

    def take(self, size, rate):
        with self.lock:
            self.free = max(self.free, time.monotonic()) + size / rate
            until = self.free
        time.sleep(max(0.0, until - time.monotonic()))


class Answer(socketserver.StreamRequestHandler):
    def handle(self):
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for line in self.rfile:
            name, delay, rate = line.decode().split()
            data = self.server.contents[name]
            if float(delay) > 0:
                time.sleep(float(delay))
            if float(rate) > 0:
                self.server.bucket.take(len(data), float(rate))
            self.wfile.write(len(data).to_bytes(8, "little") + data)


class Storage(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Answer)
        self.bucket, self.contents = Bucket(), {}
        for place, _folders, names in os.walk(folder):
            for name in names:
                path = os.path.join(place, name)
                with open(path, "rb") as file:
                    self.contents[os.path.relpath(path, folder)] = file.read()

    def handle_error(self, request, client_address):
        pass  # the reader has gone


class Reader:
    """Reads through one connection for each process."""

    def __init__(self, port):
        self.port, self.process, self.connection = port, None, None

    def read(self, name, delay=0.0, rate=0.0):
        if self.process != os.getpid():
            self.connection = socket.create_connection(("127.0.0.1", self.port))
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.process = os.getpid()
        self.connection.sendall(b"%s %r %r\n" % (name.encode(), delay, rate))
        size = int.from_bytes(self.exactly(8), "little")
        return self.exactly(size)

    def exactly(self, size):
        data = bytearray(size)
        view, got = memoryview(data), 0
        while got < size:
            more = self.connection.recv_into(view[got:])
            if more == 0:
                raise OSError("the storage closed the connection")
            got += more
        return bytes(data)


if __name__ == "__main__":
    storage = Storage(sys.argv[1])
    print(storage.server_address[1], flush=True)
    threading.Thread(target=storage.serve_forever, daemon=True).start()
    sys.stdin.read()  # ends when its parent closes the pipe
