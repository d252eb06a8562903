"""The entry point under Seatbelt: the program without a supervisor. The host watches it and collects its output files."""

from __future__ import annotations

import resource
import sys

from program_process import run_program


def confine(run: dict) -> None:
    """Sets permanent limits. RLIMIT_NPROC prevents forking, except for root."""
    limits = run["limits"]
    for number, value in (
        (resource.RLIMIT_NPROC, 1),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, limits["cpu_seconds"]),
        (resource.RLIMIT_FSIZE, limits["disk_bytes"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
    ):
        resource.setrlimit(number, (value, value))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    run_program(4, lambda: confine)
