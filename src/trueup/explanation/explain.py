"""`explain`: one function for metrics, recalibrators and tests."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from trueup.calls.hints import hinted
from trueup.checks import check_whole
from trueup.errors import must_be
from trueup.estimators.base import known_estimator
from trueup.explanation.clinical import ALIASES, CLINICAL, clinical_name, explain_clinical
from trueup.explanation.explanation import Explanation
from trueup.explanation.metric import explain_metric
from trueup.explanation.scores import Scores
from trueup.metrics.declare import NAMED
from trueup.seeds import Seed, seed_of

DRAWS, FITS = 200, 10
TEST = " test"


@hinted
def explain(
    what: object,
    probs: object = None,
    labels: object = None,
    *,
    n: int | None = None,
    logits: bool = False,
    n_draws: int | None = None,
    rng: Seed = 0,
) -> Explanation:
    """Explain a metric, a recalibrator or a test: what it is, when to use it, and its bias.

    The numbers are simulated: labels are drawn from the scores, so that the model is calibrated.
    The mean of the metric is then its bias for these scores and this number of rows. For a
    recalibrator it is the error that it adds to a calibrated model, and for a test its
    false-positive rate.

    Parameters
    ----------
    what : str, metric, estimator or recalibrator
        What to explain, such as ``"ece"``, ``tu.ece``, ``tu.BinnedError(norm=2)``,
        ``"TemperatureScaling"``, ``tu.PlattScaling()`` or ``"omnibus"``. ``"skce test"`` is the
        test, and ``"skce"`` is the metric. So are ``"cox test"`` and ``"cox"``, which is also
        named ``"slope"``; ``"O:E"`` is `oe_ratio`.
    probs : array or Forecasts, optional
        Scores to compute the numbers for. By default, one column of uniform scores is drawn.
    labels : array, optional
        Labels, to compare the value of these data with those of calibrated models.
    n : int, optional
        Number of rows of a dataset (default: that of ``probs``, or 1,000). For another number, rows
        of ``probs`` are drawn with replacement.
    logits : bool
        Whether ``probs`` are logits.
    n_draws : int, optional
        Number of datasets to draw (default 200, or 10 for a recalibrator).
    rng : int, Generator or None
        Random seed.

    Returns
    -------
    Explanation
        It prints as at most eight lines; ``numbers`` has the computed numbers.

    Examples
    --------
    >>> import trueup as tu
    >>> found = explain("ece", n=500)
    >>> print(found.lines["instead"])
    rmsce_debiased, whose bias is subtracted, or ece_sweep.
    >>> found.numbers["expected"] > explain("ece", n=5000).numbers["expected"]
    True
    """
    if n is not None:
        check_whole("n", n, 2)
    if n_draws is not None:
        check_whole("n_draws", n_draws, 2)
    kind, found = _meant(what)
    seed = seed_of(rng)
    scores = Scores.of(probs, labels, n, logits, seed)
    if kind == "clinical":
        return explain_clinical(found, scores, n_draws or DRAWS, seed)
    if kind == "metric":
        return explain_metric(what_named(what), found, scores, n_draws or DRAWS, seed)
    if kind == "test":
        from trueup.explanation.hypothesis_test import explain_test

        return explain_test(found, scores, n_draws or DRAWS, seed)
    from trueup.explanation.recalibrator import explain_recalibrator

    return explain_recalibrator(found, scores, n_draws or FITS, seed)


def _by_short_name(name: str, kinds: Mapping[str, Any]) -> Any:
    """Return the recalibrator of a name, which may be a short one of ``trueup fit --method``."""
    plain = name.replace("-", "").lower()
    found = [kind for full, kind in kinds.items() if full.lower().startswith(plain)]
    return kinds.get(name, found[0] if len(found) == 1 and plain else None)


def what_named(what: object) -> object:
    """Return the metric of a name; return anything else unchanged."""
    return NAMED.get(what, what) if isinstance(what, str) else what


def _meant(what: object) -> tuple[str, Any]:
    """Return the kind of the object to explain, and the object."""
    estimator = known_estimator(what_named(what))
    if estimator is not None:
        return "metric", estimator
    measure = clinical_name(what)
    if measure is not None:
        return "clinical", measure
    from trueup import recalibrate
    from trueup.inference.hypothesis_tests.named_tests import TESTS

    base = recalibrate.Recalibrator
    kinds = {name: getattr(recalibrate, name) for name in recalibrate.__all__}
    kinds = {
        name: kind
        for name, kind in kinds.items()
        if isinstance(kind, type) and issubclass(kind, base) and kind is not base
    }
    if isinstance(what, base) or what in kinds.values():
        return "recalibrator", what
    if isinstance(what, str):
        named = _by_short_name(what, kinds)
        if named is not None:
            return "recalibrator", named
        if what.removesuffix(TEST) in TESTS:
            return "test", what.removesuffix(TEST)
    names = [*NAMED, *CLINICAL, *ALIASES, *kinds, *TESTS]
    near = difflib.get_close_matches(what, names, n=1) if isinstance(what, str) else []
    rule = "a metric, a recalibrator or a test, such as 'ece', 'PlattScaling' or 'omnibus'"
    raise must_be("what", rule, what, hint=f"is it {near[0]!r}?" if near else "")
