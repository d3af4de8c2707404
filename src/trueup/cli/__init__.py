"""The command line: each command is a short function on the public API (see `trueup --help`)."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command `trueup` with the arguments of this process, and exit with its exit code."""
    from trueup.cli.process import clean_up_when_ended, ended_by, occupy_closed_streams

    occupy_closed_streams()
    clean_up_when_ended()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without "…" must not end the work
            stream.reconfigure(errors="replace")
    try:
        from trueup.cli.program import program

        program.main()
    except KeyboardInterrupt:
        sys.exit(ended_by() or 130)
