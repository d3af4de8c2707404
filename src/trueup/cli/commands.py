"""What all commands share: help that ends with examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

__all__ = ["Command", "command"]


class Command(click.Command):
    """A command whose help shows how it is used, line by line as one types it."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples below the options."""
        with formatter.section("Examples"):
            for line in self.examples:
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


def command(short: str, *examples: str) -> Callable[[Callable[..., Any]], Command]:
    """Make a command of a function whose docstring is the help; ``short`` is for the list."""
    return click.command(cls=Command, short_help=short, examples=examples)
