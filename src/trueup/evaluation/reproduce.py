"""The call that reproduces an evaluation, with everything that its numbers depend on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trueup.evaluation.findings import HEADLINE, usual_metrics
from trueup.evaluation.sections import Finding
from trueup.evaluation.settings import Settings
from trueup.forecasts import Forecasts
from trueup.metrics.declare import NAMED

SHOWN = 12  # digits of a fingerprint that tell data apart
GIVEN = ("weights", "groups", "features", "clusters", "classes")


def call_of(
    forecasts: Forecasts,
    settings: Mapping[str, Any],
    estimates: Sequence[Finding],
    versions: Mapping[str, str],
    fingerprint: str,
) -> str:
    """Return the call of `evaluate`, the version of trueup and the fingerprint of the data."""
    beside = [f"{name}={name}" for name in GIVEN if getattr(forecasts, name) is not None]
    given = ["probs", "labels", *beside]
    if forecasts.soft:  # arrays alone would be taken for labels that are not whole
        checked = ", ".join(["probs", "labels", "soft_labels=True", *beside])
        given = [f"trueup.Forecasts.from_arrays({checked})"]
    usual: Any = Settings.checked()._asdict() | {"recalibrate": True, "advice": True}
    asked = {name: settings[name] for name in usual if settings[name] != usual[name]}
    asked.pop("seed", None)
    asked |= {name: True for name in ("logits", "normalize") if settings.get(name)}
    given += [f"{name}={value!r}" for name, value in asked.items()]
    if [each.metric for each in estimates] != usual_metrics(forecasts):
        given.append(f"metrics={_metrics(estimates)}")
    given.append(f"rng={settings['seed']}")
    return f"trueup.evaluate({', '.join(given)}); {about(versions, fingerprint)}"


def _metrics(estimates: Sequence[Finding]) -> str:
    """Return the metrics as source code: by name, or as estimators under other names."""
    found = [each for each in estimates if each.metric != HEADLINE]
    if all(each.metric in NAMED for each in found):
        return repr([each.metric for each in found])
    return f"{{{', '.join(f'{each.metric!r}: {each.estimator}' for each in found)}}}"


def about(versions: Mapping[str, str], fingerprint: str) -> str:
    """Return the version of trueup and the fingerprint of the data."""
    return f"trueup {versions['trueup']}; data {fingerprint[:SHOWN]}"
