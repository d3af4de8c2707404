"""Matrix scaling and Dirichlet calibration against slow fits written from their definitions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info

from support.samples import theta_of, world
from trueup.engines.threads import set_threads
from trueup.errors import InputError
from trueup.recalibrate.blas import one_blas_thread
from trueup.recalibrate.scaling.affine.objective import AffineObjective, Penalty
from trueup.recalibrate.scaling.matrix import DirichletCalibration, MatrixScaling

PENALTIES = [None, "odir", "l2"]


def softmax(logits):
    return np.exp(log_softmax(logits, axis=1))


def objective(theta, x, y, penalty, lam, mu, w=None):
    """The sum of log loss and penalty as the docstring says it, with its gradient."""
    k = x.shape[1]
    matrix, b = theta[: k * k].reshape(k, k), theta[k * k :]
    w = np.ones(len(y)) if w is None else w
    logs = log_softmax(x @ matrix.T + b, axis=1)
    loss = -np.average(logs[np.arange(len(y)), y], weights=w)
    residual = (np.exp(logs) - np.eye(k)[y]) * (w / w.sum())[:, None]
    slope, slope_b = residual.T @ x, residual.sum(axis=0)
    off = matrix - np.diag(np.diag(matrix))
    if penalty == "odir":
        loss += lam * (off**2).sum() / (k * (k - 1)) + mu * (b**2).sum() / k
        slope, slope_b = slope + 2 * lam * off / (k * (k - 1)), slope_b + 2 * mu * b / k
    if penalty == "l2":
        away = matrix - np.eye(k)
        loss += lam * ((away**2).sum() + (b**2).sum()) / (k * (k + 1))
        slope = slope + 2 * lam * away / (k * (k + 1))
        slope_b = slope_b + 2 * lam * b / (k * (k + 1))
    return loss, np.concatenate([slope.ravel(), slope_b])


def gradient_at(model, x, y, w=None):
    found = objective(theta_of(model), x, y, model.penalty, model.lambda_ or 0, model.mu_ or 0, w)
    return np.linalg.norm(found[1])


@pytest.mark.parametrize(
    ("penalty", "lam", "mu"), [("odir", 0.7, 0.2), ("odir", 50.0, 3.0), ("l2", 2.0, "auto")]
)
def test_the_penalised_fit_is_that_of_a_slow_optimiser(penalty, lam, mu):
    x, y = world(300, 4)
    w = np.random.default_rng(1).uniform(0.5, 2, size=300)
    model = MatrixScaling(penalty=penalty, strength=lam, intercept_strength=mu, logits=True)
    model.fit(x, y, w)
    start = np.concatenate([np.eye(4).ravel(), np.zeros(4)])
    slow = minimize(
        objective, start, (x, y, penalty, lam, mu, w), method="BFGS", jac=True,
        options={"gtol": 1e-9, "maxiter": 5000},
    )  # fmt: skip
    assert theta_of(model) == pytest.approx(slow.x, abs=1e-6)
    assert gradient_at(model, x, y, w) <= 1e-8
    assert model.gradient_norm_ == pytest.approx(gradient_at(model, x, y, w), abs=1e-11)
    assert model.converged_
    assert not model.notes_


def test_without_a_penalty_it_is_logistic_regression():
    x, y = world(800, 4, seed=3)
    model = MatrixScaling(logits=True).fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        referee = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(x, y)
    assert model.predict_proba(x) == pytest.approx(referee.predict_proba(x), abs=1e-6)
    assert gradient_at(model, x, y) <= 1e-8
    # The same matrix except for a row that is added to all rows.
    difference = model.coefficients_ - referee.coef_
    assert np.ptp(difference, axis=0).max() < 1e-5


def test_it_finds_the_true_matrix():
    x, y = world(60_000, 3, scale=3)
    model = MatrixScaling(logits=True).fit(x, y)
    rng = np.random.default_rng(0)
    rng.normal(size=x.shape)
    truth = 0.5 * np.eye(3) + 0.1 * rng.normal(size=(3, 3))
    difference = model.coefficients_ - truth
    assert np.ptp(difference, axis=0).max() < 0.03


@pytest.mark.parametrize("penalty", [None, "odir"])
def test_the_representative_is_the_one_promised(penalty):
    x, y = world(400, 5)
    model = MatrixScaling(penalty=penalty, logits=True).fit(x, y)
    off = model.coefficients_ - np.diag(np.diag(model.coefficients_))
    assert np.abs(off.sum(axis=0)).max() < 1e-9
    assert abs(model.intercept_.sum()) < 1e-9


def test_the_second_derivative_is_that_of_differences():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(size=(50, 3)), np.ones(50)])
    amount, target = rng.uniform(size=(3, 4)), rng.normal(size=(3, 4))
    weight = rng.dirichlet(np.ones(50))
    goal = AffineObjective(x, rng.integers(3, size=50), weight, Penalty(amount, target))
    point, direction = rng.normal(size=(2, 3, 4))
    here = goal.at(point)
    ahead, behind = goal.at(point + 1e-5 * direction), goal.at(point - 1e-5 * direction)
    slope = (ahead.value - behind.value) / 2e-5
    assert slope == pytest.approx((here.gradient * direction).sum(), rel=1e-7)
    curve = (ahead.gradient - behind.gradient) / 2e-5
    assert goal.product(here.probs, direction) == pytest.approx(curve, abs=1e-8)
    # Nothing depends on what is added to a whole column.
    shifted = goal.at(point + rng.normal(size=4))
    assert shifted.value == pytest.approx(here.value, rel=1e-12)
    settled = Penalty(amount, target).settled(point)
    plain = (amount * (settled - target) ** 2).sum()
    assert plain == pytest.approx(Penalty(amount, target).value(point), rel=1e-12)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_whole_weights_are_repeated_rows(penalty):
    x, y = world(120, 3)
    w = np.random.default_rng(2).integers(0, 4, size=120)
    weighted = MatrixScaling(penalty=penalty, logits=True).fit(x, y, w)
    repeated = MatrixScaling(penalty=penalty, logits=True).fit(x.repeat(w, axis=0), y.repeat(w))
    assert weighted.lambda_ == repeated.lambda_
    assert weighted.mu_ == repeated.mu_
    assert theta_of(weighted) == pytest.approx(theta_of(repeated), abs=1e-6)


@pytest.mark.parametrize("penalty", [None, "odir"])
def test_whole_weights_are_repeated_rows_where_a_ridge_is_needed(penalty):
    x, y = world(120, 4)
    y = np.where(y > 1, 0, y)
    w = np.where(np.abs(x).max(axis=1) > 4, 6, 1)
    given = {} if penalty is None else {"strength": 0.01, "intercept_strength": 0.01}
    weighted = MatrixScaling(penalty=penalty, **given).fit(softmax(x), y, w)
    repeated = clone(weighted).fit(softmax(x).repeat(w, axis=0), y.repeat(w))
    assert weighted.notes_ == repeated.notes_ != []
    answers = [model.predict_proba(softmax(x)) for model in (weighted, repeated)]
    assert answers[0] == pytest.approx(answers[1], abs=1e-6)


@pytest.mark.parametrize("make", [MatrixScaling, DirichletCalibration])
@pytest.mark.parametrize("kind", ["probs", "logits"])
def test_two_classes_in_all_three_forms_agree(make, kind):
    rng = np.random.default_rng(0)
    z = rng.normal(size=300)
    y = (rng.random(300) < 1 / (1 + np.exp(0.3 - 0.6 * z))).astype(int)
    p = 1 / (1 + np.exp(-z))
    one, two = (p, np.column_stack([1 - p, p])) if kind == "probs" else (z, np.c_[0 * z, z])
    answers = [
        make(logits=kind == "logits").fit(form, y).predict_proba(form)
        for form in (one, one[:, None], two)
    ]
    assert answers[0].shape == (300, 2)
    assert answers[1] == pytest.approx(answers[0], abs=1e-9)
    assert answers[2] == pytest.approx(answers[0], abs=1e-9)


def test_dirichlet_is_matrix_scaling_of_log_probabilities():
    x, y = world(300, 3)
    matrix = MatrixScaling(penalty="odir").fit(softmax(x), y)
    dirichlet = DirichletCalibration().fit(softmax(x), y)
    assert (matrix.predict_proba(softmax(x)) == dirichlet.predict_proba(softmax(x))).all()
    logits = x + np.random.default_rng(1).normal(size=(300, 1))
    other = DirichletCalibration(logits=True).fit(logits, y)
    assert other.predict_proba(logits) == pytest.approx(
        dirichlet.predict_proba(softmax(x)), abs=1e-7
    )
    assert (other.lambda_, other.mu_) == (dirichlet.lambda_, dirichlet.mu_)


def edge_cases():
    rng = np.random.default_rng(0)
    z, y = world(150, 4)
    hot = np.eye(4)[z.argmax(axis=1)]
    yield "every prediction is right", softmax(z), z.argmax(axis=1), "probs"
    yield "one class", softmax(z), np.zeros(150, int), "probs"
    yield "a missing class", softmax(z), np.where(y == 3, 0, y), "probs"
    yield "one row", softmax(z[:1]), y[:1], "probs"
    yield "two rows", softmax(z[:2]), np.array([0, 3]), "probs"
    yield "equal rows", softmax(z[[0] * 9]), np.arange(9) % 4, "probs"
    yield "zeros and ones", hot, y, "probs"
    yield "saturated logits", 2000 * hot - 1000, y, "logits"
    yield "huge logits", 1e99 * z, y, "logits"
    yield "constant scores", np.full((40, 4), 0.25), np.arange(40) % 4, "probs"
    yield "fewer rows than classes", softmax(rng.normal(size=(9, 20))), np.arange(9) * 2, "probs"
    yield "upside down", -z, y, "logits"
    yield "float32", z.astype(np.float32), y, "logits"
    yield "shifted logits", z + 1000, y, "logits"


@pytest.mark.parametrize(
    ("X", "y", "kind"),
    [case[1:] for case in edge_cases()],
    ids=[case[0] for case in edge_cases()],
)
@pytest.mark.parametrize(
    "model",
    [*(MatrixScaling(penalty=penalty) for penalty in PENALTIES), DirichletCalibration()],
    ids=["none", "odir", "l2", "dirichlet"],
)
def test_hard_data_get_a_finite_answer(model, X, y, kind):
    model = clone(model).set_params(logits=kind == "logits").fit(X, y)
    probs = model.predict_proba(X)
    assert np.isfinite(model.coefficients_).all()
    assert np.isfinite(model.intercept_).all()
    assert np.isfinite(probs).all()
    assert np.abs(probs.sum(axis=1) - 1).max() < 1e-12
    assert probs.min() >= 0
    assert model.fit_["log_loss_after"] <= model.fit_["log_loss_before"] + 1e-9
    assert model.converged_ or model.notes_


@pytest.mark.parametrize("penalty", [None, "odir"])
def test_a_class_without_rows_keeps_a_positive_probability(penalty):
    z, y = world(300, 4)
    model = MatrixScaling(penalty=penalty).fit(softmax(z), np.where(y == 2, 1, y))
    assert model.predict_proba(softmax(z))[:, 2].min() > 0
    assert model.converged_
    assert "no finite optimum" in model.notes_[0]


def test_no_ridge_where_an_optimum_is_and_a_note_where_none_is():
    z, y = world(400, 3)
    assert not MatrixScaling(logits=True).fit(z, y).notes_
    told = MatrixScaling(logits=True).fit(z, z.argmax(axis=1))
    assert "every row can be classified correctly" in told.notes_[0]
    assert told.converged_
    # One class is separable, the others are not.
    z[y == 2, 2] += 100
    some = MatrixScaling(logits=True).fit(z, y)
    assert "perfectly separated" in some.notes_[0]
    assert some.converged_
    assert some.predict_proba(z)[y == 2, 2].min() > 0.99


@pytest.mark.parametrize("model", [MatrixScaling(), DirichletCalibration()])
def test_any_number_of_threads_gives_the_same_bits(model):
    z, y = world(1500, 6)
    found = []
    try:
        for threads in (1, 2, 3):
            set_threads(threads)
            found.append(theta_of(clone(model).fit(softmax(z), y)))
    finally:
        set_threads(None)
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()


def test_blas_has_its_threads_back_afterwards():
    def threads():
        return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]

    before = threads()
    with one_blas_thread():
        with one_blas_thread():
            assert set(threads()) <= {1}
        assert set(threads()) <= {1}
    assert threads() == before


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"penalty": "l1"}, '`penalty` must be "l2" or "odir"; got \'l1\''),
        ({"penalty": "odir", "strength": -1}, "`strength` must be"),
        ({"penalty": "odir", "intercept_strength": "much"}, "`intercept_strength` must be"),
        ({"penalty": "odir", "strength": float("nan")}, "`strength` must be"),
        ({"strength": 1.0}, '`strength` must be left at "auto" with penalty=None'),
        ({"penalty": "l2", "intercept_strength": 1.0}, "`intercept_strength` must be left at"),
        ({"n_folds": 1}, "`n_folds` must be a whole number of at least 2"),
    ],
)  # fmt: skip
def test_bad_parameters_are_named(parameters, words):
    with pytest.raises(InputError) as error:
        MatrixScaling(**parameters).fit([[0.2, 0.8], [0.6, 0.4]], [0, 1])
    assert words in str(error.value)


def test_a_fit_that_is_stopped_says_so(monkeypatch):
    z, y = world(3000, 12, noise=0.5)
    monkeypatch.setattr("trueup.recalibrate.scaling.affine.fit.AffineData.products", lambda *a: 3)
    with pytest.warns(ConvergenceWarning, match="MatrixScaling: the fit stopped early") as caught:
        model = MatrixScaling(logits=True).fit(z, y)
    assert [each.filename for each in caught] == [__file__]
    assert not model.converged_
    assert "stopped early" in model.notes_[-1]
    assert model.fit_["log_loss_after"] < model.fit_["log_loss_before"]


def test_it_does_not_promise_what_it_cannot_keep():
    assert not MatrixScaling.preserves_argmax
    assert not MatrixScaling.monotone
    z, y = world(200, 3)
    flipped = MatrixScaling(logits=True).fit(z[:, ::-1], y)
    assert (flipped.predict(z[:, ::-1]) != z[:, ::-1].argmax(axis=1)).any()


@settings(max_examples=25)
@given(
    n=st.integers(1, 30),
    k=st.integers(2, 5),
    seed=st.integers(0, 10_000),
    scale=st.sampled_from([0.0, 0.1, 3.0, 1000.0]),
    penalty=st.sampled_from(PENALTIES),
    weighted=st.booleans(),
)
def test_any_data_give_rows_of_probabilities(n, k, seed, scale, penalty, weighted):
    rng = np.random.default_rng(seed)
    x, y = scale * rng.normal(size=(n, k)).round(1), rng.integers(k, size=n)
    w = rng.integers(1, 4, size=n) if weighted else None
    number = "auto" if penalty is None else 0.5
    model = MatrixScaling(
        penalty=penalty,
        strength=number,
        intercept_strength=number if penalty == "odir" else "auto",
        logits=True,
    ).fit(x, y, w)
    new = np.vstack([x, rng.normal(size=(3, k)) * 1e6])
    probs = model.predict_proba(new)
    assert np.isfinite(probs).all()
    assert np.abs(probs.sum(axis=1) - 1).max() < 1e-12
    assert model.fit_["log_loss_after"] <= model.fit_["log_loss_before"] + 1e-9
    assert model.converged_ or model.notes_


@pytest.mark.slow
def test_a_hundred_classes_reach_the_promised_gradient():
    z, y = world(5000, 100, scale=1.0, noise=0.03)
    model = MatrixScaling(logits=True).fit(z.astype(np.float32), y)
    assert model.gradient_norm_ <= 1e-8
    assert gradient_at(model, z.astype(np.float32).astype(float), y) <= 1e-8 or model.notes_


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize("penalty", [None, "odir"])
def test_a_thousand_classes_and_fewer_rows_get_an_answer(penalty):
    z, y = world(100, 1000, noise=0.0)
    number = "auto" if penalty is None else 1e4
    model = MatrixScaling(
        penalty=penalty, strength=number, intercept_strength=number, logits=True
    ).fit(z, y)
    assert np.isfinite(model.predict_proba(z)).all()
    assert model.fit_["log_loss_after"] <= model.fit_["log_loss_before"]
    assert model.converged_ or model.notes_
