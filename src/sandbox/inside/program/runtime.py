"""Creates the module `runtime`, which user code imports or uses as a global (C-5.4)."""

from __future__ import annotations

import builtins
import sys
from types import ModuleType

from blobs import Blobs
from calls import BlobError, SkillError
from entry import call, is_awaiting, join_args, settle
from result import is_envelope


class SecretError(LookupError):
    """The secret is not available to this program."""


SecretError.__module__ = "runtime"


def install_runtime(run: dict, deadline: float, calls, importer) -> None:
    """Installs it as a module and as a built-in name. It has only documented attributes."""
    program = run["program"]
    runtime = ModuleType("runtime", "What a program may ask of the place it runs in.")
    runtime.args = program.get("args")
    runtime.run_id = run["run_id"]
    runtime.deadline = deadline
    runtime.blobs = Blobs(run["blobs"], run["roots"]["blobs"], calls)
    runtime.result = to_envelope
    runtime.secret = _secrets(run["secrets"], program["type"])
    runtime.skill = _skills(importer, run["limits"]["result_bytes"])
    runtime.SkillError = SkillError
    runtime.BlobError = BlobError
    runtime.SecretError = SecretError
    sys.modules["runtime"] = runtime
    builtins.runtime = runtime


def to_envelope(output=None, summary: str | None = None, output_blobs=()) -> dict:
    """A return value with a summary for people and the ids of blobs, besides the output."""
    if summary is not None and not isinstance(summary, str):
        raise TypeError(f"summary must be a string, not {type(summary).__name__}.")
    return {"output": output, "summary": summary, "output_blobs": list(output_blobs or ())}


def _secrets(values: dict, program: str):
    def secret(name: str) -> str:
        """The value of a secret that the skill's manifest declares."""
        if name in values:
            return values[name]
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
