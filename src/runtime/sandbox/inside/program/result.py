"""Converts the result of a program to JSON data with limits."""

from __future__ import annotations

import builtins
import sys
from math import isfinite

from frames import encode, well_formed

__builtins__ = dict(vars(builtins))

DEPTH_LIMIT = 200
#: Of keys and values: the host refuses more, because parsing them in one go would block it.
VALUES_LIMIT = 1_000_000
#: The size of a frame besides the result.
_FRAME_ROOM = 1024
#: The fewest digits that `sys.set_int_max_str_digits` can be set to are 640, which takes more bits than this.
_SURELY_PRINTABLE_BITS = 2100


class OutputNotSerializableError(TypeError):
    """A value in the output cannot be represented in JSON; the message says where."""


class OutputLimitError(ValueError):
    """The output is too large or nested too deeply."""


def to_returned(value, limit: int) -> dict:
    """The final frame of a program that returned `value`. A dict with `output` and `summary` (a string or None) is an envelope; any other value
    is the output.
    """
    if not is_envelope(value):
        return {"type": "returned", "value": to_plain(value, "output", limit)}
    frame = {"type": "returned", "value": to_plain(value["output"], "output", limit)}
    if value["summary"] is not None:
        frame["summary"] = to_plain(value["summary"], "summary", limit)
    if value.get("output_blobs"):
        frame["output_blobs"] = _to_blob_ids(value["output_blobs"])
    if len(encode(frame)) > limit + _FRAME_ROOM:
        raise OutputLimitError(_too_large("output together with its summary and output_blobs", limit))
    return frame


def is_envelope(value) -> bool:
    """Whether a value is an envelope, as `runtime.result` returns it."""
    return (
        isinstance(value, dict)
        and "output" in value
        and "summary" in value
        and (value["summary"] is None or isinstance(value["summary"], str))
    )


def to_plain(value, name: str, limit: int):
    """A copy with only dict, list, str, int, float, bool and None, of at most `limit` bytes as compact JSON."""
    try:
        plain = _Copy(limit).of(value, 0)
    except _Refusal as refusal:
        where = name + "".join(reversed(refusal.path))
        raise refusal.kind(refusal.sentence.replace("{where}", where)) from None
    size = len(encode(plain))
    if size > limit:
        raise OutputLimitError(_too_large(name, limit))
    return plain


def _to_blob_ids(ids) -> list:
    if not isinstance(ids, (list, tuple)):
        raise OutputNotSerializableError("output_blobs must be a list of blob ids.")
    for index, one in enumerate(ids):
        if not isinstance(one, str):
            raise OutputNotSerializableError(f"output_blobs[{index}] must be a blob id, not {type(one).__name__}.")
    return [well_formed(str.__str__(one)) for one in ids]


def _too_large(where: str, limit: int) -> str:
    return f"{where} is larger than {limit} bytes as JSON. Keep what is big in a blob: runtime.blobs.create(content, kind)."


class _Refusal(Exception):
    """Collects the path to the invalid value while it propagates."""

    def __init__(self, kind: type, sentence: str):
        self.kind = kind
        self.sentence = sentence
        self.path: list = []


class _Copy:
    """Copies a value. Counts its minimum size, so that shared references cannot expand without limit."""

    def __init__(self, limit: int):
        self._limit = limit
        self._left = limit
        self._values = VALUES_LIMIT

    def of(self, value, depth: int):
        self._count(1)
        kind = type(value)
        if kind is str:
            self._spend(len(value) + 2)
            return value if value.isascii() else well_formed(value)
        if value is None or kind is bool:
            self._spend(4)
            return value
        if kind is int:
            return self._integer(value)
        if kind is float:
            self._spend(3)
            return value if isfinite(value) else None
        if issubclass(kind, dict):
            return self._object(value, depth + 1)
        if issubclass(kind, (list, tuple)):
            return self._array(value, depth + 1)
        # Subclasses, such as enum members, like json does.
        if issubclass(kind, str):
            return self.of(str.__str__(value), depth)
        if issubclass(kind, int):
            return self.of(int.__int__(value), depth)
        if issubclass(kind, float):
            return self.of(float.__float__(value), depth)
        raise _Refusal(OutputNotSerializableError, _no_form(value))

    def _array(self, value, depth: int) -> list:
        self._descend(depth)
        items = list(value)
        self._spend(len(items) + 1)
        copy = []
        index = 0
        try:
            for index, item in enumerate(items):
                copy.append(self.of(item, depth))
        except _Refusal as refusal:
            refusal.path.append(f"[{index}]")
            raise
        return copy

    def _object(self, value, depth: int) -> dict:
        self._descend(depth)
        items = list(dict.items(value))
        self._spend(len(items) * 2 + 1)
        self._count(len(items))
        copy = {}
        key = None
        try:
            for key, item in items:
                copy[key if type(key) is str and key.isascii() else self._key(key)] = self.of(item, depth)
        except _Refusal as refusal:
            refusal.path.append(_step(key))
            raise
        return copy

    def _key(self, key) -> str:
        """As json has it."""
        if isinstance(key, str):
            return well_formed(str.__str__(key))
        if key is None or isinstance(key, bool):
            return {None: "null", True: "true", False: "false"}[key]
        if isinstance(key, int):
            return int.__repr__(self._integer(int.__int__(key)))
        if isinstance(key, float):
            key = float.__float__(key)
            return float.__repr__(key) if isfinite(key) else "NaN" if key != key else "Infinity" if key > 0 else "-Infinity"
        raise _Refusal(OutputNotSerializableError, "The key {where} is of type " + type_name(key) + "; JSON has text.")

    def _integer(self, value: int) -> int:
        bits = value.bit_length()
        self._spend(1 + bits * 3 // 10)
        if bits > _SURELY_PRINTABLE_BITS:
            try:
                int.__repr__(value)
            except ValueError:
                digits = sys.get_int_max_str_digits()
                sentence = f"{{where}} is an integer of more than {digits} digits, which Python does not print. Use hex()."
                raise _Refusal(OutputNotSerializableError, sentence) from None
        return value

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise _Refusal(OutputLimitError, _too_large("The value that holds {where}", self._limit))

    def _count(self, values: int) -> None:
        self._values -= values
        if self._values < 0:
            sentence = f"The output has more than {VALUES_LIMIT} keys and values. Keep them in a blob: runtime.blobs.create(content, kind)."
            raise _Refusal(OutputLimitError, sentence)

    @staticmethod
    def _descend(depth: int) -> None:
        if depth > DEPTH_LIMIT:
            sentence = f"The output is deeper than {DEPTH_LIMIT} levels. Does it hold itself?"
            raise _Refusal(OutputLimitError, sentence)


def _step(key) -> str:
    if not isinstance(key, str):
        return f"[<{type_name(key)}>]"
    key = well_formed(str.__str__(key))
    if key.isidentifier():
        return "." + key
    return "[" + ascii(key if len(key) <= 60 else key[:60] + "…") + "]"


def type_name(value) -> str:
    return type.__dict__["__name__"].__get__(type(value))


def _no_form(value) -> str:
    name = type_name(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"{{where}} is {name}, which JSON does not have. Keep it in a blob: runtime.blobs.create(content, kind)."
    if isinstance(value, (set, frozenset)):
        return f"{{where}} is a {name}, which JSON does not have. Return sorted(…) or list(…) of it."
    return f"{{where}} is of type {name}, which JSON does not have. Return text, numbers, lists and dicts; such as str(…) of it."
