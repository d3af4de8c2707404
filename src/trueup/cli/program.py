"""The program: its commands, errors and exit codes.

Commands are loaded when they are called or listed, and none of them loads NumPy before it has work
to do, so that `--help` and `--version` respond at once.
"""

from __future__ import annotations

import difflib
import errno
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

import click

from trueup.cli.messages import typed
from trueup.cli.process import ended_by
from trueup.cli.terminal import safe
from trueup.errors import CapabilityError, InputError, printable

__all__ = ["Command", "command", "program"]

FULL = (errno.ENOSPC, errno.EFBIG)
OK, MET, BAD_INPUT, FAULT, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 3, 130, 141

# In the order of the help. The command `name` is the function `name` of commands/name.py.
COMMANDS = (
    "evaluate",
    "plot",
    "compare",
    "fit",
    "apply",
    "certify",
    "power",
    "simulate",
    "explain",
    "datasets",
    "demo",
    "completion",
)

HELP = """Measure, test and recalibrate predicted probabilities.

FILE is a table with one row per prediction: CSV, TSV, Parquet, Arrow or Feather, NPZ, JSON or JSON
lines, or "-" for standard input. The columns of probabilities and labels are detected and reported;
override them with --probs and --labels.

\b
Examples:
  trueup evaluate predictions.csv
  trueup fit predictions.csv -o calibrator.json
  trueup apply calibrator.json new.csv -o fixed.csv
  trueup explain ece
  trueup datasets clinic -o clinic.csv
  trueup demo

\b
Exit codes:
  0    done
  1    a condition of --fail-if is met
  2    invalid input; standard error explains how to fix it
  3    internal error (please report it)
  130  interrupted; 143 and 129: ended by SIGTERM and SIGHUP
"""


class Program(click.Group):
    """A group of commands that ends with one sentence and the right exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Load a command."""
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"trueup.cli.commands.{name}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; if a file stands in its place, suggest `trueup evaluate`."""
        if args and args[0] not in COMMANDS and os.path.isfile(args[0]):
            ctx.fail(
                f"{args[0]!r} is a file, not a command. Did you mean: trueup evaluate {args[0]}"
            )
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            likely = [name for name in COMMANDS if name.startswith(args[0])]
            likely = likely or difflib.get_close_matches(args[0], COMMANDS, n=1)
            if len(likely) == 1:
                ctx.fail(f"No such command {args[0]!r}. Did you mean {likely[0]!r}?")
        return super().resolve_command(ctx, args)

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, *, standalone_mode: bool = True, **extra: Any
    ) -> Any:
        """Run, and leave the process; with ``standalone_mode=False`` return, as click does."""
        extra["prog_name"] = "trueup"
        if not standalone_mode:
            return super().main(args, standalone_mode=False, **extra)
        run = super().main
        code = self._ended(lambda: run(args, standalone_mode=False, **extra))
        sys.exit(ended_by() or (code if _all_was_written() else code or BAD_INPUT))

    def _ended(self, work: Callable[[], Any]) -> int:
        """Do the work; return the exit code."""
        try:
            return int(work() or OK)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
        except click.NoSuchOption as error:
            path = "trueup" if error.ctx is None else error.ctx.command_path
            say(f"{_unknown_option(error)} Hint: {path} --help shows how.")
        except click.UsageError as error:
            path = "trueup" if error.ctx is None else error.ctx.command_path
            say(f"{_sentence(error.format_message())} Hint: {path} --help shows how.")
        except click.ClickException as error:
            say(_sentence(error.format_message()))
        except click.Abort:
            if ended_by() is None:
                say("Interrupted.")
            return INTERRUPTED
        except OSError as error:
            say(_sentence(_about_file(error)))
        except Exception:
            with suppress(OSError):
                click.echo(safe(traceback.format_exc()), err=True, nl=False)
            say("This is a bug in trueup. Please report it and include the traceback above.")
            return FAULT
        return BAD_INPUT

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; report invalid input in one sentence."""
        try:
            code = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
            return code
        except BrokenPipeError:
            _leave_quietly()
        except InputError as error:
            raise click.ClickException(typed(error, self._options(ctx))) from error
        except CapabilityError as error:
            raise click.ClickException(str(error)) from error
        except OSError as error:
            raise click.ClickException(_about_file(error)) from error
        except MemoryError as error:
            told = str(error) if type(error) is MemoryError else ""
            raise click.ClickException(told or "The data do not fit into memory.") from error

    def _options(self, ctx: click.Context) -> list[str]:
        """Options of the command that was called."""
        command = self.get_command(ctx, ctx.invoked_subcommand or "")
        return [] if command is None else [name for each in command.params for name in each.opts]


def say(text: str) -> None:
    """Write a sentence for people to standard error."""
    # A full standard error cannot be reported anywhere; the exit code says the rest.
    with suppress(OSError):
        click.echo(f"trueup: {printable(text)}", err=True)


def _unknown_option(error: click.NoSuchOption) -> str:
    """Return which option does not exist and, if one is like it, which was meant."""
    known = [] if error.ctx is None else [o for p in error.ctx.command.params for o in p.opts]
    name = error.option_name
    meant = [each for each in known if each.startswith(name)]
    meant = meant or difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    also = f" Did you mean {meant[0]}?" if meant else ""
    return f"No such option {name}.{also}"


def _sentence(text: str) -> str:
    """One line that ends as sentences do."""
    line = " ".join(text.split())
    return line if line.endswith((".", "?", "!")) else f"{line}."


def _about_file(error: OSError) -> str:
    """Return the system's message about a file, or the text of an error without one."""
    if error.strerror is None:
        return str(error)
    name = None if error.filename is None else os.fspath(error.filename)
    if name is None and error.errno in FULL:  # errors about files have their names
        name = "standard output"
    return error.strerror if name is None else f"{name!s}: {error.strerror}"


def _all_was_written() -> bool:
    """Return whether both streams are flushed; output that cannot be written is discarded."""
    whole = True
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            whole = whole and stream is sys.stderr
            _let_go(stream)
    return whole


def _let_go(stream: Any) -> None:
    # Python would flush once more on its way out, and complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _leave_quietly() -> NoReturn:
    """End without a message, because the program that read our output has ended."""
    _let_go(sys.stdout)
    raise click.exceptions.Exit(BROKEN_PIPE)


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


program = Program(
    "trueup",
    help=HELP,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
"""The command `trueup`."""
click.version_option(package_name="trueup", message="trueup %(version)s")(program)
