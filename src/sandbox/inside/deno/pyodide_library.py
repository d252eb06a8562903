"""Compiles the standard library that Pyodide ships as source, which takes most of the time in which it starts."""

from __future__ import annotations

import io
from importlib._bootstrap_external import _code_to_hash_pyc
from importlib.util import source_hash
from zipfile import ZIP_STORED, ZipFile


def compile_library(path: str) -> bytes:
    """The archive at `path`, with compiled modules in place of their sources. They are never compared with any source."""
    compiled = io.BytesIO()
    with ZipFile(path) as source, ZipFile(compiled, "w", ZIP_STORED) as target:
        for name in source.namelist():
            content = source.read(name)
            if name.endswith(".py"):
                code = compile(content, f"{path}/{name}", "exec", dont_inherit=True)
                target.writestr(f"{name}c", _code_to_hash_pyc(code, source_hash(content), False))
            else:
                target.writestr(name, content)
    return compiled.getvalue()
