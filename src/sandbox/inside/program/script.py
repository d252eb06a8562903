"""Runs a Python script of a skill like `python file` (C-5.6), but in this process, which keeps the mapped paths and also works in Pyodide.
"""

from __future__ import annotations

import atexit
import builtins
import sys
from io import open_code
from types import ModuleType


def run_script(run: dict) -> int:
    """Returns the exit code after the script, its exit handlers and its threads have finished."""
    program = run["program"]
    viewed = f"/skills/{program['skill']}/{program['file']}"
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
