"""`trueup completion`: a script that makes a shell complete commands, options and files."""

from __future__ import annotations

import click

from trueup.cli.program import command

__all__ = ["completion"]


@command(
    "Print a script for shell completion.",
    'eval "$(trueup completion bash)"        # in ~/.bashrc',
    'eval "$(trueup completion zsh)"         # in ~/.zshrc',
    "trueup completion fish > ~/.config/fish/completions/trueup.fish",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script for shell completion.

    Add the line for your shell to its startup file, then open a new terminal.
    """
    from click.shell_completion import get_completion_class

    from trueup.cli.program import program

    script = get_completion_class(shell)
    assert script is not None
    click.echo(script(program, {}, "trueup", "_TRUEUP_COMPLETE").source())
