"""Recalibrators saved to be damaged, and a watch over what reading them does."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from trueup.recalibrate.base import Recalibrator
from trueup.recalibrate.compose.groupwise import GroupwiseCalibration
from trueup.recalibrate.compose.wrappers import OneVsRestCalibration
from trueup.recalibrate.files import save_and_load
from trueup.recalibrate.identity import IdentityCalibration
from trueup.recalibrate.isotonic import IsotonicCalibration

# What reading a file must not do, by the names of Python's audit events.
FORBIDDEN = {
    *("exec", "compile", "import", "pickle.find_class", "marshal.loads", "ctypes.dlopen"),
    *("os.system", "os.exec", "os.fork", "os.posix_spawn", "subprocess.Popen", "socket.connect"),
    *("os.remove", "os.rename", "os.chmod", "os.mkdir"),
}
armed: list[Path] = []


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    if not armed:
        return
    if event in FORBIDDEN:
        raise AssertionError(f"reading a file did {event} {arguments[:1]}")
    if event == "open" and str(arguments[0]) != str(armed[0]):
        raise AssertionError(f"reading a file opened {arguments[0]}")


sys.addaudithook(watch)


def example(name: str) -> Recalibrator:
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(3), 60)
    labels = np.array(["a", "b", "c"])[rng.integers(0, 3, 60)]
    if name == "small":
        model: Any = IdentityCalibration(classes=["a", "b", "c"]).fit(probs, labels)
        model.values_ = [1, 2.5, -0.0, None, True, "text", (1, (2,)), {"k": [float("inf")]}]
        model.array_ = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))
        model.more_ = [np.array(["a", None], object), np.array([np.nan]), np.int16(3)]
        model.inner_ = IdentityCalibration().fit([0.2, 0.9], [0, 1])
        return model
    if name == "maps":
        return IsotonicCalibration().fit(probs, labels)
    if name == "nested":
        groupwise = GroupwiseCalibration(OneVsRestCalibration(IsotonicCalibration()), min_rows=5)
        return groupwise.fit(probs, labels, groups=np.arange(60) % 2)
    model = IdentityCalibration(classes=["a", "b", "c"]).fit(probs, labels)
    model.matrix_ = rng.normal(size=(200, 50))
    model.flags_ = rng.random(100) < 0.5
    model.names_ = np.array(["x", "y"], "<U200")
    return model


EXAMPLES = ("small", "maps", "nested", "large")


def signed(document: dict[str, Any]) -> bytes:
    """A file in a valid format, with the right checksum."""
    rest = {key: value for key, value in document.items() if key != "sha256"}
    return json.dumps(rest | {"sha256": save_and_load._checksum(rest, [])}).encode()
