"""Fitted worlds: likelihoods against naive ones, recovery of known worlds, refusals, words."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import betainc, expit
from scipy.stats import beta as beta_law

import trueup as tu
from trueup.simulate import PUBLISHED, Beta, Glm, Power, World
from trueup.simulate.fitting.beta import fit_beta, log_likelihood, log_tail, sums_of
from trueup.simulate.fitting.curve_families import FAMILIES, fit_family, outcomes_of
from trueup.simulate.fitting.fit_world import Fitted, fit
from trueup.simulate.fitting.rounding import FLOAT32, FLOAT64, rounding_of

# Roelofs et al., Table 1 and the best rows of Table 2: alpha, beta, link, transform, b0, b1.
ROELOFS = {
    "resnet110_c10": (2.7752, 0.0478, "logflip", "logflip", -0.24, 0.30),
    "resnet110_SD_c10": (2.1714, 0.0394, "logit", "logflip", -0.27, -0.33),
    "resnet_wide32_c10": (2.3806, 0.0379, "logit", "logit", 0.0, 0.26),
    "densenet40_c10": (1.9824, 0.0397, "logit", "logflip", 0.0, -0.26),
    "resnet110_c100": (1.1823, 0.1081, "logflip", "logflip", -0.11, 0.28),
    "resnet110_SD_c100": (1.1233, 0.1147, "logit", "logit", -0.88, 0.49),
    "resnet_wide32_c100": (1.0611, 0.0650, "logflip", "logflip", -0.15, 0.21),
    "densenet40_c100": (1.0805, 0.0808, "logit", "logit", -0.97, 0.34),
    "resnet152_imgnet": (1.1359, 0.2069, "logflip", "logflip", -0.12, 0.58),
    "densenet161_imgnet": (1.1928, 0.2206, "log", "log", -0.03, 1.27),
}


def world_of(name: str) -> World:
    alpha, beta, *curve = ROELOFS[name]
    return World(Beta(alpha, beta), Glm(*curve))


def drawn(name: str, n: int, seed: int, kind: type = np.float64) -> tuple[np.ndarray, np.ndarray]:
    sets = world_of(name).sample_many(1, n, seed)
    return sets.probs[0].astype(kind), sets.labels[0].astype(np.int64)


def naive_beta(score: np.ndarray, alpha: float, beta: float, log_0: float, log_1: float) -> float:
    """Censored log-likelihood, row by row."""
    total = 0.0
    for c in score:
        if c == 1:
            total += math.log(betainc(beta, alpha, math.exp(log_1)))
        elif c == 0:
            total += math.log(betainc(alpha, beta, math.exp(log_0)))
        else:
            total += (
                beta_law.logpdf(c, alpha, beta) if c < 0.5 else beta_law.logpdf(1 - c, beta, alpha)
            )
    return total


def naive_rate(link: str, transform: str, b0: float, b1: float, c: float, d: float) -> float:
    scale = {"logit": lambda: math.log(c / d), "log": lambda: math.log(c)}
    eta = b0 + (b1 * scale.get(transform, lambda: math.log(d))() if b1 else 0.0)
    if link == "logit":
        return float(expit(eta))
    return math.exp(eta) if link == "log" else -math.expm1(eta)


@pytest.mark.parametrize("a", [0.03, 0.7, 4.0, 300.0])
@pytest.mark.parametrize("b", [0.02, 1.0, 50.0, 2000.0])
@pytest.mark.parametrize("x", [0.05, 1e-3, 2.0**-25])
def test_log_tail_is_the_log_of_the_incomplete_beta(a: float, b: float, x: float) -> None:
    found = log_tail(a, b, math.log(x))
    share = betainc(a, b, x)
    if share > 1e-290:
        assert found.value == pytest.approx(math.log(share), rel=1e-9, abs=1e-11)
    for i, step in enumerate(np.eye(2)):
        h = 1e-5 * (a, b)[i]
        up, down = (
            log_tail(a + s * h * step[0], b + s * h * step[1], math.log(x)) for s in (1, -1)
        )
        slope = (up.value - down.value) / (2 * h)
        assert found.gradient[i] == pytest.approx(slope, rel=1e-5, abs=1e-5)
        bend = (up.gradient - down.gradient) / (2 * h)
        assert found.hessian[i] == pytest.approx(bend, rel=1e-4, abs=1e-6)


def test_log_tail_by_integration_where_doubles_underflow() -> None:
    a, b, log_x = 0.5, 3.0, -1075 * math.log(2)
    # With t = x v^(1/a) the share is x^a / (a B) times the mean of (1 - t)^(b - 1), here 1.
    density = quad(lambda t: t ** (a - 1) * (1 - t) ** (b - 1), 0, 1)[0]
    assert log_tail(a, b, log_x).value == pytest.approx(a * log_x - math.log(a * density), rel=1e-9)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16])
def test_censored_likelihood_row_by_row(kind: type) -> None:
    score, _ = drawn("resnet110_c10", 400, 3, kind)
    score = np.append(score, [0.0] if kind is np.float16 else []).astype(kind)
    rounding = rounding_of(score, float(np.finfo(kind).tiny))
    assert rounding.name == np.dtype(kind).name
    wide = score.astype(np.float64)
    assert (wide == 1).sum() > 30
    sums = sums_of(wide, np.ones(len(wide)), rounding)
    ends = rounding.log_step_at_0, rounding.log_step_at_1
    for shapes in ((2.8, 0.05), (0.9, 0.4), (5.0, 3.0)):
        found = log_likelihood(sums, *shapes)
        assert found.value == pytest.approx(naive_beta(wide, *shapes, *ends), rel=1e-9)
    best = fit_beta(sums, wide.mean(), wide.var())
    assert best.converged
    assert np.abs(best.terms.gradient * best.point).max() < 1e-6
    search = minimize(
        lambda logs: -naive_beta(wide, *np.exp(logs), *ends),
        np.log(best.point) + 0.1,
        method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-9},
    )
    assert np.exp(search.x) == pytest.approx(best.point, rel=1e-4)
    assert -search.fun <= best.terms.value + 1e-7


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_family_is_the_best_of_its_naive_likelihood(family: tuple[str, str, str]) -> None:
    rng = np.random.default_rng(5)
    score = rng.beta(2, 0.6, 300)
    label = (rng.random(300) < score**1.5).astype(float)
    outcomes = outcomes_of(score, label, np.ones(300), FLOAT64, (2.0, 0.6))
    found = fit_family(family, outcomes)
    assert found.converged
    free = [name in family.free for name in ("b0", "b1")]

    def minus_log_likelihood(values: np.ndarray) -> float:
        both = np.zeros(2)
        both[free] = values
        total = 0.0
        for c, y in zip(score, label, strict=True):
            p = naive_rate(family.link, family.transform, *both, c, 1 - c)
            if not 0 < p < 1:
                return 1e9
            total -= math.log(p) if y else math.log1p(-p)
        return total

    at = np.array([found.b0, found.b1])[free]
    here = minus_log_likelihood(at)
    assert found.aic == pytest.approx(2 * sum(free) + 2 * here, rel=1e-9)
    options = {"xatol": 1e-6, "fatol": 1e-9}
    search = minimize(minus_log_likelihood, at, method="Nelder-Mead", options=options)
    assert search.fun >= here - 1e-6
    if math.isnan(found.b0_error):
        return  # on the edge of what the link allows
    step = 1e-4
    bend = minus_log_likelihood(at + step * np.eye(len(at))[-1]) - 2 * here
    bend += minus_log_likelihood(at - step * np.eye(len(at))[-1])
    if sum(free) == 1:
        error = found.b0_error if free[0] else found.b1_error
        assert error == pytest.approx(math.sqrt(step**2 / bend), rel=1e-3)


def test_a_curve_on_the_edge_of_its_link_is_the_best_allowed() -> None:
    """The forty highest scores are right, so a log link would like to go above 1 there."""
    rng = np.random.default_rng(2)
    score = np.sort(rng.uniform(0.02, 0.9, 400))
    label = (rng.random(400) < score).astype(float)
    label[-40:] = 1
    outcomes = outcomes_of(score, label, np.ones(400), FLOAT64, (1.0, 1.0))
    found = fit_family(next(f for f in FAMILIES if f.name == "log_log_b0_b1"), outcomes)
    assert found.converged
    assert math.isnan(found.b0_error)
    top = found.b0 + found.b1 * np.log(score[-1])
    assert -1e-9 < top < 0
    t = np.log(score)
    best = -np.inf
    for b1 in np.linspace(0.2, 3, 281):
        for b0 in -b1 * t[-1] - np.geomspace(1e-12, 1, 60):
            eta = b0 + b1 * t
            best = max(best, float(np.sum(np.where(label == 1, eta, np.log(-np.expm1(eta))))))
    assert 2 - found.aic / 2 >= best - 1e-9
    assert 2 - found.aic / 2 <= best + 0.01


@pytest.mark.parametrize("index", [0, 3, 6, 9])
def test_rows_that_read_1_count_with_the_mean_of_the_curve(index: int) -> None:
    family = FAMILIES[index]
    score, label = drawn("resnet_wide32_c100", 300, 8, np.float32)
    wide, alpha, beta = score.astype(np.float64), 1.06, 0.065
    assert (wide == 1).sum() > 50
    outcomes = outcomes_of(wide, label.astype(float), np.ones(300), FLOAT32, (alpha, beta))
    found = fit_family(family, outcomes)
    x = FLOAT32.step_at_1

    def rate(c: float, d: float) -> float:
        return naive_rate(family.link, family.transform, found.b0, found.b1, c, d)

    def curve(share: float) -> float:
        d = max(x * share ** (1 / beta), 1e-300)  # (1 - d)^(alpha - 1) is 1 to eight digits
        return rate(1 - d, d)

    at_1 = quad(curve, 0, 1, epsabs=1e-12, limit=400)[0]
    value = 0.0
    for c, y in zip(wide, label, strict=True):
        p = at_1 if c == 1 else rate(c, 1 - c)
        value += math.log(p) if y else math.log(1 - p)
    assert found.aic == pytest.approx(2 * found.n_parameters - 2 * value, rel=1e-6)


def z_scores(name: str, found: Fitted) -> tuple[list[float], float]:
    """Errors in standard errors, and how far the AIC of the true family is from the best."""
    alpha, beta, link, transform, b0, b1 = ROELOFS[name]
    family = f"{link}_{transform}_{'b0_b1' if b0 else 'b1'}"
    row = next(row for row in found.aic if row.family == family)
    scores = found.scores_fit
    z = [
        (scores.alpha - alpha) / scores.alpha_error,
        (scores.beta - beta) / scores.beta_error,
        (row.b1 - b1) / row.b1_error,
    ]
    z += [(row.b0 - b0) / row.b0_error] if b0 else []
    return z, row.aic - found.aic[0].aic


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_recovers_worlds_from_some_draws(kind: type) -> None:
    close = 0
    for seed, name in enumerate(ROELOFS):
        found = fit(*drawn(name, 8_000, seed, kind))
        z, behind = z_scores(name, found)
        assert np.abs(z).max() < 4, name
        assert all(row.converged for row in found.aic), name
        assert found.scores_fit.converged
        assert not found.poor
        close += behind < 2
    assert close >= 8


@pytest.mark.slow
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_recovers_every_published_world(seed: int) -> None:
    close = 0
    for number, name in enumerate(ROELOFS):
        found = fit(*drawn(name, 100_000, 100 * seed + number))
        z, behind = z_scores(name, found)
        assert np.abs(z).max() < 4, name
        close += behind < 2
    assert close >= 9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "family", "b0", "b1"),
    [(f"{name}_calibrated", "logit_logit_b0_b1", 0.0, 1.0) for name in ROELOFS]
    + [
        ("kumar_a", "logit_logit_b0_b1", 1.0, 2.0),
        ("roelofs_figure_3", "log_log_b1", 0.0, 2.0),
        ("roelofs_figure_15_calibrated", "logit_logit_b0_b1", 0.0, 1.0),
    ],
)
def test_recovers_the_other_published_worlds(name: str, family: str, b0: float, b1: float) -> None:
    """Those whose curve is of a fitted family; a calibrated one is of several at once."""
    world = PUBLISHED[name]
    found = fit(world.sample(100_000, rng=11))
    row = next(row for row in found.aic if row.family == family)
    alpha, beta = getattr(world.scores, "alpha", 1.0), getattr(world.scores, "beta", 1.0)
    z = [
        (found.scores_fit.alpha - alpha) / found.scores_fit.alpha_error,
        (found.scores_fit.beta - beta) / found.scores_fit.beta_error,
        (row.b1 - b1) / row.b1_error,
    ]
    if "b0" in family:
        z.append((row.b0 - b0) / row.b0_error)
    assert np.abs(z).max() < 4


def test_clipping_would_be_wrong() -> None:
    """The answer does not depend on how coarsely the same scores were rounded."""
    probs, labels = drawn("resnet110_c10", 20_000, 4)
    fine, coarse = fit(probs, labels), fit(np.round(probs, 3), labels)
    assert coarse.scores_fit.rounding == "3 decimals"
    assert coarse.scores_fit.n_at_1 > 2 * fine.scores_fit.n_at_1
    for name in ("alpha", "beta"):
        a, b = getattr(fine.scores_fit, name), getattr(coarse.scores_fit, name)
        assert abs(a - b) < 4 * getattr(coarse.scores_fit, f"{name}_error")


@pytest.mark.parametrize(
    ("scores", "name"),
    [
        ([0.1, 0.5, 1.0], "1 decimal"),
        ([0.12, 0.5, 1.0], "2 decimals"),
        (np.array([0.123456, 0.5]), "6 decimals"),
        (np.array([0.12, 0.5], np.float32), "2 decimals"),
        (np.array([1 / 3, 0.5], np.float32), "float32"),
        (np.array([1 / 3, 0.5], np.float32).astype(np.float64), "float32"),
        (np.array([1 / 3, 0.1], np.float16).astype(np.float64), "float16"),
        (np.array([0.3339843750, 0.1000976562], np.float32), "bfloat16"),
        (np.array([1 / 3, 0.5]), "float64"),
    ],
)
def test_rounding_shows_in_the_values(scores: object, name: str) -> None:
    array = np.asarray(scores)
    assert rounding_of(array, float(np.finfo(array.dtype).tiny)).name == name


def test_rounding_is_at_least_that_of_the_type_given() -> None:
    top = np.array([1 / 3, 0.5])
    assert rounding_of(top, float(np.finfo(np.float32).tiny)).name == "float32"


@pytest.mark.parametrize(
    ("scores", "labels", "rule"),
    [
        ([0.3], [1], "both right and wrong"),
        ([0.3, 0.6], [0, 0], "both right and wrong"),
        ([0.3] * 4, [0, 1, 1, 0], "two distinct values"),
        ([1.0] * 4, [0, 1, 1, 0], "strictly between 0 and 1"),
        ([0.0] * 4, [0, 1, 1, 0], "strictly between 0 and 1"),
        ([0.0, 1.0] * 2, [0, 1, 1, 0], "strictly between 0 and 1"),
        ([0.5, 0.5 + 2e-16], [0, 1], "spread out"),
    ],
)
def test_refuses_what_no_world_fits(scores: list[float], labels: list[int], rule: str) -> None:
    with pytest.raises(tu.InputError, match=rule):
        fit(np.array(scores), np.array(labels))


@pytest.mark.parametrize(
    ("scores", "labels"),
    [
        ([0.3, 0.7], [0, 1]),
        ([0.9, 1.0], [0, 1]),
        ([0.5] * 20 + [0.9] * 20, [0, 1] * 10 + [1] * 20),
        ([1.0] * 200 + [0.512345678], [1] * 190 + [0] * 11),
        ([0.0] * 30 + [1.0] * 40 + [0.51, 0.76, 0.2], [0] * 29 + [1] * 39 + [0] * 3 + [1, 0]),
        ([1e-300, 0.2, 1 - 1e-16, 0.999], [0, 1, 1, 0]),
    ],
)
@pytest.mark.filterwarnings("error")
def test_little_data_gives_finite_answers(scores: list[float], labels: list[int]) -> None:
    found = fit(np.array(scores), np.array(labels))
    assert all(np.isfinite([row.aic, row.b0, row.b1]).all() for row in found.aic)
    assert np.isfinite(found.world.sample(100, rng=0).scores).all()
    json.dumps(found.to_dict(), allow_nan=False)


def test_separated_outcomes_are_said() -> None:
    score = np.random.default_rng(1).random(200)
    found = fit(score, score > 0.5)
    assert not found.aic[0].converged
    assert "no finite optimum" in found.text


def test_grades() -> None:
    truth = World(Beta(2.0, 0.5), Glm("logit", "logit", 0.2, 0.7))
    good = fit(truth.sample(5_000, rng=1))
    assert (good.scores_quality.grade, good.curve_quality.grade, good.poor) == (
        "well",
        "well",
        False,
    )
    rng = np.random.default_rng(1)
    lumps = np.clip(rng.choice([0.2, 0.8], 5_000) + 0.01 * rng.standard_normal(5_000), 0, 1)
    bad = fit(lumps, rng.random(5_000) < lumps)
    assert bad.scores_quality.grade == "poorly"
    assert bad.poor
    assert "poorly" in bad.text
    wave = World(Beta(1.0, 1.0), Power(1.0)).sample(5_000, rng=2).scores
    bent = fit(wave, rng.random(5_000) < 0.5 + 0.45 * np.sin(12 * wave))
    assert bent.curve_quality.grade == "poorly"


def test_matrix_takes_the_top_label() -> None:
    rng = np.random.default_rng(6)
    probs = rng.dirichlet([0.3] * 4, 3_000)
    labels = np.array([rng.choice(4, p=row) for row in probs])
    found = fit(probs, labels)
    top = fit(probs.max(axis=1), probs.argmax(axis=1) == labels)
    assert found.scores_fit.alpha == pytest.approx(top.scores_fit.alpha, rel=1e-6)
    assert found.aic[0].family == top.aic[0].family
    assert fit(tu.Forecasts.from_arrays(probs, labels)).to_dict() == found.to_dict()


def test_weights_count_as_rows() -> None:
    probs, labels = drawn("densenet40_c10", 400, 5, np.float32)
    twice = np.random.default_rng(0).integers(1, 3, 400)
    weighted = fit(tu.Forecasts.from_arrays(probs, labels, weights=twice))
    repeated = fit(np.repeat(probs, twice), np.repeat(labels, twice))
    assert weighted.scores_fit.alpha == pytest.approx(repeated.scores_fit.alpha, rel=1e-6)
    for row in weighted.aic:  # AIC knows the number of rows, so the order may differ
        other = next(r for r in repeated.aic if r.family == row.family)
        assert (row.b0, row.b1) == pytest.approx((other.b0, other.b1), rel=1e-5, abs=1e-7)


def test_result_as_table_frame_and_json() -> None:
    found = fit(world_of("resnet152_imgnet").sample(2_000, rng=3))
    rows = found.table()
    assert len(rows) == 12
    assert [row["aic"] for row in rows] == sorted(row["aic"] for row in rows)
    assert list(found.to_frame("pandas")["family"]) == [row["family"] for row in rows]
    assert json.loads(json.dumps(found.to_dict()))["aic"][0]["family"] == found.aic[0].family
    assert str(found) == found.text
    assert found.world.scores == Beta(found.scores_fit.alpha, found.scores_fit.beta)
