"""A clinical risk score: one column of risks, from patients of six hospitals."""

from __future__ import annotations

import numpy as np

from trueup.checks import check_whole
from trueup.datasets.dataset import Dataset, with_truth
from trueup.datasets.draws import Draws, logistic, logit
from trueup.forecasts import Forecasts
from trueup.tables import ResultTable

N_PATIENTS = 6000
SLOPE, INTERCEPT = 0.75, -0.25
# Name, share of the patients and mean logit of the risk: patients of some are sicker.
HOSPITALS = (
    ("Ashford", 0.30, -3.0),
    ("Brook", 0.22, -2.8),
    ("Dale", 0.18, -2.6),
    ("Harbor", 0.14, -2.4),
    ("Mill", 0.10, -2.0),
    ("North", 0.06, -1.5),
)
DESCRIPTION = (
    "Risk of death within 30 days for 6,000 patients of six hospitals, and who died. "
    "The risks are too extreme and, for most patients, too low: the true logit is "
    f"{SLOPE} × logit(risk) − {-INTERCEPT}, the same in every hospital."
)


def clinic(*, seed: int = 0) -> Dataset:
    """Return a clinical risk score with a known O:E ratio and calibration slope.

    The risks of 6,000 simulated patients in six hospitals are too extreme (slope 0.75) and, for
    most patients, too low. Use it to try methods for one column of probabilities.

    Parameters
    ----------
    seed : int
        Seed of the patients (default 0). Other seeds give other patients of the same kind.

    Returns
    -------
    Dataset
        Risks, deaths and hospitals (as ``groups``). ``known`` has ``"slope"`` and
        ``"intercept"`` of the true logit, ``"oe_ratio"``, and the mean (L1) and the root mean
        squared (L2) calibration error of these risks.

    Examples
    --------
    >>> import trueup as tu
    >>> data = tu.datasets.clinic()
    >>> round(data.known["oe_ratio"], 3), round(tu.oe_ratio(data), 3)
    (1.184, 1.175)
    """
    check_whole("seed", seed, 0)
    draws = Draws("clinic", seed)
    names, shares, means = zip(*HOSPITALS, strict=True)
    place = draws.choice(list(shares), N_PATIENTS)
    x = np.array(means)[place] + 1.1 * draws.normal(N_PATIENTS)
    risk = np.clip(np.round(logistic(x), 4), 0.001, 0.999)
    true = logistic(SLOPE * logit(risk) + INTERCEPT)
    died = draws.labels(true)
    hospital = np.array(names)[place]
    return with_truth(
        Forecasts.from_arrays(risk, died, groups=hospital),
        name="clinic",
        description=DESCRIPTION,
        true_probs=true,
        known={
            "slope": SLOPE,
            "intercept": INTERCEPT,
            "oe_ratio": float(true.sum() / risk.sum()),
            "l1_error": float(np.abs(true - risk).mean()),
            "l2_error": float(np.sqrt(((true - risk) ** 2).mean())),
        },
        table=ResultTable({"hospital": hospital, "risk": risk, "died": died}),
    )
