"""Calls from the program to its host, one at a time."""

from __future__ import annotations

import builtins
import os
from _thread import allocate_lock

from result import to_plain

__builtins__ = dict(vars(builtins))

ARGS_LIMIT = 4 * 1024 * 1024


class SkillError(Exception):
    """A called skill failed."""

    def __init__(self, type: str, message: str, run_id: str | None = None):
        super().__init__(type, message, run_id)
        self.type = type
        self.message = message
        self.run_id = run_id

    def __str__(self) -> str:
        return f"{self.type}: {self.message}"


class BlobError(Exception):
    """A blob could not be read or created."""


# User code imports both from `runtime`.
SkillError.__module__ = BlobError.__module__ = "runtime"


class Calls:
    """Calls over a channel. Can be used from any thread, but not from forked processes."""

    def __init__(self, channel):
        self._channel = channel
        self._lock = allocate_lock()
        self._process = os.getpid()
        self._last_id = 0

    def create_blob(self, kind: str, content) -> str:
        """Stores bytes and returns the id of the blob."""
        reply = self._ask({"type": "create_blob", "kind": kind}, content)
        error = reply.get("error")
        if error is not None:
            raise BlobError(error["message"])
        return reply["value"]

    def call_skill(self, name: str, args):
        """Runs a brokered skill in a sandbox of its own and returns its output."""
        reply = self._ask({"type": "call_skill", "name": name, "args": to_plain(args, "args", ARGS_LIMIT)})
        error = reply.get("error")
        if error is not None:
            raise SkillError(error["type"], error["message"], error.get("run_id"))
        return reply["value"]

    def _ask(self, request: dict, payload=None) -> dict:
        if os.getpid() != self._process:
            raise RuntimeError("runtime calls are not available in forked processes.")
        with self._lock:
            self._last_id += 1
            asked = self._last_id
            self._channel.send({**request, "id": asked}, payload)
            # Skip the answer to an earlier call that was interrupted.
            while True:
                reply = self._channel.receive()
                if reply["type"] == "reply" and reply.get("id") == asked:
                    return reply
