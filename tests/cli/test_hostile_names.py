"""Names in files, arguments and paths are shown, but never steer a terminal or break a figure."""

from __future__ import annotations

import ast
import io
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

import trueup.cli
from support.command_line import calibrated, three_classes
from trueup.cli.program import program
from trueup.io import write_table

RED, TITLE = "\x1b[31mEVIL", "\x1b]0;x\x07"


class Terminal(io.TextIOWrapper):
    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def isatty(self) -> bool:
        return True

    def text(self) -> str:
        return self.buffer.getvalue().decode()  # type: ignore[attr-defined]


@pytest.fixture
def on_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run the program with both streams on a terminal; return its code and what is written."""
    monkeypatch.chdir(tmp_path)

    def run(*args: str) -> tuple[int, str]:
        out = Terminal()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", out)
            patch.setenv("TERM", "xterm-256color")
            with pytest.raises(SystemExit) as ended:
                program.main(args)
        return int(ended.value.code or 0), out.text()

    return run


def steers(text: str) -> bool:
    """Whether a name of these tests got through with its control characters."""
    return RED in text or TITLE in text or "\x07" in text


def test_names_of_groups_in_a_file(on_terminal) -> None:
    columns = calibrated(60)
    groups = np.array([RED, TITLE, "ok"], object)[np.arange(60) % 3]
    write_table("p.csv", {**columns, "g": groups})
    code, text = on_terminal("evaluate", "p.csv", "--groups", "g", "--quick", "--resamples", "39")
    assert code == 0
    assert "?[31mEVIL" in text
    assert not steers(text)


def test_names_of_classes_in_a_file(on_terminal) -> None:
    columns = three_classes(60)
    names = {"dog": RED, "cat": TITLE, "eel": "eel"}
    table = {f"p_{names[k[2:]]}": v for k, v in columns.items() if k != "label"}
    table["label"] = np.array([names[x] for x in columns["label"]], object)
    write_table("p.csv", table)
    code, text = on_terminal("evaluate", "p.csv", "--quick", "--resamples", "39")
    assert code == 0
    assert "EVIL" in text
    assert not steers(text)


@pytest.mark.parametrize(
    "args",
    [
        ("evaluate", f"{RED}.csv"),
        ("plot", "p.csv", "-o", f"{RED}/x.png"),
        ("fit", "p.csv", "-o", f"{RED}/x.json"),
        ("apply", f"{RED}.json", "p.csv"),
        (RED,),
        ("evaluate", "p.csv", f"--{RED}"),
        ("evaluate", "p.csv", "--metric", RED),
        ("compare", "p.csv", "--model", f"{RED}=p"),
    ],
)
def test_arguments_in_messages(on_terminal, args) -> None:
    write_table("p.csv", calibrated(60))
    code, text = on_terminal(*args)
    assert code == 2
    assert "trueup: " in text
    assert not steers(text)


def test_names_of_models_and_outputs(on_terminal) -> None:
    write_table(f"{RED}.csv", calibrated(60))
    models = ("--model", f"{RED}=p", "--model", f"{TITLE}=p", "--resamples", "39")
    for args in (
        ("compare", f"{RED}.csv", *models),
        ("fit", f"{RED}.csv", "--method", "platt", "-o", f"{TITLE}.json"),
        ("plot", f"{RED}.csv", "-o", f"{RED}.png"),
        ("evaluate", f"{RED}.csv", "--quick", "--resamples", "39"),
        ("apply", f"{TITLE}.json", f"{RED}.csv", "-o", f"{TITLE}.csv"),
    ):
        code, text = on_terminal(*args)
        assert code == 0, text
        assert not steers(text)


def test_a_file_shown_on_a_terminal(on_terminal) -> None:
    write_table("p.csv", {**calibrated(30), "text": [RED] * 30})
    on_terminal("fit", "p.csv", "--method", "platt", "-o", "c.json")
    code, text = on_terminal("apply", "c.json", "p.csv")
    assert code == 0
    assert text.count("?[31mEVIL") == 30
    assert not steers(text)


@pytest.mark.parametrize("name", ["[/b].csv", "[red]x.csv", "[bold.csv"])
def test_a_path_is_no_markup(on_terminal, name) -> None:
    Path(name).parent.mkdir(exist_ok=True)
    write_table(name, calibrated(40))
    code, text = on_terminal("certify", name, "--max-error", "0.1")
    assert code == 0, text
    assert f"reading {name}" in text


@pytest.mark.skipif(os.name != "posix", reason="quotes of bash")
def test_commands_with_odd_names_can_be_typed(run, tmp_path) -> None:
    name = f"it's {RED}\\é.csv"
    write_table(tmp_path / name, calibrated(60))
    text = run("evaluate", name, "--quick", "--resamples", "39").stdout
    line = next(line for line in text.splitlines() if "trueup plot" in line)
    word = line.strip().removeprefix("trueup plot ").removesuffix(" -o reliability.png")
    said = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True)
    assert said.stdout.decode() == name


def test_names_in_svg_leave_it_readable(run, tmp_path) -> None:
    groups = np.array([RED, "a<b>&", "\x00\x08"], object)[np.arange(60) % 3]
    write_table(tmp_path / "p.jsonl", {**calibrated(60), "g": groups})
    run("plot", "p.jsonl", "--groups", "g", "--kind", "groups", "-o", "x.svg")
    content = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert ElementTree.fromstring(content).tag.endswith("svg")
    assert not steers(content)


def test_signs_that_the_font_lacks(run, tmp_path, recwarn) -> None:
    groups = np.array(["日本", "한"], object)[np.arange(60) % 2]
    write_table(tmp_path / "p.csv", {**calibrated(60), "g": groups})
    text = run("plot", "p.csv", "--groups", "g", "--kind", "groups", "-o", "x.png").stderr
    assert "trueup: the font lacks 한 日 本, so the figure shows boxes instead." in text
    assert not [each for each in recwarn if "Glyph" in str(each.message)]


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_a_figure_is_the_same_file_again(run, files, suffix) -> None:
    for name in ("one", "two"):
        run("plot", "wrong.csv", "-o", f"{name}.{suffix}")
    assert (files / f"one.{suffix}").read_bytes() == (files / f"two.{suffix}").read_bytes()


def test_long_names_are_cut_in_messages(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = "x" * 100_000
    for columns in ({name: [0.5], "y": [1]}, {"p": [0.5, 2], name: [0, 1]}, {name: ["a"]}):
        write_table(tmp_path / "p.csv", columns)
        for more in ((), ("--probs", name), ("--labels", name[1:])):
            args = ["certify", "p.csv", "--max-error", "0.1", *more]
            assert len(CliRunner().invoke(program, args).output) < 1500


def test_only_safe_ways_lead_to_the_terminal() -> None:
    """Commands write through `Screen`, `say` and `print_json` alone."""
    folder = Path(trueup.cli.__file__).parent
    allowed = {"terminal.py", "program.py", "completion.py"}
    found = []
    for path in folder.glob("**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called in ("print", "click.echo", "click.secho", "sys.stdout.write"):
                found.append(path.name)
    assert set(found) <= allowed
