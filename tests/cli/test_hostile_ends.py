"""Signals, full disks, closed streams and odd outputs: the right exit code, and nothing left."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import duckdb
import pytest

import trueup.io
from support.command_line import calibrated
from trueup.cli import program as program_file
from trueup.io import write_table

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and devices of POSIX")
TRUEUP = [sys.executable, "-m", "trueup"]


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which ``trueup`` is this program."""
    text = f'trueup() {{ {sys.executable} -m trueup "$@"; }}; {line}'
    return subprocess.run(["bash", "-c", text], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_leaves_no_temporary_file(tmp_path, name, code) -> None:
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # A test run under nohup ignores SIGHUP, and programs that it starts would as well.
    by_default = partial(signal.signal, getattr(signal, name), signal.SIG_DFL)
    command = [*TRUEUP, "evaluate", "-"]
    ended = subprocess.Popen(command, env=env, preexec_fn=by_default, **pipes)
    ended.stdin.write(b"p,y\n" + b"0.5,1\n" * 1_000_000)  # more than a pipe holds: it is reading
    ended.stdin.flush()
    deadline = time.monotonic() + 20
    while not list(tmp_path.glob("trueup-*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert list(tmp_path.glob("trueup-*"))
    ended.send_signal(getattr(signal, name))
    out, err = ended.communicate(timeout=20)
    assert (ended.returncode, out, err) == (code, b"", b"")
    assert list(tmp_path.iterdir()) == []


def test_nohup_is_respected(tmp_path) -> None:
    code = (
        "import signal\n"
        "from trueup.cli.process import clean_up_when_ended\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "clean_up_when_ended()\n"
        "assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN\n"
        "assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("trueup certify wrong.csv --max-error 0.1 >&-", 0, "using column p"),
        ("trueup certify wrong.csv --max-error 0.1 >&- 2>&- <&-", 0, ""),
        ("trueup certify - --max-error 0.1 <&-", 2, "standard input"),
        ("trueup --help > /dev/full", 2, "standard output: No space left on device"),
        ("trueup certify wrong.csv --max-error 0.1 > /dev/full", 2, "standard output: No space"),
        ("trueup certify wrong.csv --max-error 0.1 --json > /dev/full", 2, "standard output: No"),
        ("trueup certify wrong.csv --max-error 0.1 2> /dev/full", 0, ""),
        ("trueup certify /dev/stdin --format csv --max-error 0.1 < wrong.csv", 0, "using column p"),
    ],
)
def test_streams_and_devices(files, line, code, told) -> None:
    found = shell(line, files)
    assert found.returncode == code, found.stderr
    assert told in found.stderr
    assert "Traceback" not in found.stderr
    assert "Exception ignored" not in found.stderr


@pytest.fixture
def small_disk() -> Iterator[None]:
    """Let no file grow beyond a kilobyte."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.fixture
def larger(run, files) -> None:
    """A file whose output does not fit, and a recalibrator."""
    write_table(files / "x.csv", calibrated(5000))
    (files / "z.csv.gz").write_bytes(gzip.compress((files / "x.csv").read_bytes()))
    run("fit", "wrong.csv", "--method", "platt", "-o", "c.json")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (
            ("apply", "c.json", "x.csv", "-o", "out.parquet"),
            "trueup: out.parquet: File too large (in ",
        ),
        (("apply", "c.json", "x.csv", "-o", "out.csv"), "trueup: out.csv: File too large."),
        (("certify", "z.csv.gz", "--max-error", "0.1"), "trueup: z.csv.gz: File too large (in "),
    ],
)
def test_a_full_disk_is_told_with_the_file(run, files, larger, small_disk, args, told) -> None:
    assert told in run(*args, code=2).stderr
    assert not list(files.glob("out.*"))
    assert not list(files.glob(".trueup-*"))


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("plot", "wrong.csv", "-o", "full.png"), "a device or pipe; got 'full.png'"),
        (("evaluate", "wrong.csv", "-o", "/dev/full"), "a device or pipe; got '/dev/full'"),
        (("evaluate", "wrong.csv", "-o", "pipe"), "a device or pipe; got 'pipe'"),
        (("evaluate", "wrong.csv", "-o", ""), "--output must be the name of a file; got ''"),
        (("evaluate", "wrong.csv", "-o", "no/x.json"), "There is no directory no to write x.json"),
        (("fit", "wrong.csv", "-o", "pipe"), "a device or pipe; got 'pipe'"),
        (("datasets", "clinic", "-o", ""), "--output must be the name of a file; got ''"),
        (("datasets", "clinic", "-o", "full.png"), "a device or pipe; got 'full.png'"),
        (
            ("evaluate", "wrong.csv", "--plot", "x.png", "-o", "./x.png"),
            "--output must be a file other than that of --plot; got './x.png'",
        ),
        (
            ("evaluate", "wrong.csv", "--plot", "x.png", "-o", "link.png"),
            "must be a file other than that of",
        ),
        (("plot", "wrong.csv", "-o", "same.png"), "is read, so it cannot be written"),
    ],
)
def test_outputs_are_checked_before_the_work(run, files, monkeypatch, args, told) -> None:
    os.mkfifo(files / "pipe")
    os.symlink("/dev/full", files / "full.png")
    os.symlink("x.png", files / "link.png")
    os.link(files / "wrong.csv", files / "same.png")
    monkeypatch.setattr(trueup.io, "read_forecasts", lambda *_, **__: pytest.fail("read early"))
    assert told in run(*args, code=2).stderr


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="Linux only")
def test_a_folder_that_takes_no_files_is_named(run, files) -> None:
    # /proc claims that files can be written there, so only writing one shows that they cannot.
    text = run("fit", "wrong.csv", "--method", "platt", "-o", "/proc/x.json", code=2).stderr
    assert "trueup: /proc/x.json: No such file or directory." in text


def test_messages_of_the_system_name_the_output(run, files, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    result = run("fit", "wrong.csv", "--method", "platt", "-o", "c.json", code=2)
    assert "trueup: c.json: No space left on device." in result.stderr
    assert sorted(path.name for path in files.iterdir()) == ["right.csv", "three.csv", "wrong.csv"]


def test_a_full_disk_names_the_batches_of_a_simulation(run, files, small_disk) -> None:
    args = ("simulate", "wrong.csv", "--metric", "ece", "--n", "50", "--n-datasets", "300")
    text = run(*args, "-o", "out.csv", code=2).stderr
    assert "trueup: out.csv.batches: File too large." in text


def test_what_duckdb_says_names_the_output(tmp_path, monkeypatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise duckdb.IOException("odd")

    monkeypatch.setattr(duckdb, "connect", broken)
    with pytest.raises(OSError, match=r"out\.parquet cannot be written as Parquet \(odd\)"):
        write_table(tmp_path / "out.parquet", {"p": [0.5], "y": [1]})


def test_too_little_memory_names_the_file(run, files, monkeypatch) -> None:
    from trueup.io import reading

    def large(*_: object) -> None:
        raise MemoryError("Unable to allocate 7 TiB")

    monkeypatch.setattr(reading, "_gathered", large)
    text = run("certify", "wrong.csv", "--max-error", "0.1", code=2).stderr
    assert text == "trueup: wrong.csv: The data do not fit into memory.\n"


def test_an_internal_error_steers_no_terminal(run, monkeypatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("\x1b[31m")

    def raw(*_: object) -> None:
        raise RuntimeError("\x1b[31m")

    for fault in (broken, raw):
        monkeypatch.setattr(program_file.Program, "get_command", fault)
        text = run("evaluate", "x.csv", code=3).stderr
        assert "Please report it" in text
        assert "\x1b" not in text


def test_an_interrupted_query_is_no_internal_error(run, files, monkeypatch) -> None:
    from trueup.cli import process
    from trueup.io.formats import duckdb_reader

    class Connection:
        def execute(self, *_: object) -> None:
            raise RuntimeError("Query interrupted")

    original = duckdb_reader.Duck.__init__

    def with_interruption(self, *files) -> None:
        original(self, *files)
        self.connection = Connection()

    monkeypatch.setattr(duckdb_reader.Duck, "__init__", with_interruption)
    args = ("certify", "wrong.csv", "--max-error", "0.1")
    assert run(*args, code=130).stderr == "\ntrueup: Interrupted.\n"
    monkeypatch.setattr(process, "received", [15])
    assert run(*args, code=143).stderr.strip() == ""
