"""What copies of a classifier say of rows that they were not trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from trueup._typing import Ints
from trueup.recalibrate.model.fit_metadata import Metadata
from trueup.recalibrate.model.responses import Response


@dataclass(frozen=True, eq=False)
class Fold:
    """Scores of the ``rows`` of a fold, and the classifier they come from.

    Rows of a class that the classifier does not know are not among them, but in ``left_out``.
    """

    classifier: Any
    rows: Ints
    left_out: Ints
    scores: NDArray[Any]


def cross_fitted(
    classifier: Any,
    response: Response,
    X: Any,
    labels: NDArray[Any],
    classes: NDArray[Any],
    beside: Metadata,
    cv: Any,
    n_jobs: int | None,
) -> list[Fold]:
    """Fit a clone of the classifier on all folds but one, and let it score that one; for each."""
    from sklearn.model_selection import check_cv
    from sklearn.utils import _safe_indexing
    from sklearn.utils.parallel import Parallel, delayed

    def fold(train: Ints, test: Ints) -> Fold:
        copy = clone(classifier)
        copy.fit(_safe_indexing(X, train), labels[train], **beside.classifier(train))
        known = np.isin(labels[test], copy.classes_)
        rows, left_out = test[known], test[~known]
        if not len(rows):
            return Fold(copy, rows, left_out, np.empty((0, len(classes))))
        return Fold(copy, rows, left_out, response.of(copy, _safe_indexing(X, rows), classes))

    splits = check_cv(cv, labels, classifier=True).split(X, labels, **beside.for_splitter)
    return list(Parallel(n_jobs=n_jobs)(delayed(fold)(train, test) for train, test in splits))
