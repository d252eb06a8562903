"""The program process: waits for one run, gives up its rights, runs the user's code, and sends the result.

Once user code runs, nothing in this process is trusted. Portable: what needs processes and descriptors is passed in.
"""

from __future__ import annotations

import atexit
import builtins
import linecache
import os
import sys
import time
from io import open_code
from types import ModuleType

import paths
from entry import call, find_function, join_args, settle
from failures import CODE_FILE, OURS, to_raised, view_files
from importer import SkillImporter, to_module
from result import to_returned
from runtime import Calls, install_runtime

__builtins__ = dict(vars(builtins))

#: Imported in advance because many programs need them. Each costs every sandbox CPU time and memory.
_WARM = (
    "base64 bisect collections.abc copy csv dataclasses datetime decimal enum functools hashlib heapq io itertools json math "
    "operator pathlib random re string traceback typing unicodedata urllib.parse"
).split()
#: What to do about a skill that is not mounted, by kind of program.
_REMEDIES = {
    "code": "Add it to mount_skills.",
    "skill": 'Declare it in skill.toml: [dependencies] skills = ["…"].',
    "script": "Scripts cannot import other skills.",
}
_RECURSION_LIMIT = 1000

_getpid = os.getpid
_set_recursion_limit = sys.setrecursionlimit


def warm_up() -> None:
    """Imports common modules, in a sandbox that is prepared in advance."""
    for name in _WARM:
        __import__(name)


def serve(channel, confine=None, prepare=None, execute=None) -> int:
    """
    Waits for a `run` frame on the channel (`send(header, payload=None)`, `receive()`), runs it, and returns the exit status for the
    process: that of a script, otherwise 0. In order: environment, `prepare(run)`, working directory, `confine(run)`, user code.
    `execute(run)` replaces the process by the interpreter of a script that is not Python. Raises errors before user code only.
    """
    _open_streams()
    ours = _hide_ourselves()
    try:
        run = channel.receive()
    except EOFError:
        return 0
    if run["type"] != "run":
        raise ValueError(f"Expected a run frame, not {run['type']!r}.")
    arrived = time.time()
    program = run["program"]
    if program["type"] not in _REMEDIES:
        raise ValueError(f"Unknown kind of program: {program['type']!r}.")
    _settle_in(run, ours)
    if prepare is not None:
        prepare(run)
    os.chdir(run["roots"]["workspace"])
    if confine is not None:
        confine(run)
    if program["type"] == "script" and program["language"] != "python":
        if execute is None:
            raise RuntimeError(f"{program['language']} is not available in this tier.")
        execute(run)
    calls = Calls(channel)
    importer = SkillImporter(
        run["skills"],
        run["brokered"],
        run["roots"]["skills"],
        lambda name: _stub(calls, name),
        _REMEDIES[program["type"]],
        viewed=paths.skills_of(run),
    )
    importer.install()
    install_runtime(run, arrived + run["deadline_ms"] / 1000, calls, importer)
    process = _getpid()
    if program["type"] == "script":
        status = _run_script(run)
        _flush()
        return status
    frame = _outcome(run, importer)
    _flush()
    # Not in a forked process of the user's that returned here.
    return _send(channel, frame) if _getpid() == process else 0


def _send(channel, frame: dict) -> int:
    try:
        channel.send(frame)
    except OSError:
        return 1  # Closed by user code, or the host is gone.
    except BaseException as error:
        return 1 if frame["type"] == "raised" else _send(channel, to_raised(error))
    return 0


