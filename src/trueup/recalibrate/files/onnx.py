"""Export of scaling recalibrators as ONNX graphs, for use without Python."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trueup.atomic_write import write_atomically
from trueup.errors import CapabilityError, must_be
from trueup.recalibrate.files.encoding import is_recalibrator
from trueup.recalibrate.score_forms import LEAST

OPSET = 17
IR_VERSION = 8  # of the same time as the operators
ROUNDING = 4 * float(np.finfo(np.float32).eps)  # rows whose sum is this near 1 are left alone
OUTPUT = "probabilities"


def to_onnx(recalibrator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted scaling recalibrator as an ONNX graph.

    It supports `TemperatureScaling`, `MMCEScaling`, `VectorScaling`, `MatrixScaling`,
    `DirichletCalibration`, `PlattScaling` and `BetaCalibration`. The graph takes float32 rows
    (N, columns), named ``probs``, or ``logits`` if the recalibrator takes logits, and outputs
    float32 ``probabilities`` (N, K). It computes in float64. It agrees with `predict_proba` of the
    same float32 rows to 1e-6, and does not check its input. The metadata hold the names of
    the classes as JSON (``classes``) and the class of the recalibrator (``recalibrator``).

    It needs the package onnx (the extra ``onnx`` of trueup). The file is written completely or not
    at all.

    Parameters
    ----------
    recalibrator : Recalibrator
        A fitted recalibrator of one of these classes.
    path : str or path-like
        File to write.

    See Also
    --------
    save : Save a recalibrator of any class, for `load_recalibrator`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from trueup.recalibrate import TemperatureScaling
    >>> fitted = TemperatureScaling().fit([0.2, 0.4, 0.9], [0, 1, 1])
    >>> with TemporaryDirectory() as folder:
    ...     to_onnx(fitted, f"{folder}/temperature.onnx")  # doctest: +SKIP
    """
    try:
        import onnx
    except ImportError:
        hint = "pip install onnx"
        raise CapabilityError(f"ONNX export needs the package onnx. Hint: {hint}.") from None
    from sklearn.utils.validation import check_is_fitted

    name = type(recalibrator).__name__
    if name not in ANSWERS or not is_recalibrator(recalibrator):
        rule = f"one of {', '.join(sorted(ANSWERS))} for ONNX"
        raise must_be("recalibrator", rule, recalibrator)
    check_is_fitted(recalibrator)
    graph = Graph(onnx)
    rows = ANSWERS[name](graph, recalibrator)
    graph("Cast", rows, named=OUTPUT, to=onnx.TensorProto.FLOAT)
    model = graph.model(recalibrator)
    onnx.checker.check_model(model, full_check=True)
    write_atomically(path, model.SerializeToString())


