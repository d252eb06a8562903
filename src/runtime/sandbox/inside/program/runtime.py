"""The module `runtime`, which user code imports or uses as a global (C-5.4), and the calls to the host that it makes."""

from __future__ import annotations

import builtins
import os
import sys
from _thread import allocate_lock
from types import ModuleType

from asking import AnsweredError, FetchError, to_fetch, why_hidden
from entry import call, is_awaiting, join_args, settle
from result import is_envelope, to_plain

__builtins__ = dict(vars(builtins))

ARGS_LIMIT = 4 * 1024 * 1024
# A method shadows this name.
_open = builtins.open


class SkillError(AnsweredError):
    """A called skill failed."""

    def __init__(self, type: str, message: str, run_id: str | None = None):
        super().__init__(type, message, run_id)
        self.run_id = run_id


class BlobError(Exception):
    """A blob could not be read or created."""


class SecretError(LookupError):
    """The secret is not available to this program."""


class SecretHiddenError(SecretError, PermissionError):
    """The secret is only sent by the host, see `runtime.fetch`."""


# User code imports them from `runtime`.
SkillError.__module__ = BlobError.__module__ = SecretError.__module__ = SecretHiddenError.__module__ = "runtime"


def install_runtime(run: dict, deadline: float, calls, importer) -> None:
    """Installs it as a module and as a built-in name. It has only documented attributes."""
    program = run["program"]
    runtime = ModuleType("runtime", "What a program may ask of the place it runs in.")
    runtime.args = program.get("args")
    runtime.run_id = run["run_id"]
    runtime.deadline = deadline
    directory = run["roots"]["blobs"]
    runtime.blobs = Blobs(run["blobs"], directory, calls, viewed=directory if "outside" in run else "/blobs")
    runtime.result = to_envelope
    uses = run.get("uses", [])
    runtime.secret = _secrets(run["secrets"], uses, program["type"])
    runtime.fetch = to_fetch(calls, uses, program["type"])
    runtime.skill = _skills(importer, run["limits"]["result_bytes"])
    runtime.SkillError = SkillError
    runtime.BlobError = BlobError
    runtime.SecretError = SecretError
    runtime.FetchError = FetchError
    sys.modules["runtime"] = runtime
    builtins.runtime = runtime


def to_envelope(output=None, summary: str | None = None, output_blobs=()) -> dict:
    """A return value with a summary for people and the ids of blobs, besides the output."""
    if summary is not None and not isinstance(summary, str):
        raise TypeError(f"summary must be a string, not {type(summary).__name__}.")
    return {"output": output, "summary": summary, "output_blobs": list(output_blobs or ())}


def _secrets(values: dict, uses: list, program: str):
    def secret(name: str) -> str:
        """The value of a secret that the skill's manifest declares."""
        if name in values:
            return values[name]
        hidden = why_hidden(name, uses)
        if hidden is not None:
            raise SecretHiddenError(hidden)
        if program == "code":
            raise SecretError("run_code has no access to secrets. Call a skill that declares the secret in its manifest.")
        raise SecretError(
            f'The secret {name!r} is not declared. Add it to skill.toml: [permissions] secrets = ["{name}"]; '
            f'without a skill.toml, to SKILL.md: metadata acp-skills-secrets: "{name}".'
        )

    return secret


def _skills(importer, limit: int):
    def skill(name: str):
        """A function that calls another skill with args as a dict or as keywords, and returns its output.

        An async skill in this process is awaited, unless the caller is async itself.
        """
        function = importer.function_of(name)

        def call_skill(args: dict | None = None, **named):
            value = call(function, join_args(args, named))
            if not is_awaiting():
                value = settle(value, limit)
            return value["output"] if is_envelope(value) else value

        return call_skill

    return skill


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

    def fetch(self, request: dict, body: bytes) -> dict:
        """Has the host make a request with a secret, and returns the answer."""
        reply = self._ask({"type": "fetch", **request}, body)
        error = reply.get("error")
        if error is not None:
            raise FetchError(error["type"], error["message"])
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


class Blobs:
    """Blob ids are accepted with or without `blob:`."""

    def __init__(self, mounted: list, directory: str, calls, viewed: str = "/blobs"):
        self._viewed = viewed
        self._mounted = {one["id"]: dict(one) for one in mounted}
        self._directory = directory
        self._calls = calls

    def list(self) -> list:
        """All mounted blobs as `{"id", "kind", "size_bytes"}`."""
        return [dict(info) for info in self._mounted.values()]

    def info(self, blob_id: str) -> dict:
        """`{"id", "kind", "size_bytes"}` of a blob."""
        return dict(self._find(blob_id))

    def path(self, blob_id: str) -> str:
        """The path of the mounted blob, read-only."""
        return f"{self._viewed}/{self._find(blob_id)['id']}"

    def open(self, blob_id: str, mode: str = "r", **options):
        """Opens a blob for reading, as UTF-8 text or, with mode "rb", as bytes."""
        if set(mode) - set("rbt") or "r" not in mode:
            raise BlobError("Blobs are read-only: use mode 'r' or 'rb', or create a new blob with blobs.create.")
        if "b" not in mode:
            options.setdefault("encoding", "utf-8")
        return _open(os.path.join(self._directory, self._find(blob_id)["id"]), mode, **options)

    def read_text(self, blob_id: str, encoding: str = "utf-8", errors: str = "strict") -> str:
        with self.open(blob_id, "r", encoding=encoding, errors=errors, newline="") as file:
            return file.read()

    def read_bytes(self, blob_id: str) -> bytes:
        with self.open(blob_id, "rb") as file:
            return file.read()

    def create(self, content, kind: str | None = None) -> str:
        """Stores text or bytes as a new blob and returns its id."""
        if isinstance(content, str):
            return self._calls.create_blob(kind or "text/plain", content.encode("utf-8"))
        if isinstance(content, (bytes, bytearray, memoryview)):
            view = memoryview(content)
            # An empty multidimensional view cannot be cast.
            whole = view.cast("B") if view.c_contiguous and view.nbytes > 0 else view.tobytes()
            return self._calls.create_blob(kind or "application/octet-stream", whole)
        name = type(content).__name__
        raise TypeError(f"A blob must be text or bytes, not {name}. For other data, use json.dumps(…) and kind 'application/json'.")

    def create_file(self, path, kind: str | None = None) -> str:
        """Stores a file as a new blob and returns its id. The default kind depends on the file name."""
        if kind is None:
            from mimetypes import MimeTypes

            kind = MimeTypes().guess_type(os.fspath(path))[0] or "application/octet-stream"
        with _open(path, "rb") as file:
            return self._calls.create_blob(kind, file.read())

    def _find(self, blob_id: str) -> dict:
        found = self._mounted.get(blob_id) or self._mounted.get(f"blob:{blob_id}")
        if found is None:
            mounted = ", ".join(self._mounted) or "none"
            raise BlobError(f"No blob {blob_id!r} is mounted. Mounted: {mounted}. Add it to input_blobs.")
        return found