def _open_streams() -> None:
    """Any text can be printed; output is line-buffered."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)


def _settle_in(run: dict, ours: list) -> None:
    """Sets up environment and paths for user code."""
    os.environ.clear()
    os.environ.update(run["environment"])
    if run["program"]["type"] == "script":
        for name, value in run["secrets"].items():
            os.environ.setdefault(name, value)
    sys.dont_write_bytecode = True
    sys.argv[:] = [CODE_FILE]
    if run["roots"].get("packages"):
        sys.path.append(run["roots"]["packages"])
    if "random" in sys.modules:
        sys.modules["random"].seed()
    is_outside = "outside" in run
    view = paths.View(run["roots"], paths.VIEWED_OUTSIDE if is_outside else paths.VIEWED)
    if view.needed:
        paths.install(view, [*sys.modules.values(), *ours], shows_real=is_outside)
    if is_outside:
        view_files(view)


def _hide_ourselves() -> list:
    """Removes and returns our modules from `sys.modules`: a skill may have a `calls.py` too."""
    ours = []
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(OURS):
            ours.append(sys.modules.pop(name))
    sys.path[:] = [one for one in sys.path if one not in ("", OURS[:-1])]
    sys.modules["__main__"] = ModuleType("__main__")
    return ours


def _outcome(run: dict, importer: SkillImporter) -> dict:
    """Runs the program and returns its final frame. The exception and the memory it references are released."""
    program = run["program"]
    limit = run["limits"]["result_bytes"]
    called = False
    try:
        try:
            function = _load(program, importer)
            called = True
            value = settle(call(function, program["args"]), limit)
        finally:
            _set_recursion_limit(_RECURSION_LIMIT)
        return to_returned(value, limit)
    except SystemExit as end:
        # sys.exit(0) in the entrypoint is a return; before it was called, an error.
        if called and (end.code is None or (type(end.code) is int and end.code == 0)):
            return {"type": "returned", "value": None}
        return to_raised(end)
    except BaseException as error:
        return to_raised(error)


def _load(program: dict, importer: SkillImporter):
    if program["type"] == "skill":
        return importer.export_of(program["skill"])
    code = program["code"]
    linecache.cache[CODE_FILE] = (len(code), None, code.splitlines(True), CODE_FILE)
    module = ModuleType("run_code")
    module.__dict__["__builtins__"] = builtins
    sys.modules["run_code"] = sys.modules["__main__"] = module
    exec(compile(code, CODE_FILE, "exec", dont_inherit=True), module.__dict__)
    return find_function(module.__dict__, program["entrypoint"], "The code")


def _stub(calls: Calls, name: str):
    def call_skill(args: dict | None = None, **named):
        return calls.call_skill(name, join_args(args, named))

    call_skill.__name__ = call_skill.__qualname__ = "main"
    call_skill.__doc__ = f"Runs the skill {name} in a sandbox of its own, with its own permissions; answers its output."
    call_skill.__module__ = to_module(name)
    return call_skill


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except BaseException:
            pass  # User code may have replaced or closed it.


def _run_script(run: dict) -> int:
    """
    Runs a Python script of a skill like `python file` (C-5.6), but in this process, which keeps the mapped paths and also works in
    Pyodide. Returns the exit code after the script, its exit handlers and its threads have finished.
    """
    program = run["program"]
    viewed = f"{paths.skills_of(run)}/{program['skill']}/{program['file']}"
    real = f"{run['roots']['skills']}/{program['skill']}/{program['file']}"
    main = ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, __file__=viewed, __cached__=None)
    sys.modules["__main__"] = main
    sys.argv[:] = [viewed, *program["argv"]]
    sys.path.insert(0, real.rpartition("/")[0])
    code = _exit_code(lambda: exec(_compile(real, viewed), main.__dict__))
    _finish()
    return code


def _compile(real: str, viewed: str):
    with open_code(real) as file:
        return compile(file.read(), viewed, "exec", dont_inherit=True)


def _exit_code(action) -> int:
    try:
        action()
    except SystemExit as end:
        return _code_of(end)
    except BaseException as error:
        _print_error(error)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _code_of(end: SystemExit) -> int:
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code & 0xFF
    print(end.code, file=sys.stderr)
    return 1


def _print_error(error: BaseException) -> None:
    """Like the interpreter, without our own frames."""
    step = error.__traceback__
    while step is not None and step.tb_frame.f_globals.get("__name__") != "__main__":
        step = step.tb_next
    sys.excepthook(type(error), error.with_traceback(step), step)


def _finish() -> None:
    """Like the interpreter before it exits."""
    threading = sys.modules.get("threading")
    for action in (getattr(threading, "_shutdown", None), atexit._run_exitfuncs):
        if action is not None:
            _exit_code(action)
