"""Compiles Pyodide's standard library, which otherwise takes most of its start-up time."""

from __future__ import annotations

import io
from importlib._bootstrap_external import _code_to_hash_pyc
from importlib.util import source_hash
from zipfile import ZIP_STORED, ZipFile


def compile_library(path: str) -> bytes:
    """The archive at `path` with compiled modules instead of sources, which are not checked against sources."""
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
