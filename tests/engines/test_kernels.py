"""Kernels built without AVX2 and AVX-512 are bit-for-bit identical to the usual ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

DIGEST = """
import hashlib, os, numpy as np, trueup as tu
from trueup.engines.draw_keys import binned_limits, keys_of
from trueup.engines.select import engine
from trueup.engines.types import KernelSet
from trueup.inference import estimate_many
assert tu.engines.in_use() == "native"
assert engine.bins.__file__.startswith(os.environ["PYTHONPATH"])  # these kernels and no others
found = hashlib.sha256()
for seed in range(120):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 3000)), int(rng.integers(2, 20))
    p = rng.random(n).astype([np.float64, np.float32][seed % 2])
    if seed % 3 == 0:
        p = np.round(p, 2)
    y = rng.random(n) < p
    matrix = rng.dirichlet(np.full(k, 0.3), n).astype(p.dtype)
    labels = rng.integers(0, k, n)
    edges = np.sort(rng.random(int(rng.integers(1, 40)))) if seed % 4 else np.arange(1, 15) / 15
    for part in engine.bins.bin_sums(p, y, None, edges):
        found.update(part.tobytes())
    for part in engine.bins.bin_sums(p, y, rng.random(n), edges):
        found.update(part.tobytes())
    read = lambda a, b: matrix[a:b]
    for part in engine.bins.class_bin_sums(read, None, labels, k, edges):
        found.update(part.tobytes())
    scan = engine.rows.scan_rows(read, n, k)
    for part in (scan.total, scan.top, scan.top_class, engine.order.equal_mass_edges(p, 15)):
        found.update(part.tobytes())
    found.update(repr(tu.ece_sweep(p, y)).encode())
    drawn, _ = binned_limits(p, np.searchsorted(edges, p), len(edges) + 1)
    found.update(engine.draws.count_labels(drawn, keys_of(seed, 20)).tobytes())
    metrics = [tu.ece_sweep, tu.smooth_ece, tu.ks_error, tu.mmce]
    if seed % 20 == 0:
        for each in estimate_many(metrics, p, y, n_resamples=40, rng=seed):
            found.update(repr((each.interval, each.test)).encode())
    logits, scale, shift = matrix * 9, rng.random(k), rng.random(k)
    sums = engine.softmax.scaled_sums(logits, labels, rng.random(n), scale, shift)
    for part in (
        *engine.softmax.temper(logits, labels, 0.7),
        engine.softmax.tempered_probs(logits, 0.7),
        engine.softmax.scaled_probs(logits, scale, shift),
        *sums,
        engine.softmax.scaled_product(
            logits, None, sums.log_total, scale, shift, rng.random((2, k))
        ),
    ):
        found.update(part.tobytes())
    for covariates, squared in ((matrix[:, :1], False), (matrix[:, :2], True)):
        point = rng.standard_normal(covariates.shape[1] + 1)
        fitted = engine.sigmoid.sigmoid_sums(covariates.T * 9, y * 1.0, p * 1.0, point, squared)
        found.update(repr(fitted.loss).encode() + fitted.gradient.tobytes())
        found.update(fitted.hessian.tobytes())
    places = rng.standard_normal((min(n, 900), 1 + seed % 4))
    near = KernelSet(places, rng.standard_normal((len(places), 3)), places[::3] + 0.1)
    found.update(engine.kernel_sums.divided_sums([near], 2.5)[0].tobytes())
    for gaussian, relative in ((False, False), (False, True), (True, False)):
        (total,) = engine.kernel_sums.block_sums([near], 2.5, gaussian, relative)
        found.update(total.sums.tobytes())
print(found.hexdigest())
"""


def digest(source: Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(source), "TRUEUP_ENGINE": "native"}
    return subprocess.run(
        [sys.executable, "-c", DIGEST], env=environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.slow
def test_plain_c_gives_the_same_bits(tmp_path: Path) -> None:
    pytest.importorskip("Cython")
    if not list((ROOT / "src/trueup/engines/kernels").glob("*.so")):
        pytest.skip("the compiled engine is not available")
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    built = shutil.ignore_patterns("*.so", "*.c", "__pycache__")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=built)
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=tmp_path,
        env=os.environ | {"CFLAGS": "-DTRUEUP_PLAIN_C"},
        check=True,
        capture_output=True,
    )
    assert digest(tmp_path / "src") == digest(ROOT / "src")
