"""Exceptions of user code as JSON data: type, message, and traceback without our own frames."""

from __future__ import annotations

import builtins
import os
from linecache import getline

from frames import well_formed
from paths import VIEWED
from result import to_plain, type_name
from runtime import SkillError

__builtins__ = dict(vars(builtins))

CODE_FILE = "<run_code>"
_MESSAGE_LIMIT = 4_000
_LINE_LIMIT = 200
_HEAD_FRAMES = 5
_TAIL_FRAMES = 15
_CHAIN_LIMIT = 4
#: The directory of our own files.
OURS = os.path.dirname(os.path.abspath(__file__)) + "/"
_view = None


def view_files(view) -> None:
    """Reports files by their protocol paths, where modules have real ones."""
    global _view
    _view = view


def to_raised(error: BaseException) -> dict:
    """The final frame of a program that raised. Does not raise, even for hostile exceptions."""
    kind = _class_name(error)
    try:
        return {"type": "raised", "error": {"type": kind, "message": _message(error), "details": _details(error)}}
    except BaseException as second:  # Out of memory, or a hostile attribute: only type and message.
        message = "Out of memory." if isinstance(second, MemoryError) else _message(error)
        return {"type": "raised", "error": {"type": kind, "message": message}}


def _details(error: BaseException) -> dict:
    position = _position(error)
    details: dict = {"traceback": _traceback(error)}
    if position is not None:
        details["file"], details["line"] = position
    if isinstance(error, SkillError):
        details["skill_error"] = to_plain({"type": error.type, "run_id": error.run_id}, "skill_error", _MESSAGE_LIMIT)
    if isinstance(error, SystemExit) and isinstance(error.code, int):
        details["exit_code"] = int(error.code)
    return details


def _class_name(error: BaseException) -> str:
    return well_formed(type_name(error))


def _message(error: BaseException) -> str:
    try:
        text = str.__str__(str(error))
    except BaseException:
        return "(the message cannot be printed)"
    if isinstance(error, MemoryError) and not text:
        return "Out of memory."
    text = well_formed(text)
    return text if len(text) <= _MESSAGE_LIMIT else text[:_MESSAGE_LIMIT] + "…"


def _frames(error: BaseException) -> list:
    """(file, line, function) of user code, outermost first. Iterative, because a traceback may be longer than the stack."""
    found = []
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        file = _viewed(code.co_filename)
        if _is_users(file):
            found.append((file, step.tb_lineno or 0, code.co_name))
        step = step.tb_next
    if isinstance(error, SyntaxError) and isinstance(error.filename, str) and isinstance(error.lineno, int):
        file = _viewed(error.filename)
        if _is_users(file):
            found.append((file, error.lineno, None))
    return found


def _viewed(file: str) -> str:
    return file if _view is None else _view.viewed(file)


def _is_users(file: str) -> bool:
    if file.startswith(OURS):
        return False
    if file.startswith("<"):
        return not file.startswith("<frozen")
    return file.startswith(tuple(root + "/" for root in VIEWED.values() if root != "/packages"))


def _position(error: BaseException):
    frames = _frames(error)
    return (well_formed(frames[-1][0]), frames[-1][1]) if frames else None


def _traceback(error: BaseException) -> str:
    parts: list = []
    seen: set = set()
    current, link = error, ""
    while current is not None and len(seen) < _CHAIN_LIMIT and id(current) not in seen:
        seen.add(id(current))
        parts.append(_one_traceback(current) + link)
        if current.__cause__ is not None:
            current, link = current.__cause__, "\n\nThe above exception was the direct cause of the following exception:\n\n"
        elif not current.__suppress_context__:
            current, link = current.__context__, "\n\nDuring handling of the above exception, another exception occurred:\n\n"
        else:
            current = None
    return "".join(reversed(parts))


def _one_traceback(error: BaseException) -> str:
    frames = _frames(error)
    lines = [_frame_text(frame) for frame in frames]
    if len(lines) > _HEAD_FRAMES + _TAIL_FRAMES:
        left_out = len(lines) - _HEAD_FRAMES - _TAIL_FRAMES
        lines[_HEAD_FRAMES:-_TAIL_FRAMES] = [f"  … {left_out} more\n"]
    head = "Traceback (most recent call last):\n" if lines else ""
    message = _message(error)
    return head + "".join(lines) + _class_name(error) + (f": {message}" if message else "")


def _frame_text(frame: tuple) -> str:
    file, line, function = frame
    where = f'  File "{file}", line {line}' + (f", in {function}" if function is not None else "") + "\n"
    source = getline(file, line).strip()
    if len(source) > _LINE_LIMIT:
        source = source[:_LINE_LIMIT] + "…"
    return well_formed(where + (f"    {source}\n" if source else ""))