class Graph:
    """Operators and constants of a graph under construction."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: ArrayLike, dtype: type[np.generic] = np.float64) -> str:
        """Add an array and return its name."""
        name = f"constant_{len(self.constants)}"
        tensor = self.onnx.numpy_helper.from_array(np.asarray(values, dtype), name)
        self.constants.append(tensor)
        return name

    def __call__(self, operator: str, *inputs: str, named: str = "", **attributes: Any) -> str:
        """Add an operator and return the name of its output."""
        name = named or f"value_{len(self.nodes)}"
        node = self.onnx.helper.make_node(operator, list(inputs), [name], **attributes)
        self.nodes.append(node)
        return name

    def total(self, rows: str) -> str:
        """Return (N, 1) sums of rows."""
        return self("ReduceSum", rows, self.constant([1], np.int64), keepdims=1)

    def model(self, recalibrator: Any) -> Any:
        """Return the whole model, from (N, columns) to (N, K)."""
        helper, kind = self.onnx.helper, self.onnx.TensorProto.FLOAT
        columns, classes = recalibrator.n_features_in_, recalibrator.classes_
        graph = helper.make_graph(
            self.nodes,
            type(recalibrator).__name__,
            [helper.make_tensor_value_info(_name(recalibrator), kind, ["N", columns])],
            [helper.make_tensor_value_info(OUTPUT, kind, ["N", len(classes)])],
            self.constants,
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            producer_name="trueup",
            producer_version=version("trueup"),
            ir_version=IR_VERSION,
        )
        about = {
            "recalibrator": type(recalibrator).__name__,
            "classes": json.dumps(classes.tolist(), default=str),
        }
        helper.set_model_props(model, about)
        return model


def _name(recalibrator: Any) -> str:
    return "logits" if recalibrator.logits else "probs"


def _scores(graph: Graph, recalibrator: Any) -> str:
    """Return rows in float64, as `read_scores` reads them."""
    rows = graph("Cast", _name(recalibrator), to=graph.onnx.TensorProto.DOUBLE)
    if recalibrator.logits or recalibrator.n_features_in_ == 1:
        return rows
    total = graph.total(rows)
    away = graph("Abs", graph("Sub", total, graph.constant(1.0)))
    near = graph("LessOrEqual", away, graph.constant(ROUNDING))
    return graph("Where", near, rows, graph("Div", rows, total))


def _logits(graph: Graph, recalibrator: Any) -> str:
    """Return (N, K) logits or logarithms of probabilities; one logit z becomes (0, z)."""
    rows = _scores(graph, recalibrator)
    if recalibrator.n_features_in_ == 1:
        if recalibrator.logits:
            return graph("Mul", rows, graph.constant([[0.0, 1.0]]))
        rows = _both(graph, rows)
    if recalibrator.logits:
        return rows
    return graph("Log", graph("Max", rows, graph.constant(LEAST)))


def _both(graph: Graph, second: str) -> str:
    """Return (1 − p, p) from p of the second class, as p (−1, 1) + (1, 0)."""
    signed = graph("Mul", second, graph.constant([[-1.0, 1.0]]))
    return graph("Add", signed, graph.constant([[1.0, 0.0]]))


def _log_odds(graph: Graph, recalibrator: Any) -> str:
    """Return (N, problems) log-odds of each class against the rest; for two, of the second only."""
    rows = _scores(graph, recalibrator)
    columns = recalibrator.n_features_in_
    if recalibrator.logits:
        if columns == 1:
            return rows
        if columns == 2:
            return graph("MatMul", rows, graph.constant([[-1.0], [1.0]]))
        return graph("Sub", rows, _log_sum_of_others(graph, rows, columns))
    if columns == 2:
        rows = graph("MatMul", rows, graph.constant([[0.0], [1.0]]))
    p = graph("Clip", rows, graph.constant(LEAST), graph.constant(1 - LEAST))
    return graph("Sub", graph("Log", p), graph("Log", graph("Sub", graph.constant(1.0), p)))


def _log_sum_of_others(graph: Graph, rows: str, columns: int) -> str:
    """Return log Σ_{j≠k} e^{z_j} for every k.

    Subtracting e^{z_k} from the sum loses no precision except for the largest logit, for which the
    others are added separately.
    """
    numbers = graph.constant([range(columns)], np.int64)
    is_top = graph("Equal", numbers, graph("ArgMax", rows, axis=1, keepdims=1))
    largest = graph("ReduceMax", rows, axes=[1], keepdims=1)
    powers = graph("Exp", graph("Sub", rows, largest))
    rest = graph("Sub", graph.total(powers), powers)
    of_most = graph("Add", largest, graph("Log", graph("Max", rest, graph.constant(LEAST))))
    without = graph("Where", is_top, graph.constant(-1e300), rows)
    second = graph("ReduceMax", without, axes=[1], keepdims=1)
    others = graph.total(graph("Exp", graph("Sub", without, second)))
    return graph("Where", is_top, graph("Add", second, graph("Log", others)), of_most)


def _tempered(graph: Graph, recalibrator: Any) -> str:
    inverse = graph.constant(1 / recalibrator.temperature_)
    tempered = graph("Mul", _logits(graph, recalibrator), inverse)
    return graph("Softmax", tempered, axis=1)


def _scaled(graph: Graph, recalibrator: Any) -> str:
    scaled = graph("Mul", _logits(graph, recalibrator), graph.constant(recalibrator.coefficients_))
    moved = graph("Add", scaled, graph.constant(recalibrator.intercept_))
    return graph("Softmax", moved, axis=1)


def _dirichlet(graph: Graph, recalibrator: Any) -> str:
    logits = _logits(graph, recalibrator)
    if recalibrator.logits:
        logits = graph("LogSoftmax", logits, axis=1)
    return _affine(graph, recalibrator, logits)


def _affine(graph: Graph, recalibrator: Any, features: str) -> str:
    mixed = graph("MatMul", features, graph.constant(recalibrator.coefficients_.T))
    moved = graph("Add", mixed, graph.constant(recalibrator.intercept_))
    return graph("Softmax", moved, axis=1)


def _sigmoids(graph: Graph, recalibrator: Any, covariates: list[str]) -> str:
    """Return σ(intercept + Σ slope · covariate) of each class, with rows divided by their sum."""
    maps = recalibrator.maps_
    answer = graph.constant([[learned["intercept"] for learned in maps]])
    for number, covariate in enumerate(covariates):
        slopes = graph.constant([[learned["slopes"][number] for learned in maps]])
        answer = graph("Add", answer, graph("Mul", covariate, slopes))
    positive = graph("Sigmoid", answer)
    if len(recalibrator.classes_) == 2:
        return _both(graph, positive)
    total = graph.total(positive)
    original = graph("Softmax", _logits(graph, recalibrator), axis=1)
    some = graph("Greater", total, graph.constant(0.0))
    return graph("Where", some, graph("Div", positive, total), original)


def _beta(graph: Graph, recalibrator: Any) -> str:
    log_odds = _log_odds(graph, recalibrator)
    if recalibrator.parameters == "am":
        return _sigmoids(graph, recalibrator, [log_odds])
    ends = []
    for sign in (-1.0, 1.0):
        signed = graph("Mul", log_odds, graph.constant(sign))
        # log(1 + e^x) for x of any size
        small = graph("Exp", graph("Neg", graph("Abs", signed)))
        bend = graph("Log", graph("Add", graph.constant(1.0), small))
        curve = graph("Add", graph("Max", signed, graph.constant(0.0)), bend)
        if recalibrator.parameters == "ab":
            curve = graph("Sub", curve, graph.constant(np.log(2)))
        ends.append(graph("Mul", curve, graph.constant(sign)))
    return _sigmoids(graph, recalibrator, ends)


ANSWERS: dict[str, Callable[[Graph, Any], str]] = {
    "BetaCalibration": _beta,
    "DirichletCalibration": _dirichlet,
    "MMCEScaling": _tempered,
    "MatrixScaling": lambda graph, of: _affine(graph, of, _logits(graph, of)),
    "PlattScaling": lambda graph, of: _sigmoids(graph, of, [_log_odds(graph, of)]),
    "TemperatureScaling": _tempered,
    "VectorScaling": _scaled,
}
