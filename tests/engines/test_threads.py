"""Threads change nothing but the time: order, errors, nesting, shutting down, forking."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import trueup as tu
from trueup.engines.blocks import MOST_CHUNKS, cut
from trueup.engines.threads import get_threads, run, set_threads


@pytest.fixture(params=[1, 2, 5])
def threads(request):
    set_threads(request.param)
    yield request.param
    set_threads(None)


def in_a_process(code: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 1000])
def test_chunks_cover_everything_once(n):
    for smallest in (1, 7, 5000):
        chunks = cut(n, smallest)
        assert [i for start, stop in chunks for i in range(start, stop)] == list(range(n))
        assert len(chunks) <= MOST_CHUNKS


def test_answers_stand_in_the_order_of_chunks(threads):
    assert run(lambda start, stop: (start, stop), cut(1000, 1)) == cut(1000, 1)


def test_an_error_in_a_chunk_is_raised(threads):
    def fail(start, stop):
        if start == 500:
            raise ZeroDivisionError
        return start

    for _ in range(20):
        with pytest.raises(ZeroDivisionError):
            run(fail, [(i, i + 1) for i in range(0, 1000, 4)])
    assert run(lambda start, stop: start, cut(10, 1)) == list(range(10))


def test_chunks_within_chunks(threads):
    def inner(start, stop):
        return sum(run(lambda a, b: b - a, cut(100, 1)))

    assert run(inner, cut(20, 1)) == [100] * 20


def test_there_is_one_pool(threads):
    for n in (2, 3, 9, 64):
        run(lambda start, stop: None, cut(n, 1))
    ours = [t for t in threading.enumerate() if t.name.startswith("trueup")]
    assert len(ours) <= 8  # those of pools let go may not have ended yet


def test_work_at_shutdown():
    code = """
import atexit, numpy as np, trueup as tu
p = np.linspace(0, 1, 10**6); y = p > 0.5
atexit.register(lambda: print(round(tu.ece(p, y), 6)))
tu.ece(p, y)
"""
    found = in_a_process(code, TRUEUP_THREADS="2")
    assert (found.stdout.strip(), found.stderr) == ("0.217778", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_work_after_a_fork():
    code = """
import os, warnings, numpy as np, trueup as tu
warnings.simplefilter("ignore")
p = np.linspace(0, 1, 10**6); y = p > 0.5
tu.ece(p, y)
if os.fork() == 0:
    print(round(tu.ece(p, y), 6), flush=True)
    os._exit(0)
os.wait()
"""
    assert in_a_process(code, TRUEUP_THREADS="2").stdout.strip() == "0.217778"


@pytest.mark.parametrize("bad", ["abc", "0", "-1", "1.5", "²"])
def test_a_bad_number_of_threads_is_refused(bad):
    found = in_a_process("import trueup as tu; tu.ece([.5], [1])", TRUEUP_THREADS=bad)
    rule = "`TRUEUP_THREADS` must be a whole number of at least 1; got "
    assert rule in found.stderr.splitlines()[-1]
    with pytest.raises(tu.InputError, match="whole number of at least 1"):
        set_threads(bad)


def test_the_default_is_every_core():
    if "TRUEUP_THREADS" not in os.environ and hasattr(os, "sched_getaffinity"):
        assert get_threads() == len(os.sched_getaffinity(0))


def test_misaligned_memory_is_read_right():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(5), 200)
    labels = rng.integers(0, 5, 200)
    room = np.zeros(probs.nbytes + 1, np.uint8)
    crooked = room[1:].view(np.float64).reshape(probs.shape)
    crooked[:] = probs
    assert not crooked.flags.aligned
    for metric in (tu.ece, tu.sce, tu.ace, tu.brier):
        assert metric(crooked, labels) == metric(probs, labels)
    assert tu.ece(crooked[:, 1], labels == 1) == tu.ece(probs[:, 1], labels == 1)
