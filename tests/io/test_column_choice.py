"""The choice of columns, its report, and choices that are rejected."""

from __future__ import annotations

import pytest

from trueup import InputError
from trueup.io import choose

TEN = [f"p_{k}" for k in (0, 1, 10, 2, 3, 4, 5, 6, 7, 8, 9)]


@pytest.mark.parametrize(
    ("names", "probs", "label"),
    [
        (["p", "y"], ("p",), "y"),
        (["id", "p_0", "p_1", "y"], ("p_0", "p_1"), "y"),
        (["prob_cat", "prob_dog", "label"], ("prob_cat", "prob_dog"), "label"),
        (["proba_1", "proba_0", "target"], ("proba_0", "proba_1"), "target"),
        (
            [".pred_poor", ".pred_good", ".pred_class", "Class"],
            (".pred_poor", ".pred_good"),
            "Class",
        ),
        (["confidence", "correct"], ("confidence",), "correct"),
        (["y_true", "y_prob", "y_pred"], ("y_prob",), "y_true"),
        (["p_1", "outcome", "weight"], ("p_1",), "outcome"),
        (["p0", "p1", "p2", "truth"], ("p0", "p1", "p2"), "truth"),
        (["P_0", "P_1", "Label"], ("P_0", "P_1"), "Label"),
        (["0", "1", "2", "y"], ("0", "1", "2"), "y"),
        (["class_0", "class_1", "class"], ("class_0", "class_1"), "class"),
        (["p_a", "p_b", "conf", "y"], ("p_a", "p_b"), "y"),
        (["p_value", "p", "y"], ("p",), "y"),
        (["net__p", "net__y", "season"], ("net__p",), "net__y"),
        (["score", "won"], ("score",), "won"),
        (["class 0", "class 1", "true label"], ("class 0", "class 1"), "true label"),
    ],
)
def test_guesses(names: list[str], probs: tuple[str, ...], label: str) -> None:
    chosen = choose(names)
    assert chosen.probs == probs
    assert chosen.labels == label
    assert chosen.guessed == {"probs", "labels"}


def test_numbers_are_in_the_order_of_numbers() -> None:
    chosen = choose([*TEN, "y"])
    assert chosen.probs == tuple(f"p_{k}" for k in range(11))
    assert chosen.text == "using columns p_0 … p_10, label y"
    assert choose(["p_dog", "p_cat", "y"]).probs == ("p_dog", "p_cat")


@pytest.mark.parametrize(
    ("asked", "probs"),
    [
        ("p_*", tuple(f"p_{k}" for k in range(11))),
        ("p_[0-2]", ("p_0", "p_1", "p_2")),
        ("p_1?", ("p_10",)),
        ("p_3, p_1", ("p_3", "p_1")),
        (["p_3", "p_1"], ("p_3", "p_1")),
        ("a,b", ("a,b",)),
        ("q[0]", ("q[0]",)),
        (["q[*", "p_1"], ("q[*", "p_1")),
    ],
)
def test_what_is_asked_for(asked: str | list[str], probs: tuple[str, ...]) -> None:
    chosen = choose([*TEN, "a,b", "q[0]", "q[*", "y"], probs=asked, labels="y")
    assert chosen.probs == probs
    assert not chosen.guessed


def test_logits_have_their_own_names() -> None:
    names = ["logit_0", "logit_1", "p_0", "p_1", "y"]
    assert choose(names, logits=True).probs == ("logit_0", "logit_1")
    assert choose(names, logits=True).text == "using columns logit_0, logit_1 as logits, label y"
    assert choose(names).probs == ("p_0", "p_1")
    with pytest.raises(InputError, match=r"but logit_0, logit_1\. Hint: pass logits=True"):
        choose(["logit_0", "logit_1", "y"])


def test_weights_and_groups_are_said_not_guessed() -> None:
    names = ["p", "y", "weight", "group"]
    chosen = choose(names)
    assert (chosen.weights, chosen.groups) == (None, None)
    assert chosen.text == "using column p, label y (weight, group not used)"
    chosen = choose(names, weights="weight", groups="group")
    assert chosen.text == "using column p, label y, weights weight, groups group"


def test_one_given_the_other_of_the_same_model() -> None:
    names = ["a__p", "a__y", "b__p", "b__y"]
    assert choose(names, probs="b__p").labels == "b__y"
    assert choose(names, labels="a__y").probs == ("a__p",)
    with pytest.raises(
        InputError, match="holds 2 sets of predictions: a__p with a__y, b__p with b"
    ):
        choose(names)


def test_no_labels_needed() -> None:
    chosen = choose(["p_0", "p_1", "y"], need_labels=False)
    assert chosen.probs == ("p_0", "p_1")
    assert chosen.labels is None
    with pytest.raises(InputError, match="2 sets of predictions: a__p, b__p"):
        choose(["a__p", "b__p"], need_labels=False)


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (
            ["p", "y", "target"],
            {},
            r"labels may be in any of the columns y, target\. Hint: choose one",
        ),
        (["p", "conf", "y"], {}, r"predictions may be in any of: p; conf\. Hint: choose one"),
        (["p_0", "p_1", "prob_0", "prob_1", "y"], {}, "in any of: p_0, p_1; prob_0, prob_1"),
        (["a", "b", "y"], {}, r"no column name looks like a prediction; columns: a, b, y"),
        (["p", "a", "b"], {}, r"no column name looks like labels; columns: p, a, b\. Hint"),
        (["p", "y"], {"probs": "q_*"}, r"has no columns like 'q_\*' \(`probs`\)"),
        (["p", "label"], {"labels": "lable"}, r"has no column 'lable' .* is it 'label'\?"),
        (["P", "y"], {"probs": "p"}, r"is it 'P'\?"),
        (["p", "p", "y"], {}, "has 2 columns called 'p'"),
        (["p_0", "p_1", "p_1", "y"], {"probs": "p_*"}, "has 2 columns called 'p_1'"),
        (["p", "y"], {"probs": "y", "labels": "y"}, "cannot be both predictions and labels"),
        (["p", "y", "a", "b"], {"weights": "a,b"}, r"`weights` must be one column; got a, b"),
        (["p", "y"], {"probs": ""}, "`probs` must be names of columns"),
        (["p", "y"], {"probs": []}, "`probs` must be names of columns"),
        (["p", "y"], {"probs": [1]}, "`probs` must be names of columns"),
    ],
)
def test_refusals(names: list[str], options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        choose(names, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
