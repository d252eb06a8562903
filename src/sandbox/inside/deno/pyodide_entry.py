"""Where a run begins in Pyodide: a channel over two functions of JavaScript, and the program."""

from __future__ import annotations

import _socket
import socket

from frames import HEADER_LIMIT_OUT, Channel, FrameError, encode
from program import serve, warm_up
from pyodide.ffi import to_js


def _no_names(*_args, **_options):
    raise socket.gaierror(socket.EAI_FAIL, "The sandbox has no network access")


warm_up()
# Emscripten would make up an address for every name.
for _name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo"):
    setattr(_socket, _name, _no_names)
    setattr(socket, _name, _no_names)


class HostChannel(Channel):
    """Sends a frame by one call, so that nothing printed meanwhile can tear it."""

    def __init__(self, read, post):
        super().__init__(lambda size: read(size).to_bytes(), None)
        self._post = post

    def send(self, header: dict, payload=None) -> None:
        if payload is not None:
            header = {**header, "bytes": len(payload)}
        encoded = encode(header)
        if len(encoded) > HEADER_LIMIT_OUT:
            raise FrameError(f"A header of {len(encoded)} bytes is too long.")
        with self._lock:
            self._post(to_js(memoryview(encoded)), None if payload is None else to_js(memoryview(payload).cast("B")))


def run(read, post) -> int:
    """Serves the one run of this process; answers the exit status of a script."""
    return serve(HostChannel(read, post))
