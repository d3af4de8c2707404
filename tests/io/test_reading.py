"""From a file to checked forecasts, and the report about it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import trueup as tu
from trueup.io import open_table, read, read_forecasts, read_scores, write_table

Make = Callable[..., Path]

PAIRS = "0.5,1\n0.25,0\n0.75,1\n"


def test_two_columns_whatever_they_are_called(make_file: Make) -> None:
    found = read_forecasts(make_file("p.csv", "won,guess\n1,0.5\n0,0.25\n1,0.75\n"))
    assert found.text == "using column guess, label won"
    assert found.forecasts.scores.tolist() == [0.5, 0.25, 0.75]
    assert found.forecasts.labels.tolist() == [1, 0, 1]
    assert found.names.probs == ("guess",)


def test_names_beat_values_in_two_columns(make_file: Make) -> None:
    assert read_forecasts(make_file("p.csv", "y,p\n1,0\n0,1\n")).names.probs == ("p",)


def test_a_column_of_row_numbers_is_no_third_column(make_file: Make) -> None:
    text = ",guess,won\n0,0.5,1\n1,0.25,0\n"
    assert read_forecasts(make_file("p.csv", text)).text == "using column guess, label won"


@pytest.mark.parametrize(
    ("labels", "expected", "said"),
    [
        ("1 0 1", [1, 0, 1], ""),
        ("1.0 0.0 1.0", [1, 0, 1], ""),
        ("True False True", [1, 0, 1], ""),
        ("FALSE true false", [0, 1, 0], ""),
        ("yes no yes", [1, 0, 1], "; yes counts as 1"),
        ("No Yes No", [0, 1, 0], "; Yes counts as 1"),
        ("1 -1 1", [1, 0, 1], "; 1 against -1"),
        ("pos pos pos", [1, 1, 1], "; pos counts as 1"),
        ("cat dog cat", [1, 0, 1], "; cat counts as 1"),
    ],
)
def test_binary_labels(make_file: Make, labels: str, expected: list[int], said: str) -> None:
    rows = zip(("0.5", "0.25", "0.75"), labels.split(), strict=True)
    found = read_forecasts(make_file("p.csv", "p_cat,y\n" + "".join(f"{p},{y}\n" for p, y in rows)))
    assert found.forecasts.labels.astype(int).tolist() == expected
    assert found.text == "using column p_cat, label y" + said


def test_words_that_could_be_either_way(make_file: Make) -> None:
    path = make_file("p.csv", "p,y\n0.5,good\n0.25,bad\n")
    with pytest.raises(tu.InputError, match=r"classes='bad,good', the positive one last"):
        read(path)
    assert read(path, classes=["bad", "good"]).labels.tolist() == [1, 0]
    assert read(path, classes=["good", "bad"]).labels.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("header", "labels", "numbers", "classes"),
    [
        ("p_cat,p_dog,y", "dog,cat", [1, 0], ("cat", "dog")),
        ("p_car,p_cat,y", "cat,car", [1, 0], ("car", "cat")),
        ("cat_prob,dog_prob,y", "dog,cat", [1, 0], ("cat", "dog")),
        ("Class1,Class2,y", "Class2,Class1", [1, 0], ("Class1", "Class2")),
        ("cat,dog,y", "dog,cat", [1, 0], ("cat", "dog")),
        ("p_0,p_1,y", "1,0", [1, 0], None),
        ("p_1,p_2,y", "2,1", [1, 0], (1, 2)),
        ("p_1,p_0,y", "1,0", [1, 0], None),
        ("p_5,p_7,y", "7,5", [1, 0], (5, 7)),
    ],
)
def test_classes_from_the_names_of_columns(
    make_file: Make,
    header: str,
    labels: str,
    numbers: list[int],
    classes: tuple[object, ...] | None,
) -> None:
    first, second = labels.split(",")
    text = f"{header}\n0.25,0.75,{first}\n0.5,0.5,{second}\n"
    pattern = {"cat_prob,dog_prob,y": "*_prob"}.get(header)
    found = read_forecasts(make_file("p.csv", text), probs=pattern)
    assert found.forecasts.labels.astype(int).tolist() == numbers
    assert found.forecasts.classes == classes
    # Columns are put in the order of their numbers, and the values go with them.
    assert found.forecasts.rows(slice(None))[0].tolist() == (
        [0.75, 0.25] if header.startswith("p_1,p_0") else [0.25, 0.75]
    )


def test_numbers_beside_columns_of_words_are_not_guessed(make_file: Make) -> None:
    path = make_file("p.csv", "p_dog,p_cat,y\n0.25,0.75,1\n0.5,0.5,0\n")
    for probs in (None, "p_*"):
        with pytest.raises(tu.InputError, match="column 'y' holds numbers, and columns p_dog, p"):
            read(path, probs=probs)
    found = read_forecasts(path, probs="p_cat,p_dog")
    assert found.text.endswith("; classes in the order of columns, 0 = cat, 1 = dog")
    assert read(path, classes="dog,cat").classes == ("dog", "cat")


@pytest.mark.parametrize("column", ["prob_0", "p0", "p_neg", "proba_negative", "p_wrong"])
def test_a_column_of_the_negative_class_is_not_taken_for_the_positive(
    make_file: Make, column
) -> None:
    path = make_file("p.csv", f"{column},label\n0.9,0\n0.2,1\n")
    with pytest.raises(tu.InputError, match="looks like the probability of the negative class"):
        read(path)
    assert read(path, classes="1,0").labels.tolist() == [1, 0]


def test_a_column_named_for_either_word_is_about_that_word(make_file: Make) -> None:
    found = read_forecasts(make_file("p.csv", "proba_no,label\n0.9,no\n0.2,yes\n"))
    assert found.text.endswith("; no counts as 1")
    assert found.forecasts.labels.tolist() == [1, 0]


def test_predicted_classes_are_no_probabilities(make_file: Make) -> None:
    text = "y_true,y_pred\n1,1\n0,1\n0,0\n"
    with pytest.raises(tu.InputError, match="'y_pred' contains only 0 and 1, so it looks like"):
        read(make_file("p.csv", text))
    assert read(make_file("p.csv", text), probs="y_pred").scores.tolist() == [1, 1, 0]
    assert read(make_file("q.csv", "p,y\n1,1\n1,0\n")).scores.tolist() == [1, 1]


def test_all_rows_with_gaps_are_counted(make_file: Make) -> None:
    path = make_file("p.csv", "p,y\n0.5,1\n0.5,\n,0\n,1\n")
    with pytest.raises(tu.InputError, match=r"3 of 4 rows have missing values, the first in .*'y'"):
        read(path)


def test_a_label_that_no_column_is_named_for(make_file: Make) -> None:
    path = make_file("p.csv", "p_cat,p_dog,y\n0.25,0.75,cat\n0.5,0.5,cow\n")
    message = r"column 'y' must name classes as the columns p_cat, p_dog do; got 'cow' in row 1 \(l"
    with pytest.raises(tu.InputError, match=message):
        read(path)
    path = make_file("q.csv", "p_1,p_2,y\n0.25,0.75,0\n0.5,0.5,1\n")
    with pytest.raises(
        tu.InputError, match=r"got 0 in row 0 \(line 2\). Hint: the classes are 1, 2"
    ):
        read(path)
    assert read(path, classes=["0", "1"]).labels.tolist() == [0, 1]


def test_a_predicted_class_makes_labels_right_or_wrong(make_file: Make) -> None:
    found = read_forecasts(make_file("p.csv", "conf,pred,y\n0.5,3,3\n0.25,7,1\n0.9,2,2\n"))
    assert found.forecasts.labels.tolist() == [True, False, True]
    said = "using column conf, label y, prediction pred; right where pred equals y"
    assert found.text == said
    words = make_file("q.csv", "conf,pred,y\n0.5,a,a\n0.25,b,c\n0.9,d,d\n")
    assert read(words).labels.tolist() == [True, False, True]
    assert read(words, prediction="pred").labels.tolist() == [True, False, True]


def test_a_confidence_beside_two_classes_is_not_guessed(make_file: Make) -> None:
    path = make_file("p.csv", "conf,pred,y\n0.9,0,0\n0.8,1,0\n")
    with pytest.raises(tu.InputError, match=r"may be the probability of the label 1 or the confid"):
        read(path)
    assert read(path, probs="conf", labels="y").labels.tolist() == [0, 0]
    assert read(path, prediction="pred").labels.tolist() == [True, False]
    right = make_file("q.csv", "conf,pred,correct\n0.9,0,0\n0.8,1,1\n")
    assert read_forecasts(right).text == "using column conf, label correct"


def test_what_does_not_go_with_a_prediction(make_file: Make) -> None:
    path = make_file("p.csv", "p_0,p_1,pred,y\n0.5,0.5,1,1\n")
    with pytest.raises(tu.InputError, match="`prediction` goes with one column of confidences"):
        read(path, prediction="pred")
    with pytest.raises(tu.InputError, match="Pass either `ignore_label` or `prediction`, not both"):
        read(path, probs="p_0", prediction="pred", ignore_label=-1)
    path = make_file("q.csv", "conf,pred,y\n0.5,3,a\n")
    with pytest.raises(
        tu.InputError, match=r"'pred' must name classes as column 'y' does; got 3 an"
    ):
        read(path, prediction="pred")
    path = make_file("r.csv", "conf,pred,y\n0.5,a,a\n0.5,,\n")
    with pytest.raises(tu.InputError, match=r"1 of 2 rows has missing values"):
        read(path, prediction="pred")


def test_weights_groups_features_clusters(make_file: Make) -> None:
    text = "p,y,w,g,x_1,x_2,c\n0.5,1,2,a,0,1,7\n0.25,0,1,b,2,3,7\n"
    options = {"weights": "w", "groups": "g", "features": "x_*", "clusters": "c"}
    f = read(make_file("p.csv", text), **options)  # type: ignore[arg-type]
    assert f.weights is not None
    assert f.weights.tolist() == [2, 1]
    assert f.groups is not None
    assert f.groups.tolist() == ["a", "b"]
    assert f.features is not None
    assert f.features.tolist() == [[0, 1], [2, 3]]
    assert f.clusters is not None
    assert f.clusters.tolist() == [7, 7]


def test_logits(make_file: Make) -> None:
    f = read(make_file("p.csv", "logit_0,logit_1,y\n0,3,1\n-2,5,0\n"), logits=True)
    assert f.log_probs_exact
    assert np.allclose(f.rows(slice(None))[:, 1], 1 / (1 + np.exp([-3.0, -7.0])))
    assert read(make_file("q.csv", "z,y\n0,1\n"), logits=True).scores.tolist() == [0.5]


def test_ignored_soft_and_normalized(make_file: Make) -> None:
    path = make_file("p.csv", "p_cat,p_dog,y\n0.25,0.75,cat\n0.5,0.5,unsure\n")
    assert read(path, ignore_label="unsure").n == 1
    path = make_file("q.csv", "p_1,p_2,y\n0.25,0.75,1\n0.5,0.5,-1\n")
    assert read(path, ignore_label=-1).n == 1
    path = make_file("r.csv", "p,y\n0.5,0.25\n")
    assert read(path, soft_labels=True).labels.tolist() == [0.25]
    path = make_file("s.csv", "p_0,p_1,y\n0.3,0.3,0\n")
    assert read(path, normalize=True).rows(slice(None)).tolist() == [[0.5, 0.5]]


def test_missing_values_left_out_on_demand(make_file: Make) -> None:
    path = make_file("p.csv", "p,y\n0.5,1\n,0\nNA,1\n0.25,\n0.75,0\n")
    found = read_forecasts(path, drop_missing=True)
    assert found.forecasts.scores.tolist() == [0.5, 0.75]
    assert found.text.endswith("; left out 3 of 5 rows with missing values")
    with pytest.raises(tu.InputError, match="has no row without a missing value"):
        read(make_file("q.csv", "p,y\n0.5,\n,0\n"), drop_missing=True)


def test_rows_of_the_file_are_named_after_leaving_some_out(make_file: Make) -> None:
    path = make_file("p.csv", "p,y\n,1\n0.5,1\n1.5,0\n")
    with pytest.raises(tu.InputError, match=r"got 1.5 in row 2 \(line 4\)"):
        read(path, drop_missing=True)
    path = make_file("q.csv", "p,y\n,1\n0.5,1\n0.5,7\n")
    with pytest.raises(tu.InputError, match=r"'y' must be 0 or 1; got 7.* in row 2 \(line 4\)"):
        read(path, drop_missing=True)
    path = make_file("r.csv", "p_a,p_b,y\n,1,a\n0.5,0.5,a\n0.5,0.5,c\n")
    with pytest.raises(tu.InputError, match=r"got 'c' in row 2 \(line 4\)"):
        read(path, drop_missing=True)
    path = make_file("s.csv", "p,y,w\n,1,1\n0.5,1,1\n0.5,1,-2\n")
    with pytest.raises(tu.InputError, match=r"column 'w' must be .* got -2 in row 2 \(line 4\)"):
        read(path, drop_missing=True, weights="w")


def test_short_floats_reach_the_forecasts(tmp_path: Path) -> None:
    p = np.random.default_rng(1).dirichlet(np.ones(3), 50).astype(np.float32)
    write_table(tmp_path / "p.parquet", {"p": p, "y": np.arange(50) % 3})
    f = read(tmp_path / "p.parquet")
    assert f.n_classes == 3
    assert f.read(0, 50).dtype == np.float32


def test_lists_of_probabilities_in_json(make_file: Make) -> None:
    lines = [{"probs": [0.25, 0.75], "label": 1, "text": "…"}, {"probs": [0.5, 0.5], "label": 0}]
    found = read_forecasts(make_file("p.jsonl", "\n".join(map(json.dumps, lines))))
    assert found.forecasts.n_classes == 2
    assert found.text == "using column probs, label label"


def test_scores_alone(make_file: Make) -> None:
    values, names = read_scores(make_file("p.csv", "p_1,p_0,id\n0.25,0.75,x\n"))
    assert values.tolist() == [[0.75, 0.25]]
    assert names == ("p_0", "p_1")
    found = read_scores(make_file("q.csv", "p,y\n0.25,\n"))
    assert found.values.tolist() == [0.25]
    assert found.text == "using column p"
    assert read_scores(make_file("r.csv", "z,y\n3,\n"), logits=True).values.tolist() == [3]
    for text, message in (
        (
            "p\n40\n",
            r"column 'p' must be between 0 and 1; got 40 in row 0 \(line 2",
        ),
        ("p,q\n,1\n", r"1 of 1 rows has missing values, the first in column 'p'"),
    ):
        with pytest.raises(tu.InputError, match=message):
            read_scores(make_file("s.csv", text))


def test_a_table_is_read_as_its_file_is(make_file: Make) -> None:
    path = make_file("p.csv", "p,y\n" + PAIRS)
    assert read(open_table(path)).scores.tolist() == read(path).scores.tolist()
    with open(path, "rb") as stream:
        assert read(stream).scores.tolist() == read(str(path)).scores.tolist()
