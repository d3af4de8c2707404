"""The precision of the estimate, the recommendation, and the expected gain."""

from __future__ import annotations

import numpy as np

from trueup.evaluation.sections import Recalibration
from trueup.evaluation.verdict.evidence import NOT_TESTED, Evidence
from trueup.evaluation.verdict.strongest import strongest
from trueup.evaluation.verdict.wording import amount, percent, span

LARGE = 0.1
"""Rows that may miss such an error, or one as large as the rarer outcome, are too few to tell."""
FEW_CLUSTERS = 50
IDENTITY = "IdentityCalibration"
OUT_OF_FOLD_LEVEL = 0.95
"""Confidence level of the intervals of `AutoCalibration`, whatever level was asked for."""


def precision(evidence: Evidence) -> str:
    """Return how far the interval extends, what the test detects, and the strongest part."""
    ends, many = evidence.headline.interval, evidence.overview.clusters
    width = max(ends.high - ends.estimate, ends.estimate - ends.low)
    text = f"With {evidence.rows}, the interval extends at most {amount(width)} from the estimate"
    found = evidence.detectable_error
    if evidence.miscalibrated and found is not None and found.error is not None:
        power = f"{100 * found.power:g}% probability"
        test = "the test of the top label" if evidence.multiclass else "the test"
        text += f"; {test} detects an error of {amount(found.error)} with {power}"
    if many is not None and many < FEW_CLUSTERS:
        text += "; with this few clusters, p-values and intervals are only approximate"
    if evidence.rejected and ends.low <= 0:
        text += (
            ". The test rejects calibration; the interval of the error is more conservative near "
            "0 and includes it"
        )
    described = strongest(evidence.test) if evidence.rejected else ""
    return f"{text}. {described}".strip()


def recommendation(evidence: Evidence) -> str:
    """Return what to do."""
    if evidence.miscalibrated:
        text = ""
        if evidence.overview.n_zero_prob_outcomes:
            text = (
                "Do not assign probability 0 to an outcome that can occur: store more digits, or "
                "clip probabilities away from 0 and 1. "
            )
        return f"{text}{_recalibration(evidence)}".strip()
    if evidence.status == NOT_TESTED:
        return _not_tested(evidence)
    if evidence.something_rejects:
        return _doubtful(evidence)
    return _nothing_shown(evidence)


def _recalibration(evidence: Evidence) -> str:
    found = evidence.recalibration
    if evidence.one_outcome:
        return "These rows contain only one outcome. Recalibrate on data that contains both."
    if found is None and evidence.miscalibrated and not evidence.rejected:
        return ""  # without the impossible outcomes there is no evidence of an error
    if found is None:
        return "Recalibrate on data the model was not trained on, then evaluate again."
    if found.recommended != IDENTITY:
        return (
            f"Recalibrate with {found.recommended}, fitted on held-out data that is in neither "
            "the training nor the test set."
        )
    if evidence.small:
        return (
            "An error this small needs no correction: no recalibrator is clearly better out of "
            "fold."
        )
    return (
        "None of the recalibrators tried is clearly better out of fold than the original "
        "probabilities."
    )


def _not_tested(evidence: Evidence) -> str:
    every = evidence.all_classes
    if evidence.headline.interval.low > 0 or (every is not None and every.interval.low > 0):
        return _recalibration(evidence)
    return "The interval alone does not show that recalibration is needed."


def _doubtful(evidence: Evidence) -> str:
    """Return the recommendation if a test rejects but the omnibus test does not."""
    found = evidence.recalibration
    start = "Treat the probabilities as possibly miscalibrated"
    if found is not None and found.recommended != IDENTITY and not evidence.one_outcome:
        return f"{start}; {found.recommended} is clearly better out of fold."
    return f"{start}, in the way that the rejecting tests measure."


def _nothing_shown(evidence: Evidence) -> str:
    found = evidence.detectable_error
    unseen = found.error if found is not None else evidence.headline.interval.high
    if unseen is None or unseen > min(LARGE, evidence.rarer):
        text = "There are too few rows to tell whether the model is calibrated."
    else:
        text = "On this evidence, no recalibration is needed."
    return f"{text}{_more_rows(evidence)}"


def _more_rows(evidence: Evidence) -> str:
    found = evidence.detectable_error
    if found is None or not len(found.table):
        return ""
    more = np.flatnonzero(found.table["rows"] > evidence.overview.n)
    if not len(more):
        return ""
    k = int(more[np.argmax(found.table["error"][more])])
    error, rows = float(found.table["error"][k]), int(found.table["rows"][k])
    power = f"{100 * found.power:g}% power"
    an_error = "a top-label error" if evidence.multiclass else "an error"
    return f" Detecting {an_error} of {error:g} with {power} takes about {_rounded(rows):,} rows."


def _rounded(rows: int) -> int:
    """Round up to two significant digits, because the number is only approximate."""
    size = int(10 ** max(0, len(str(rows)) - 2))
    return -(-rows // size) * size


def expected_gain(evidence: Evidence) -> str:
    """Return the effect of the recommended recalibrator, out of fold."""
    found = evidence.recalibration
    if found is None or found.recommended == IDENTITY or not evidence.miscalibrated:
        return ""
    if evidence.one_outcome:
        return ""
    before, after = found.before, found.after
    names = found.table["candidate"].tolist()
    zeros = int(found.table["zeros"][names.index(IDENTITY)])
    first = f"{before['log_loss']:.4f}"
    if zeros:
        first += f" ({zeros:,} {'probability' if zeros == 1 else 'probabilities'} of 0 clipped)"
    rows = "" if found.rows == evidence.overview.n else f" on a random {found.rows:,} rows"
    return (
        f"Out of fold{rows}, this changes the log loss from {first} to {after['log_loss']:.4f} and "
        f"the {_changed_error(evidence, found)}."
    )


def _changed_error(evidence: Evidence, found: Recalibration) -> str:
    """Return the change of the error; use the class-wise error if the top label hides it."""
    names = found.table["candidate"].tolist()
    rows = names.index(IDENTITY), names.index(found.recommended)
    kind, what = "error", "top-label calibration error"
    if evidence.overview.n_classes == 2:
        what = f"calibration error{evidence.of_second_class}"
    every = evidence.all_classes
    if every is not None and "marginal_error" in found.table:
        hidden = evidence.headline.interval.low <= 0 < every.interval.low
        kind, what = ("marginal_error", "class-wise error") if hidden else (kind, what)
    before, after = (float(found.table[kind][row]) for row in rows)
    low, high = (float(found.table[f"{kind}_{end}"][rows[1]]) for end in ("low", "high"))
    level = percent(OUT_OF_FOLD_LEVEL)
    to = f"{amount(after)} ({level} interval {span(low, high)})"
    if evidence.overview.clusters is not None:  # the interval takes rows for independent
        to = amount(after)
    elif after == 0:
        to = f"below {amount(high)} ({level} confidence)"
    return f"{what} from {amount(before)} to {to}"
