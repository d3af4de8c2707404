"""The page of the study of Kumar et al. 2019: published numbers and ours."""

from __future__ import annotations

from typing import Any

TOP = """# Reproducing histogram binning and scaling-binning (Kumar et al. 2019)

`make studies` writes this page. It compares the results of Kumar, Liang & Ma 2019, "Verified
uncertainty calibration", §4 and App. E, with those of trueup. For the paper, "±" is as printed; for
trueup, it is one standard error.

## Rows and bins (App. E (A))

Scores are uniform and P(Y = 1 | z) = σ(2 logit z + 1). The error of an output is its difference
from P(Y = 1 | output), which is known on a grid of 5,000 scores. There are {sets:,} datasets, the
same for every number of bins. Small bins often have the same mean label by chance. These bins then
have the same output, and their errors average out, as the definition of calibration requires. *By
bin* compares each bin with P(Y = 1 | bin).

| squared error | published | {names} |
|---|---|{rules}|
"""

NETWORK = """
## VGG-16 on CIFAR-10 (§4.3, Fig. 3)

Each of {resamples} repetitions draws {drawn} rows with replacement from the 10,000 predictions of
the paper's own network. All 10,000 rows serve as the population. *Error* is the squared marginal
calibration error, the mean over ten classes; *MSE* is the mean squared error, averaged in the
same way (the figure uses another scale). Both are × 10⁴. *Bins* is the number per class. Brackets
are 90% intervals for the means.

| bins | error: histogram | scaling-binning | lower by | MSE: histogram | scaling-binning |
|---|---|---|---|---|---|
"""


def page(synthetic: Any, misspecified: Any, table: Any, ratio: Any) -> str:
    """Return the whole page; ``ratio`` makes a ratio of two paired lists of numbers."""
    sets = len(next(iter(next(iter(synthetic.values())).values())))
    rules = "|".join("---" for _ in synthetic)
    text = TOP.format(sets=sets, names=" | ".join(synthetic), rules=rules)
    text += _ratios(synthetic, ratio)
    text += _errors(synthetic)
    value, error = misspecified
    text += (
        "\n## Compared with the scaling alone (App. E (B))\n\n"
        "Scores are uniform on [0.25, 0.75], and ±0.02 is added to each P(Y = 1). With 10 bins\n"
        "and 3,000 rows, the squared error of the sigmoid is\n"
        f"**{value:.2f} ± {error:.2f} times** that of scaling-binning (published: 5.2 ± 1.1).\n"
    )
    return text + (_network(table, ratio) if table else "")


def _ratios(synthetic: Any, ratio: Any) -> str:
    rows = [
        (
            "10 bins, n 1,000 → 2,000: decreases",
            "2.00 ± 0.06; 1.98 ± 0.09",
            (1000, 10),
            (2000, 10),
        ),
        ("n = 2,000, 5 → 20 bins: increases", "3.71 ± 0.15; 0.98 ± 0.07", (2000, 20), (2000, 5)),
    ]
    lines = []
    for words, published, top, bottom in rows:
        found = [ratio(each[top], each[bottom]) for each in synthetic.values()]
        cells = " | ".join(f"{value:.2f} ± {error:.2f}" for value, error in found)
        lines.append(f"| {words} × | {published} | {cells} |")
    return "\n".join(lines) + "\n"


def _errors(synthetic: Any) -> str:
    lines = []
    for n, n_bins in next(iter(synthetic.values())):
        cells = " | ".join(f"{1e4 * each[n, n_bins].mean():.2f}" for each in synthetic.values())
        lines.append(f"| × 10⁴ at n = {n:,}, {n_bins} bins | | {cells} |")
    return "\n".join(lines) + "\n"


def _network(table: Any, ratio: Any) -> str:
    histogram, ours = table["histogram"], table["scaling-binning"]
    resamples = len(next(iter(ours.values())).mse)
    text = NETWORK.format(drawn="1,000", resamples=resamples)
    for b, old in histogram.items():
        new = ours[b]
        cells = [_mean(old.squared), _mean(new.squared), _lower(ratio(new.squared, old.squared))]
        cells += [_mean(old.mse), _mean(new.mse)]
        text += f"| {b} | {' | '.join(cells)} |\n"
    last = max(histogram)
    text += "\n"
    for name, judged in table.items():
        if name not in ("histogram", "scaling-binning"):
            lower = _lower(ratio(judged[last].squared, histogram[last].squared))
            text += f"With {last} bins, {name}: lower by {lower}.\n"
    return text + _within(histogram, ours)


def _within(histogram: Any, ours: Any, most: float = 0.02) -> str:
    """The best mean squared error under a limit of the calibration error (text of §4.3)."""
    words, best = [], []
    for name, judged in (("histogram binning", histogram), ("scaling-binning", ours)):
        allowed = {b: each for b, each in judged.items() if each.squared.mean() <= most**2}
        b = min(allowed, key=lambda b: allowed[b].mse.mean())
        best.append(allowed[b].mse.mean())
        words.append(f"{name} can use {b} bins (MSE {1e4 * best[-1]:.1f} × 10⁻⁴)")
    return (
        f"\nFor a calibration error of at most {most} (root of the mean above), {words[0]}\n"
        f"and {words[1]}: {1 - best[1] / best[0]:.0%} lower MSE (published: 9%).\n"
    )


def _mean(values: Any) -> str:
    mean, half = 1e4 * values.mean(), 1e4 * 1.645 * values.std(ddof=1) / len(values) ** 0.5
    return f"{mean:.2f} [{mean - half:.2f}, {mean + half:.2f}]"


def _lower(ratio: Any) -> str:
    value, half = ratio.value, 1.645 * ratio.error
    return f"{1 - value:.0%} [{1 - value - half:.0%}, {1 - value + half:.0%}]"
