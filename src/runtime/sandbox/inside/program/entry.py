"""Finds the entrypoint, calls it with the args, and awaits its result."""

from __future__ import annotations

import builtins
import sys
from types import AsyncGeneratorType, CoroutineType, FunctionType, GeneratorType, MethodType

from result import OutputLimitError

__builtins__ = dict(vars(builtins))

_TAKES_ANY = 0x04  # inspect.CO_VARARGS, without importing inspect
_TAKES_ANY_NAMED = 0x08


class EntrypointError(Exception):
    """The entrypoint does not exist or cannot be called with the args."""


def find_function(namespace: dict, name: str, file: str):
    """Returns the function with this name."""
    function = namespace.get(name)
    if function is None:
        defined = [one for one, value in namespace.items() if isinstance(value, FunctionType) and not one.startswith("_")]
        known = f"It defines {', '.join(defined[:10])}." if defined else "It defines no function."
        raise EntrypointError(f"{file} defines no function {name!r}. {known}")
    if not callable(function):
        raise EntrypointError(f"{file} defines {name!r}, but of type {type(function).__name__}, not as a function.")
    return function


def call(function, args):
    """Calls the function with the args as its one argument, as keywords if it only takes keywords, or without if it takes none."""
    shape = _shape_of(function)
    if shape is None:
        return function(args)
    positional, required, any_positional, named = shape
    if len(required) > 1:
        listed = ", ".join(required)
        raise EntrypointError(f"{function.__name__}() requires {listed}; it is called with one argument, a dict of the args.")
    if positional or any_positional:
        return function(args)
    if named and isinstance(args, dict):
        return function(**args)
    return function()


def join_args(args, named: dict) -> dict:
    """Merges args given as a dict and as keywords."""
    if args is None:
        return named
    if not isinstance(args, dict):
        raise TypeError(f"The args of a skill must be a dict, not {type(args).__name__}.")
    return {**args, **named}


def settle(value, limit: int):
    """Awaits a coroutine or collects a generator, up to `limit` items; returns other values unchanged."""
    if isinstance(value, CoroutineType) or hasattr(type(value), "__await__"):
        value = _run(_awaited(value))
    if isinstance(value, AsyncGeneratorType):
        return _run(_collected(value, limit))
    if isinstance(value, GeneratorType):
        items = []
        for item in value:
            _keep(items, item, limit)
        return items
    return value


def _shape_of(function):
    """(positional, those without default, has *args, has keywords); None if unknown."""
    wrapped = getattr(function, "__wrapped__", None)
    if isinstance(function, FunctionType) and isinstance(wrapped, (FunctionType, MethodType)) and wrapped is not function:
        return _shape_of(wrapped)
    bound = 0
    if isinstance(function, MethodType):
        function, bound = function.__func__, 1
    if not isinstance(function, FunctionType):
        return None
    code = function.__code__
    positional = code.co_varnames[bound : code.co_argcount]
    optional = len(function.__defaults__ or ())
    required = positional[: max(0, len(positional) - optional)]
    any_named = bool(code.co_kwonlyargcount or code.co_flags & _TAKES_ANY_NAMED)
    return positional, required, bool(code.co_flags & _TAKES_ANY), any_named


def is_awaiting() -> bool:
    """Whether the caller is a task. In Pyodide an event loop is always running."""
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None and asyncio.current_task() is not None


def _run(awaitable):
    from asyncio import run

    return run(awaitable)


async def _awaited(value):
    return await value


async def _collected(generator, limit: int) -> list:
    items: list = []
    async for item in generator:
        _keep(items, item, limit)
    return items


def _keep(items: list, item, limit: int) -> None:
    if len(items) >= limit:
        raise OutputLimitError(f"The entrypoint yielded more than {limit} items.")
    items.append(item)
