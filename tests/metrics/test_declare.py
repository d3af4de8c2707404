"""One declaration gives the metric, its estimator and a signature that everybody can read."""

from __future__ import annotations

import ast
import inspect
import pickle
import pydoc
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import trueup as tu
from trueup import metrics
from trueup.estimators.base import Estimator, estimator_of, known_estimator
from trueup.inference.hypothesis_tests.sensitivity import sensitivity
from trueup.metrics import NAMED
from trueup.simulate import Beta, Power, World, study

STUB = Path(metrics.__file__).with_suffix(".pyi")
named = pytest.mark.parametrize("name", sorted(NAMED))


def written(function: ast.FunctionDef) -> str:
    """The signature of a method of the stub, without ``self``, as `inspect` writes it."""
    function.args.args = [each for each in function.args.args if each.arg != "self"]
    return ast.unparse(function).removeprefix(f"def {function.name}").removesuffix(":\n    ...")


def stub_signatures() -> dict[str, dict[str, str]]:
    """The call and the estimator of every name in the stub."""
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    protocols: dict[str, dict[str, str]] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            own = dict[str, str]()
            for base in node.bases:
                own |= protocols.get(getattr(base, "id", ""), {})
            for each in node.body:
                if isinstance(each, ast.FunctionDef):
                    own[each.name] = written(each)
            protocols[node.name] = own
    return {
        node.target.id: protocols[node.annotation.id]
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.annotation, ast.Name)
    }


def spaced(text: str) -> str:
    """Defaults of typed parameters with spaces around the sign."""
    return re.sub(r"(: [^,()=]+?)=", r"\1 = ", text)


def plain(function: object) -> str:
    return str(inspect.signature(function)).replace("'", "")  # type: ignore[arg-type]


@named
def test_the_stub_says_what_the_metric_takes(name: str):
    stub = stub_signatures()[name]
    assert spaced(stub["__call__"]) == plain(NAMED[name])
    assert spaced(stub["estimator"]) == plain(NAMED[name].estimator)


def test_the_stub_has_every_metric_and_no_other():
    assert set(stub_signatures()) == set(NAMED) == set(metrics.__all__)


@named
def test_help_shows_the_signature_and_the_docstring(name: str):
    text = pydoc.plain(pydoc.render_doc(NAMED[name])).replace("'", "")
    assert f"{name}(probs: object, labels: object = None" in text
    assert "References" in text or "Examples" in text


@named
def test_a_metric_is_its_estimator(name: str):
    rng = np.random.default_rng(1)
    probs, weights = rng.random(300), rng.integers(1, 4, 300)
    labels = rng.random(300) < probs**2
    metric = NAMED[name]
    estimator = metric.estimator()
    assert isinstance(estimator, Estimator)
    assert metric(probs, labels) == estimator(probs, labels)
    assert metric(probs, labels, weights=weights) == estimator(probs, labels, weights=weights)


@named
def test_metrics_can_be_pickled(name: str):
    assert pickle.loads(pickle.dumps(NAMED[name])) is getattr(tu, name)


def test_options_reach_the_estimator():
    assert tu.ece.estimator(n_bins=10) == tu.BinnedError(binning=tu.EqualWidth(10))
    assert known_estimator(partial(tu.ece, n_bins=10)) == tu.ece.estimator(n_bins=10)


def test_an_unknown_option_is_named():
    with pytest.raises(TypeError, match=r"`bins` is not an argument of ece. .* `n_bins`"):
        tu.ece([0.5], [1], bins=10)
    with pytest.raises(tu.InputError, match="bins"):
        estimator_of("estimator", partial(tu.ece, bins=10))


@named
def test_the_page_of_measures_names_it(name: str):
    page = Path(__file__).parents[2] / "docs" / "measures.md"
    assert re.search(rf"`{name}[`(]", page.read_text(encoding="utf-8"))


def test_what_is_no_metric_is_no_estimator():
    for other in (len, [], np.mean, lambda f: 0.0, tu.BinnedError):
        assert known_estimator(other) is None


def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    probs = rng.dirichlet([1, 1, 2], 120)
    return probs, np.array([rng.choice(3, p=row) for row in probs]), np.arange(120) % 2


TAKING_AN_ESTIMATOR = {
    "interval": lambda metric, P, y, g: tu.interval(metric, P, y, n_resamples=39),
    "calibration_test": lambda metric, P, y, g: tu.calibration_test(
        P, y, statistic=metric, n_resamples=39
    ),
    "compare": lambda metric, P, y, g: tu.compare(
        P, P[::-1].copy(), y, estimator=metric, n_resamples=39
    ),
    "group_errors": lambda metric, P, y, g: tu.group_errors(
        P, y, g, estimator=metric, n_resamples=39
    ),
    "class_errors": lambda metric, P, y, g: tu.class_errors(metric, P, y),
    "estimate_many": lambda metric, P, y, g: tu.inference.estimate_many(
        [metric], P, y, n_resamples=39
    ),
}


@pytest.mark.parametrize("function", TAKING_AN_ESTIMATOR)
@named
def test_what_takes_an_estimator_takes_a_metric(name: str, function: str):
    call, metric = TAKING_AN_ESTIMATOR[function], NAMED[name]

    def outcome(statistic: object) -> str:
        try:
            return repr(call(statistic, *rows()))
        except tu.InputError as error:
            return str(error)

    assert outcome(metric) == outcome(metric.estimator())


@pytest.mark.parametrize("name", ["ece", "ece_debiased", "rmsce_sweep", "mce"])
def test_simulations_take_a_metric(name: str):
    metric, world = NAMED[name], World(Beta(2.0, 1.0), Power(1.5))
    data, estimator = world.sample(200, rng=0), metric.estimator()
    few = {"true_error": 0.1, "n_datasets": 20}
    assert tu.power(world, statistic=metric, n=100, **few) == tu.power(
        world, statistic=estimator, n=100, **few
    )
    one, other = (
        study(world, {"it": each}, [50], n_datasets=20, progress=False).rows[0]
        for each in (metric, estimator)
    )
    assert one == other
    assert one.truth > 0
    advice = [
        tu.recommend_estimator(data, estimators={"it": each}, n_datasets=20).to_dict()
        for each in (metric, estimator)
    ]
    assert advice[0] == advice[1]


def test_recommendations_need_errors_with_a_true_value():
    data = World(Beta(2.0, 1.0), Power(1.5)).sample(200, rng=0)
    with pytest.raises(tu.InputError, match=r"`estimators` must contain errors of a norm"):
        tu.recommend_estimator(data, estimators={"it": tu.skce}, n_datasets=20)


def test_sensitivity_takes_a_metric():
    data = World(Beta(2.0, 1.0), Power(1.5)).sample(200, rng=0)
    metric, few = tu.rmsce_debiased, {"n_resamples": 39, "rng": 0}
    found = [sensitivity(data, statistic=each, **few) for each in (metric, metric.estimator())]
    np.testing.assert_array_equal(found[0].null, found[1].null)
    with pytest.raises(tu.InputError, match="`statistic` must be a debiased BinnedError"):
        sensitivity(data, statistic=tu.ece, **few)
