"""How the program starts and ends."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from trueup.cli import program as program_file
from trueup.cli.commands import compare as compare_file
from trueup.cli.program import COMMANDS, Command, program

HEAVY = {"numpy", "scipy", "sklearn", "matplotlib", "duckdb", "pandas", "rich"}


def command(name: str) -> Command:
    found = program.get_command(click.Context(program), name)
    assert isinstance(found, Command)
    return found


@pytest.mark.parametrize("args", [[], ["--help"], ["-h"]])
def test_help_lists_every_command(run, args) -> None:
    text = run(*args, code=0 if args else 2).output
    assert all(f"  {name}" in text for name in COMMANDS)
    assert "Exit codes" in text
    assert "..." not in text.partition("Commands:")[2]  # no sentence is cut


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_examples(run, name) -> None:
    text = run(name, "--help").output
    assert text.startswith(f"Usage: trueup {name}")
    examples = text.partition("Examples:\n")[2].splitlines()
    assert f"trueup {name}" in examples[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_can_be_typed(name, tmp_path, monkeypatch) -> None:
    found = command(name)
    for line in found.examples:
        if name == "completion":
            continue
        words = shlex.split(line.rpartition("| ")[2])
        assert words[:2] == ["trueup", name]
        found.make_context(name, words[2:])


def test_version(run) -> None:
    from importlib.metadata import version

    assert run("--version").output == f"trueup {version('trueup')}\n"


@pytest.mark.parametrize(
    "args", [["--version"], ["--help"], ["evaluate", "--help"], ["plot", "--help"]]
)
def test_it_starts_without_numpy(args) -> None:
    program = (
        "import json, sys\n"
        f"sys.argv = ['trueup', *{args!r}]\n"
        "from trueup.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        "print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert not HEAVY & set(json.loads(found.stdout.splitlines()[-1]))


def test_python_m_is_the_same() -> None:
    args = [sys.executable, "-m", "trueup", "--version"]
    assert subprocess.run(args, capture_output=True, check=True).stdout.startswith(b"trueup ")


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["evaluat"], "No such command 'evaluat'"),
        (["evaluate"], "Missing argument 'FILE"),
        (["evaluate", "a.csv", "--prob", "p"], "No such option --prob. Did you mean --probs? Hint"),
        (["evaluate", "a.csv", "--group", "g"], "option --group. Did you mean --groups? Hint: tru"),
        (["evaluate", "a.csv", "--n-bins", "9"], "No such option --n-bins. Did you mean --bins?"),
        (
            ["evaluate", "a.csv", "--prevalence", "1"],
            "No such option --prevalence. Hint: trueup ev",
        ),
        (["power", "a.csv", "--true-error", "much"], "'much' is not a valid float"),
        (["evaluate", "a.csv"], "There is no file a.csv"),
        (["evaluate", "."], "is a directory"),
        (["apply", "a.json", "b.csv"], "a.json"),
    ],
)
def test_bad_input_is_one_sentence_and_2(run, args, text) -> None:
    result = run(*args, code=2)
    assert result.stdout == ""
    assert text in result.stderr
    assert result.stderr.startswith("trueup: ")
    assert len(result.stderr.strip().splitlines()) == 1
    assert "Traceback" not in result.output


def test_a_file_in_place_of_a_command(run, files) -> None:
    assert "trueup evaluate wrong.csv" in run("wrong.csv", code=2).stderr


def test_a_fault_of_ours_is_not_taken_for_a_condition(run, files, monkeypatch) -> None:
    def broken(*args, **kwargs):
        raise KeyError("inside")

    monkeypatch.setattr(compare_file, "_of_files", broken)
    text = run("compare", "wrong.csv", "right.csv", code=3).stderr
    assert "KeyError" in text
    assert "Please report it" in text


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (KeyboardInterrupt(), 130, "Interrupted."),
        (MemoryError(), 2, "memory"),
        (PermissionError(13, "Permission denied", "a.csv"), 2, "a.csv: Permission denied."),
    ],
)
def test_other_ends(run, files, monkeypatch, error, code, text) -> None:
    def raising(*args, **kwargs):
        raise error

    monkeypatch.setattr(compare_file, "_of_files", raising)
    result = run("compare", "wrong.csv", "right.csv", code=code)
    assert text in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")
def test_control_c(files) -> None:
    """A reader that never gets its data is stopped like any other program."""
    args = [sys.executable, "-m", "trueup", "evaluate", "-"]
    stopped = subprocess.Popen(
        args, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    time.sleep(1.5)
    stopped.send_signal(signal.SIGINT)
    out, err = stopped.communicate(timeout=20)
    assert stopped.returncode == 130
    assert out == b""
    assert b"Traceback" not in err


@pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")
def test_nobody_reads_on() -> None:
    program = f"{shlex.quote(sys.executable)} -m trueup"
    line = f"{program} simulate --list | head -n 1; exit ${{PIPESTATUS[0]}}"
    found = subprocess.run(["bash", "-c", line], capture_output=True)
    assert found.returncode in (0, program_file.BROKEN_PIPE)
    assert found.stderr == b""
    args = [sys.executable, "-m", "trueup", "simulate", "--list"]
    read, write = os.pipe()
    os.close(read)
    gone = subprocess.run(args, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert gone.returncode == program_file.BROKEN_PIPE
    assert gone.stderr == b""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(run, shell) -> None:
    assert "_TRUEUP_COMPLETE" in run("completion", shell).output


def test_completion_knows_commands_and_options() -> None:
    def text(typed: str) -> str:
        env = {"_TRUEUP_COMPLETE": "bash_complete", "COMP_WORDS": f"trueup {typed}"}
        env["COMP_CWORD"] = str(len(typed.split(" ")))
        return CliRunner().invoke(program, [], env=env).output

    assert "plain,evaluate" in text("ev")
    assert "plain,--labels" in text("evaluate --la")
    assert "plain,temperature" in text("fit p.csv --method te")


def test_an_ascii_terminal_gets_its_answer(files: Path) -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    args = [sys.executable, "-m", "trueup", "certify", "wrong.csv", "--max-error", "0.01"]
    found = subprocess.run(args, cwd=files, env=env, capture_output=True)
    assert found.returncode == 0, found.stderr
