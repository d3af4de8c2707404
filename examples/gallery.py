"""Plot the figures of README.md and docs/plotting.md: ``python examples/gallery.py``.

They are written to docs/figures. Arguments select figures by name. The digits are those of
scikit-learn; everything else is simulated, so the truth is known.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import trueup as tu
from trueup import plotting
from trueup.inference import calibration_curve, class_tests, consistency_band, trade_off
from trueup.inference.hypothesis_tests.sensitivity import sensitivity
from trueup.local import mlce_over_bandwidths
from trueup.simulate import PUBLISHED, Beta, Power, World, study

DOTS_PER_INCH = 80
DOTS_IN_PAPER = 150  # text is small there
FOLDER = Path(__file__).parents[1] / "docs" / "figures"


def over_confident(n: int = 4000, n_classes: int = 10, seed: int = 0) -> tu.Forecasts:
    """Rows of a model whose logits are 1.6 times too large."""
    rng = np.random.default_rng(seed)
    logits = 1.5 * rng.normal(size=(n, n_classes))
    odds = np.exp(logits)
    true = odds / odds.sum(axis=1, keepdims=True)
    labels = (rng.random((n, 1)) > true.cumsum(axis=1)).sum(axis=1).clip(0, n_classes - 1)
    return tu.Forecasts.from_arrays(1.6 * logits, labels, logits=True)


def planted(n: int = 6000, seed: int = 0) -> tuple[Any, Any, Any]:
    """Two regions, overconfident and underconfident, that cancel overall."""
    rng = np.random.default_rng(seed)
    features = rng.random((n, 2))
    probs = rng.uniform(0.6, 0.8, n)
    true = probs + np.where(features[:, 0] < 0.5, -0.15, 0.15)
    return probs, rng.random(n) < true, features


def network() -> Any:
    """The reliability diagram of README.md: an overconfident network of ten classes."""
    data = tu.datasets.network()
    return tu.evaluate(data, recalibrate=False, advice=False).plot("reliability")


def training() -> Any:
    """Follow a network of scikit-learn over its epochs on the digits."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    from sklearn.neural_network import MLPClassifier

    digits = load_digits()
    parts = train_test_split(digits.data / 16, digits.target, test_size=0.5, random_state=0)
    model = MLPClassifier((64,), learning_rate_init=0.005, random_state=0)
    trace = tu.Trace({"ece": tu.ece, "rmsce_debiased": tu.rmsce_debiased, "brier": tu.brier})
    for epoch in range(1, 41):
        model.partial_fit(parts[0], parts[2], classes=range(10))
        trace.record(epoch, model.predict_proba(parts[1]), parts[3])
    return plotting.plot_trace(trace.table())


def reliability(form: str = "classical", binning: Any = None) -> Any:
    """Bins of the top label, with a consistency band."""
    table = tu.BinnedError(binning=binning or tu.EqualWidth(15)).table(over_confident())
    return plotting.plot_reliability(table, band=consistency_band(table), form=form)  # type: ignore[arg-type]


def clinic(n: int = 6000, seed: int = 0) -> tuple[Any, Any]:
    """Risks of a rare outcome, about 3%: low ones are too low and high ones too high."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(-4.0, 1.1, n)
    return 1 / (1 + np.exp(-logit)), rng.random(n) < 1 / (1 + np.exp(0.61 - 0.76 * logit))


def paper() -> Any:
    """Two panels of a figure in a paper, 5.5 by 2.6 inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.5, 2.6))
    rows = over_confident()
    left, right = figure.subplots(1, 2)
    tu.reliability_diagram(rows, ax=left, title="Network", stats=True)
    tu.reliability_diagram(*clinic(), ax=right, title="Clinic", binning="equal-mass", stats=True)
    return figure


def curve() -> Any:
    """The smooth calibration curve of the risks."""
    return plotting.plot_calibration_curve(calibration_curve(*clinic()))


def simplex(n_classes: int) -> Any:
    """Three or four classes at once."""
    grid = tu.bins.SimplexGrid({3: 7, 4: 4}[n_classes])
    cells = tu.BinnedError(lens=tu.lens.Canonical(), binning=grid).table(
        over_confident(4000, n_classes)
    )
    return (plotting.plot_simplex if n_classes == 3 else plotting.plot_tetrahedron)(cells)


def null() -> Any:
    """The consistency test of 300 rows."""
    data = World(Beta(3.0, 1.0), Power(1.4)).sample(300, rng=0)
    result = sensitivity(data, statistic=tu.rmsce_debiased, rng=0)
    count, edges = np.histogram(result.null, 40)
    bars = tu.tables.ResultTable({"low": edges[:-1], "high": edges[1:], "count": count})
    pvalue = tu.calibration_test(data, statistic=tu.rmsce_debiased, rng=0).pvalue
    return plotting.plot_null(bars, result.observed, pvalue, measure="debiased squared error")


def local(picture: str) -> Any:
    """Local errors before and after LoRe, on rows it was not fitted on."""
    fitted, new = planted(seed=1), planted(seed=2)
    lore = tu.LocalCalibration().fit(fitted[0], fitted[1], features=fitted[2])
    repaired = lore.predict_proba(new[0], features=new[2])[:, 1]
    error = tu.LocalError()
    tables = {
        "before": error.table(*new),
        "after LoRe": error.table(repaired, new[1], new[2]),
    }
    if picture == "landscape":
        return plotting.plot_lce_landscape(tables["before"])
    if picture == "cdf":
        return plotting.plot_lce_cdf(tables)
    sweeps = {
        "before": mlce_over_bandwidths(*new),
        "after LoRe": mlce_over_bandwidths(repaired, new[1], new[2]),
    }
    return plotting.plot_mlce(sweeps)


