"""Features that are torch tensors elsewhere: their sums are found there, and are the same."""

from __future__ import annotations

import numpy as np
import pytest

import trueup as tu
from trueup.local import device, kernel_sums_by_bin, mlce_group_correlation, mlce_over_bandwidths
from trueup.local.device import Device, device_of, sums_on
from trueup.recalibrate.local_calibration import LocalCalibration

torch = pytest.importorskip("torch")

WITHIN = {torch.float64: 1e-10, torch.float32: 1e-5}
each_type = pytest.mark.parametrize("dtype", WITHIN)
each_kernel = pytest.mark.parametrize("kernel", ["laplacian", "gaussian"])


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the tensors of this machine for those of another device: the code is the same."""
    monkeypatch.setattr(device, "HERE", ())


def draw(n: int, d: int, dtype=torch.float64):
    """Probabilities, labels and features, rounded to a type, as arrays."""
    rng = np.random.default_rng([n, d])
    p = rng.beta(2.8, 0.3, n)
    x = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, d) + 5
    return p, (rng.random(n) < p) + 0, torch.tensor(x, dtype=dtype).double().numpy()


def test_which_tensors_are_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    here = torch.ones(3)
    assert device_of(here) is device_of(np.ones(3)) is device_of(None) is None
    for kind in ("float16", "bfloat16", "float32"):
        there = torch.ones(3, dtype=getattr(torch, kind), device="meta")
        assert device_of(there) == Device(torch.device("meta"), torch.float32)
    for kind in ("float64", "int32", "bool"):
        there = torch.ones(3, dtype=getattr(torch, kind), device="meta")
        assert device_of(there) == Device(torch.device("meta"), torch.float64)
    monkeypatch.setattr(device, "HERE", ())
    assert device_of(here) == Device(torch.device("cpu"), torch.float32)


@pytest.mark.usefixtures("elsewhere")
@each_type
@each_kernel
@pytest.mark.parametrize("d", [2, 7, 50])
@pytest.mark.parametrize("gamma", [None, 0.05, 1e-300, 1e300])
def test_local_errors(dtype, kernel, d, gamma) -> None:
    p, y, x = draw(400, d, dtype)
    w = np.random.default_rng(0).integers(0, 4, 400)
    tensors = torch.tensor(p), torch.tensor(y), torch.tensor(x, dtype=dtype)
    how = {"kernel": kernel, "bandwidth": gamma, "weights": w}
    found = tu.lce(*tensors, **how)
    np.testing.assert_allclose(found, tu.lce(p, y, x, **how), rtol=0, atol=WITHIN[dtype])
    assert isinstance(found, np.ndarray)
    assert tu.mlce(*tensors, **how) == np.nanmax(found)
    measured = tu.LocalError(kernel=kernel, bandwidth=gamma).measure(*tensors)
    divides = kernel == "laplacian" and d <= 4 and tu.engines.in_use() == "native"
    assert measured.notes["method"] in (
        ("divide and conquer", "brute force") if divides else ("brute force on cpu",)
    )


@pytest.mark.usefixtures("elsewhere")
def test_sweeps_and_groups() -> None:
    p, y, x = draw(300, 6)
    there = torch.tensor(x)
    one, other = (mlce_over_bandwidths(p, y, each) for each in (x, there))
    for name in one:
        np.testing.assert_allclose(one[name], other[name], rtol=1e-10)
    models, groups = {"a": p, "b": p**2, "c": p**0.5}, np.arange(300) % 3
    one, other = (mlce_group_correlation(models, y, groups, each) for each in (x, there))
    np.testing.assert_allclose(one["correlation"], other["correlation"], rtol=1e-9)


@pytest.mark.usefixtures("elsewhere")
@each_type
@each_kernel
@pytest.mark.parametrize("gamma", [None, 1e-9, 1e9])
def test_local_recalibration(dtype, kernel, gamma) -> None:
    p, y, x = draw(500, 6, dtype)
    p, y, x, new_p, new_x = p[:300], y[:300], x[:300], p[300:], x[300:].copy()
    new_x[:2] *= 1e25  # far away, where squares overflow in float32
    here = LocalCalibration(kernel=kernel, bandwidth=gamma).fit(p, y, features=x)
    there = LocalCalibration(kernel=kernel, bandwidth=gamma)
    there.fit(p, y, features=torch.tensor(x, dtype=dtype))
    assert there.fit_["log_loss_after"] == pytest.approx(here.fit_["log_loss_after"], abs=1e-5)
    where = torch.tensor(new_x, dtype=dtype)
    found = there.predict_proba(new_p, features=where)
    expected = here.predict_proba(new_p, features=new_x)
    np.testing.assert_allclose(found[2:], expected[2:], rtol=0, atol=WITHIN[dtype])
    assert ((found >= 0) & (found <= 1)).all()
    one, other = (each.neighbours(new_p, features=f) for each, f in ((here, new_x), (there, where)))
    np.testing.assert_allclose(other["nearest"][2:], one["nearest"][2:], rtol=1e-5)
    assert np.array_equal(one["far"], other["far"])
    assert np.isfinite(other["nearest"]).all()
    stacked = torch.tensor(np.column_stack([new_p, new_x]), dtype=dtype)
    inside = LocalCalibration(kernel=kernel, bandwidth=gamma, n_score_columns=1)
    inside.fit(torch.tensor(np.column_stack([p, x])), y)
    again = inside.predict_proba(stacked)
    np.testing.assert_allclose(again[2:], expected[2:], rtol=0, atol=1e-5)


@pytest.mark.parametrize("size", [1e-200, 1e-40, 1e40, 1e200])
@pytest.mark.parametrize("relative", [False, True])
@each_kernel
def test_points_and_values_of_any_size_fit_float32(size, relative, kernel) -> None:
    rng = np.random.default_rng(0)
    points, values, bins = rng.normal(size=(60, 5)), rng.random((60, 2)), np.arange(60) % 2
    queries = rng.normal(size=(30, 5))
    how = {"kernel": kernel, "relative": relative}
    for at in ((), (queries, np.arange(30) % 3)):
        expected = kernel_sums_by_bin(points, values, bins, *at, scale=1.5, **how)
        scaled = (at[0] * size, at[1]) if at else ()
        found = sums_on(
            Device(torch.device("cpu"), torch.float32),
            points * size,
            values / size,
            bins,
            *scaled,
            scale=1.5 * size,
            **how,
        )
        np.testing.assert_allclose(found.sums * size, expected.sums, rtol=1e-5)
        if relative:
            np.testing.assert_allclose(found.nearest / size, expected.nearest, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("elsewhere")
def test_weights_too_far_apart_for_float32() -> None:
    p, y, x = draw(40, 6, torch.float32)
    w = np.ones(40)
    w[p.argmin()] = 1e-60  # alone in its bin or not, its own error rests on it
    found = tu.lce(p, y, torch.tensor(x, dtype=torch.float32), bandwidth=1e-9, weights=w)
    np.testing.assert_allclose(found, np.abs(p - y), rtol=0, atol=1e-10)
