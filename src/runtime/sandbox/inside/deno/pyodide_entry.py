"""The entry point in Pyodide: runs the program with a channel over two JavaScript functions."""

from __future__ import annotations

import _socket
import socket

from frames import Channel
from program import serve, warm_up
from pyodide.ffi import to_js


def _no_names(*_args, **_options):
    raise socket.gaierror(socket.EAI_FAIL, "The sandbox has no network access")


warm_up()
# Emscripten would return a fake address for every name.
for _name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo"):
    setattr(_socket, _name, _no_names)
    setattr(socket, _name, _no_names)


class HostChannel(Channel):
    """Sends each frame in one call, so that printed output cannot interleave with it."""

    def __init__(self, read, post):
        super().__init__(lambda size: read(size).to_bytes(), None)
        self._post = post

    def _put(self, header: bytes, payload) -> None:
        self._post(to_js(memoryview(header)), None if payload is None else to_js(memoryview(payload).cast("B")))


def run(read, post) -> int:
    """Serves the one run of this process; returns the exit status of a script."""
    return serve(HostChannel(read, post))
