# SPDX-License-Identifier: Apache-2.0
"""Tests the hooks of HTTP with a server of our own on 127.0.0.1: each connection and each answer is recorded."""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

import harness

SERVER = """
import http.server, sys, threading, time
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        time.sleep(0.02)
        body = self.path.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
"""


def has(name):
    """Returns whether the interpreter of the tested programs has a package."""
    if harness.PYTHON == sys.executable:
        return importlib.util.find_spec(name) is not None
    return subprocess.run([harness.PYTHON, "-c", "import " + name], stderr=subprocess.DEVNULL).returncode == 0


class HttpTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
        cls.url = "http://127.0.0.1:%d" % int(cls.server.stdout.readline())

    @classmethod
    def tearDownClass(cls):
        cls.server.kill()
        cls.server.wait()
        cls.server.stdout.close()

    def counted(self, code):
        """Runs a program that gets nine objects and prints each. Returns the recorded (connections, answers)."""
        result = harness.run("URL = %r\n" % self.url + code, env={"no_proxy": "*"})
        self.assertEqual((result.status, result.err), (0, ""))
        self.assertEqual(result.out, "".join("/%d\n" % i for i in range(9)))
        host = "@" + self.url[7:]
        times = {name: [r["value"] for r in result.of("counter", name=name + host)]
                 for name in ("http.connect_ns", "http.first_byte_ns")}  # fmt: skip
        # The server answers after 20 ms. On a busy machine the program may begin to wait late, and so wait for less.
        self.assertGreater(max(times["http.first_byte_ns"]), 10e6)
        self.assertGreater(min(times["http.first_byte_ns"]), 0)
        self.assertLess(max(times["http.first_byte_ns"]), 60e9)
        return len(times["http.connect_ns"]), len(times["http.first_byte_ns"])

    def test_urllib_opens_a_connection_for_each_object(self):
        code = (
            "import urllib.request\n"
            "for i in range(9):\n    print(urllib.request.urlopen(URL + '/%d' % i).read().decode())\n"
        )
        self.assertEqual(self.counted(code), (9, 9))

    def test_a_connection_that_is_kept_is_one(self):
        code = (
            "import http.client\nconnection = http.client.HTTPConnection(URL[7:])\n"
            "for i in range(9):\n"
            "    connection.request('GET', '/%d' % i)\n    print(connection.getresponse().read().decode())\n"
        )
        self.assertEqual(self.counted(code), (1, 9))
        # A Python that was built without OpenSSL has http.client, but no HTTPSConnection in it.
        self.assertEqual(self.counted("import sys\nsys.modules['ssl'] = None\n" + code), (1, 9))

    def test_a_connection_with_a_port_that_is_no_number_works_as_before(self):
        result = harness.run(
            "PORT = %d\n" % int(self.url.rpartition(":")[2]) + """
import http.client, socket
class Odd(http.client.HTTPConnection):
    port = property(lambda self: [1], lambda self, value: None)
    def connect(self):
        self.sock = socket.create_connection(("127.0.0.1", PORT))
connection = Odd("127.0.0.1")
connection.request("GET", "/odd")
print(connection.getresponse().read().decode())
"""
        )
        self.assertEqual((result.status, result.out, result.err), (0, "/odd\n", ""))
        self.assertEqual(1, len(result.of("counter", name="http.first_byte_ns")))

    def test_the_host_is_that_of_the_target(self):
        result = harness.run(
            """
            import http.client, sys
            hooks = sys.modules["penstock_hooks.http_hooks"]
            connection = http.client.HTTPSConnection("proxy", 3128)
            print(*hooks._place_of(connection))
            connection.set_tunnel("data.example.com", 443)
            print(*hooks._place_of(connection))
            names = []
            hooks.intern = lambda name: names.append(name) or len(names)
            for place in (("data.example.com", 443), ("::1", 8080), ("10.0.0.7", 9000)):
                hooks._ids_of(place)
            print(*names[::2])
            for i in range(100):
                hooks._ids_of(("host%d" % i, None))
            print(len(hooks._hosts), hooks._ids_of(("late", None)) is hooks._ids_of(("later", None)))
            """
        )
        self.assertEqual((result.status, result.err), (0, ""))
        self.assertEqual(result.out, "proxy 3128\ndata.example.com 443\nhttp.connect_ns@data.example.com "
                         "http.connect_ns@[::1]:8080 http.connect_ns@10.0.0.7:9000\n65 True\n")  # fmt: skip

    def test_a_server_that_is_not_there_is_no_connection(self):
        result = harness.run(
            "import socket, urllib.request\n"
            "free = socket.socket(); free.bind(('127.0.0.1', 0))\n"
            "try:\n    urllib.request.urlopen('http://127.0.0.1:%d/' % free.getsockname()[1])\n"
            "except OSError as e:\n    print(type(e).__name__)\n",
            env={"no_proxy": "*"},
        )
        self.assertEqual((result.status, result.err, result.out), (0, "", "URLError\n"))
        self.assertEqual(result.of("counter"), [])

    @unittest.skipUnless(has("requests"), "requests is missing")
    def test_requests_with_and_without_a_session(self):
        alone = "import requests\nfor i in range(9):\n    print(requests.get(URL + '/%d' % i).text)\n"
        self.assertEqual(self.counted(alone), (9, 9))
        kept = "import requests\nsession = requests.Session()\n" + alone.split("\n", 1)[1].replace(
            "requests.get", "session.get"
        )
        self.assertEqual(self.counted(kept), (1, 9))

    @unittest.skipUnless(has("aiohttp"), "aiohttp is missing")
    def test_aiohttp_with_and_without_a_session(self):
        kept = """
import aiohttp, asyncio
async def main():
    async with aiohttp.ClientSession() as session:
        for i in range(9):
            async with session.get(URL + "/%d" % i) as answer:
                print(await answer.text())
asyncio.run(main())
"""
        self.assertEqual(self.counted(kept), (1, 9))
        alone = """
import aiohttp, asyncio
async def main():
    for i in range(9):
        async with aiohttp.ClientSession() as session:
            async with session.get(URL + "/%d" % i) as answer:
                print(await answer.text())
asyncio.run(main())
"""
        self.assertEqual(self.counted(alone), (9, 9))

    @unittest.skipUnless(has("fsspec") and has("aiohttp"), "fsspec or aiohttp is missing")
    def test_fsspec_keeps_its_connections(self):
        code = (
            "import fsspec\nfiles = fsspec.filesystem('http')\n"
            "for i in range(9):\n    print(files.cat_file(URL + '/%d' % i).decode())\n"
        )
        self.assertEqual(self.counted(code), (1, 9))

    def test_a_coroutine_function_stays_one(self):
        with tempfile.TemporaryDirectory(prefix="penstock-") as directory:
            os.mkdir(os.path.join(directory, "aiohttp"))
            open(os.path.join(directory, "aiohttp", "__init__.py"), "w").close()
            with open(os.path.join(directory, "aiohttp", "connector.py"), "w") as file:
                file.write("class TCPConnector:\n    async def _create_connection(self, wanted):\n"
                           "        if wanted is None:\n            raise OSError('none')\n        return wanted\n")
            result = harness.run(
                """
                import asyncio, inspect
                from aiohttp.connector import TCPConnector
                print(inspect.iscoroutinefunction(TCPConnector._create_connection))
                print(asyncio.run(TCPConnector()._create_connection(7)))
                try:
                    asyncio.run(TCPConnector()._create_connection(None))
                except OSError as error:
                    print(error)
                """,
                path=[directory],
            )
        self.assertEqual((result.status, result.err, result.out), (0, "", "True\n7\nnone\n"))
        self.assertEqual([r["name"] for r in result.of("counter")], ["http.connect_ns"])


if __name__ == "__main__":
    unittest.main()
