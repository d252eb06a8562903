"""Frames: a JSON object, optionally followed by bytes, on a stream. The stream is two functions, so that it also works in Pyodide.
"""

from __future__ import annotations

import builtins
from _thread import allocate_lock
from json.decoder import JSONDecoder
from json.encoder import JSONEncoder, c_make_encoder, encode_basestring

# A copy: changes of `builtins` or `json` by user code must not affect sending the result.
__builtins__ = dict(vars(builtins))

HEADER_LIMIT_IN = 8 * 1024 * 1024
HEADER_LIMIT_OUT = 5 * 1024 * 1024


class FrameError(Exception):
    """The other side or the caller violated the protocol."""


class Channel:
    """Frames over `read(size)`, which returns b"" at the end, and `write(bytes)`, which returns how many it wrote."""

    def __init__(self, read, write):
        self._read = read
        self._write = write
        self._lock = allocate_lock()

    def send(self, header: dict, payload=None) -> None:
        """Sends a frame. Thread-safe."""
        if payload is not None:
            header = {**header, "bytes": len(payload)}
        encoded = encode(header)
        if len(encoded) > HEADER_LIMIT_OUT:
            raise FrameError(f"A header of {len(encoded)} bytes is too long.")
        with self._lock:
            self._put(encoded, payload)

    def _put(self, header: bytes, payload) -> None:
        self._write_all(len(header).to_bytes(4, "big") + header)
        if payload is not None:
            self._write_all(payload)

    def receive(self) -> dict:
        """Returns the next header. Raises EOFError at the end of the stream."""
        size = int.from_bytes(self._read_all(4), "big")
        if size > HEADER_LIMIT_IN:
            raise FrameError(f"A header of {size} bytes is too long.")
        header = decode(self._read_all(size))
        if type(header) is not dict or type(header.get("type")) is not str:
            raise FrameError("A frame header must be an object with a type.")
        return header

    def _write_all(self, content) -> None:
        rest = memoryview(content).cast("B")
        while rest:
            rest = rest[self._write(rest) :]

    def _read_all(self, size: int) -> bytes:
        parts = []
        while size > 0:
            part = self._read(min(size, 1 << 20))
            if not part:
                raise EOFError("The host closed the connection.")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def encode(value) -> bytes:
    """Encodes data as compact JSON in UTF-8."""
    return _to_text(value).encode("utf-8", "replace")


def decode(content: bytes):
    """Parses JSON."""
    text = content.decode("utf-8")
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        raise FrameError("A frame header must be JSON.") from None
    if end != len(text):
        raise FrameError("A frame header must be one JSON value.")
    return value


def well_formed(text: str) -> str:
    """Joins surrogate pairs and replaces lone surrogates, which UTF-8 cannot encode."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _refuse(value):
    raise TypeError(f"{type(value).__name__} is not JSON data")


_scan = JSONDecoder().scan_once

if c_make_encoder is None:
    _to_text = JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")).encode
else:
    # What JSONEncoder creates for every call, without its replaceable methods.
    _encoder = c_make_encoder(None, _refuse, encode_basestring, None, ":", ",", False, False, False)

    def _to_text(value) -> str:
        return "".join(_encoder(value, 0))
