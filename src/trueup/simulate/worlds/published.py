"""Worlds from the literature, by name.

Roelofs et al. print the parameters of their Table 2 to two digits, so the simulated column of their
Table 3 cannot be reproduced from it; their Figure 4 can. If the table is illegible or
contradictory, ``approximate`` says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trueup.simulate.worlds.calibration_curves import (
    Curve,
    Glm,
    Identity,
    Logistic,
    LogOdds,
    Noisy,
    Power,
)
from trueup.simulate.worlds.multiclass import TableWorld
from trueup.simulate.worlds.score_distributions import (
    Beta,
    LogisticMixture,
    Points,
    ScoreDistribution,
    Uniform,
)
from trueup.simulate.worlds.world import World


@dataclass(frozen=True, repr=False)
class PublishedWorld(World):
    """A simulated model of the literature, with its source.

    Parameters
    ----------
    scores : ScoreDistribution
        Distribution of the scores.
    curve : Curve
        Calibration curve.
    source : str
        Where it was published.
    approximate : str
        Why it is approximate; empty if it is exact.

    Examples
    --------
    >>> from trueup.simulate import PUBLISHED
    >>> round(PUBLISHED["resnet110_c10"].true_error(), 4)
    0.0584
    """

    source: str = field(default="", kw_only=True)
    approximate: str = field(default="", kw_only=True)


MIXTURE = "Vaicenavicius et al. 2019, §5.1, the"
UNREADABLE = (
    "the best family's row of Table 2 is illegible in print and was inferred from its context"
)
UNSURE = f"{UNREADABLE}; b0 may be −0.05"
NOT_NESTED = "Table 2 gives b1 alone a far better AIC than b0 and b1 together, which is impossible"

# Table 1 (alpha, beta) and the family of lowest AIC in Table 2 (link, transform, b0, b1).
ROELOFS: dict[str, tuple[tuple[float, float], tuple[str, str, float, float], str]] = {
    "resnet110_c10": ((2.7752, 0.0478), ("logflip", "logflip", -0.24, 0.30), ""),
    "resnet110_SD_c10": ((2.1714, 0.0394), ("logit", "logflip", -0.27, -0.33), UNREADABLE),
    "resnet_wide32_c10": ((2.3806, 0.0379), ("logit", "logit", 0.0, 0.26), NOT_NESTED),
    "densenet40_c10": ((1.9824, 0.0397), ("logit", "logflip", 0.0, -0.26), NOT_NESTED),
    "resnet110_c100": ((1.1823, 0.1081), ("logflip", "logflip", -0.11, 0.28), UNREADABLE),
    "resnet110_SD_c100": ((1.1233, 0.1147), ("logit", "logit", -0.88, 0.49), ""),
    "resnet_wide32_c100": ((1.0611, 0.0650), ("logflip", "logflip", -0.15, 0.21), UNREADABLE),
    "densenet40_c100": ((1.0805, 0.0808), ("logit", "logit", -0.97, 0.34), ""),
    "resnet152_imgnet": ((1.1359, 0.2069), ("logflip", "logflip", -0.12, 0.58), ""),
    "densenet161_imgnet": ((1.1928, 0.2206), ("log", "log", -0.03, 1.27), UNSURE),
}

TABLE_1 = TableWorld(
    (
        (0.1, 0.3, 0.6),
        (0.1, 0.6, 0.3),
        (0.3, 0.1, 0.6),
        (0.3, 0.6, 0.1),
        (0.6, 0.1, 0.3),
        (0.6, 0.3, 0.1),
    ),
    (
        (0.2, 0.2, 0.6),
        (0.0, 0.7, 0.3),
        (0.2, 0.2, 0.6),
        (0.4, 0.5, 0.1),
        (0.7, 0.0, 0.3),
        (0.5, 0.4, 0.1),
    ),
)
TABLE_2 = TableWorld(((0.6, 0.1, 0.3), (0.4, 0.6, 0.0)), ((0.7, 0.2, 0.1), (0.3, 0.5, 0.2)))


def _roelofs() -> dict[str, PublishedWorld]:
    worlds = {}
    for name, (beta, glm, approximate) in ROELOFS.items():
        scores, source = Beta(*beta), "Roelofs et al. 2022, Tables 1 and 2"
        worlds[name] = PublishedWorld(scores, Glm(*glm), source=source, approximate=approximate)
        twin = f"{source}: the scores of {name}, calibrated"
        worlds[f"{name}_calibrated"] = PublishedWorld(scores, Identity(), source=twin)
    return worlds


def _others() -> dict[str, PublishedWorld]:
    entries: dict[str, tuple[ScoreDistribution, Curve, str]] = {
        "roelofs_figure_3": (Beta(2.8, 0.05), Power(2), "Roelofs et al. 2022, Figure 3"),
        "roelofs_figure_15": (Uniform(), Logistic(10, -5), "Roelofs et al. 2022, Figure 15"),
        "roelofs_figure_15_calibrated": (Uniform(), Identity(), "Roelofs et al. 2022, Figure 15"),
        "kumar_a": (Uniform(), LogOdds(2, 1), "Kumar et al. 2019, App. E (A)"),
        "kumar_b": (Uniform(0.25, 0.75), Noisy(LogOdds(2, 1)), "Kumar et al. 2019, App. E (B)"),
        "gaussian_mixture_perfect": (
            LogisticMixture(0, -2),
            Identity(),
            f"{MIXTURE} perfect model",
        ),
        "gaussian_mixture_constant": (Points((0.5,)), Identity(), f"{MIXTURE} constant model"),
        # With score σ(1 + x) and P(Y = −1 | x) = σ(−2x): x = logit(c) − 1.
        "gaussian_mixture_uncalibrated": (
            LogisticMixture(1, 1),
            LogOdds(-2, 2),
            f"{MIXTURE} model with β0 = β1 = 1",
        ),
    }
    return {
        name: PublishedWorld(scores, curve, source=source)
        for name, (scores, curve, source) in entries.items()
    }


PUBLISHED: dict[str, World | TableWorld] = {
    **_roelofs(),
    **_others(),
    "vaicenavicius_table_1": TABLE_1,
    "vaicenavicius_table_2": TABLE_2,
}
"""Named worlds: the ten models of Roelofs et al. with their calibrated twins, and others."""