def decisions(picture: str) -> Any:
    """What confidences are worth, before and after temperature scaling."""
    fitted, new = over_confident(seed=1), over_confident(seed=2)
    temperature = tu.TemperatureScaling().fit(fitted.rows(slice(0, fitted.n)), fitted.labels)
    before = new.rows(slice(0, new.n))
    models = {"original": before, "temperature scaling": temperature.predict_proba(before)}
    if picture == "rewards":
        tables = {k: tu.decisions.abstention_rewards(p, new.labels) for k, p in models.items()}
        return plotting.plot_rewards(tables)
    return plotting.plot_coverage(
        {k: tu.decisions.accuracy_coverage_curve(p, new.labels) for k, p in models.items()}
    )


def error_by_bins() -> Any:
    """Plug-in and debiased errors of 500 rows for 1 to 100 bins."""
    data = PUBLISHED["resnet110_c10"].sample(500, rng=0)
    result = tu.evaluate(data, recalibrate=False, advice=False, metrics=["ece"], n_resamples=99)
    bins = result.tables["bins"]
    assert isinstance(bins, tu.tables.ResultTable)
    chosen = int(bins["n_bins"][bins["sweep"]][0])
    return plotting.plot_error_by_bins(bins, chosen=chosen)


def groups() -> Any:
    """A model that is right for two groups and not for a third."""
    rng = np.random.default_rng(0)
    probs = rng.random(6000)
    names = rng.choice(["north", "south", "west"], 6000, p=[0.5, 0.3, 0.2])
    labels = rng.random(6000) < np.where(names == "west", probs**1.5, probs)
    result = tu.group_errors(probs, labels, names, rng=0)
    return plotting.plot_group_errors(result.table)


def comparison() -> Any:
    """Three models on the same rows."""
    rng = np.random.default_rng(2)
    true = rng.random(3000)
    labels = rng.random(3000) < true
    models = {"raw": true**1.5, "better": true**1.1, "best": true}
    result = {name: tu.interval(tu.rmsce_debiased, p, labels) for name, p in models.items()}
    columns = {
        "model": np.array(list(result)),
        "error": np.array([each.estimate for each in result.values()]),
        "low": np.array([each.low for each in result.values()]),
        "high": np.array([each.high for each in result.values()]),
    }
    return plotting.plot_comparison(tu.tables.ResultTable(columns))


def of_auto() -> Any:
    """Candidates of `AutoCalibration`."""
    data = over_confident()
    auto = tu.AutoCalibration().fit(data.rows(slice(0, data.n)), data.labels)
    return plotting.plot_recalibrations(auto.table_, score="log loss")


def of_study() -> Any:
    """The bias of estimators against the number of rows."""
    measures = {
        "ece": tu.BinnedError(),
        "ece_debiased": tu.BinnedError(binning=tu.EqualMass(15), debias=True),
        "ece_sweep": tu.SweepError(),
    }
    world = {"resnet110_c10": PUBLISHED["resnet110_c10"].calibrated()}
    return plotting.plot_study(
        study(world, measures, [200, 500, 1000, 3000, 10000], n_datasets=200)
    )


PICTURES: dict[str, Callable[[], Any]] = {
    "network": network,
    "reliability": reliability,
    "reliability_deviation": lambda: reliability("deviation", tu.EqualMass(15)),
    "reliability_tree": lambda: reliability("classical", tu.bins.VarianceTree()),
    "paper": paper,
    "curve": curve,
    "lineup": lambda: tu.lineup(*clinic(), rng=0),
    "simplex": lambda: simplex(3),
    "tetrahedron": lambda: simplex(4),
    "classes": lambda: plotting.plot_class_errors(class_tests(over_confident(), rng=0)),
    "psce": lambda: plotting.plot_psce(tu.PointwiseError().table(over_confident())),
    "error_by_bins": error_by_bins,
    "null": null,
    "groups": groups,
    "comparison": comparison,
    "decomposition": lambda: plotting.plot_decomposition(
        tu.Brier().decompose(World(Beta(3.0, 1.0), Power(2.0)).sample(4000, rng=0)),
        score="Brier score",
    ),
    "trade_off": lambda: plotting.plot_trade_off(
        trade_off(World(Beta(2.0, 1.0), Power(2.0)).sample(40_000, rng=0), rng=0)
    ),
    "recalibrations": of_auto,
    "trace": training,
    "landscape": lambda: local("landscape"),
    "lce_cdf": lambda: local("cdf"),
    "mlce": lambda: local("mlce"),
    "rewards": lambda: decisions("rewards"),
    "coverage": lambda: decisions("coverage"),
    "study": of_study,
    "overview": lambda: tu.evaluate(over_confident()).plot(name="network.npz"),
}


def main(names: list[str]) -> None:
    unknown = [name for name in names if name not in PICTURES]
    if unknown:
        sys.exit(f"There is no figure {unknown[0]!r}; there are: {', '.join(PICTURES)}.")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or PICTURES:
        result = PICTURES[name]()
        figure = result if hasattr(result, "savefig") else result.figure
        dpi = DOTS_IN_PAPER if name == "paper" else DOTS_PER_INCH
        figure.savefig(FOLDER / f"{name}.png", dpi=dpi)
        print(f"docs/figures/{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
