"""`trueup fit` and `trueup apply`."""

from __future__ import annotations

import json

import numpy as np
import pytest

from support.command_line import json_of, overconfident, three_classes
from trueup import load_recalibrator
from trueup.cli.recalibrator_options import METHODS
from trueup.io import open_table, write_table


def test_fit_says_what_was_learned_and_gained(run, files) -> None:
    result = run("fit", "wrong.csv", "--method", "temperature", "-o", "c.json")
    assert "using column p, label y." in result.stderr
    assert "temperature_" in result.stdout
    assert "lowers the log loss" in " ".join(result.stdout.split())
    assert "trueup apply c.json" in result.stdout
    assert load_recalibrator("c.json").temperature_ == pytest.approx(2, abs=0.35)


def test_fit_for_machines(run, files) -> None:
    found = json_of(run("fit", "wrong.csv", "-o", "c.json", "--json"))
    assert found["gain"]["log_loss"][1] < found["gain"]["log_loss"][0]
    assert found["gain"]["lowered"] > 2 * found["gain"]["lowered_se"]
    assert "candidates by out-of-fold log loss" in found["explanation"]
    assert found["path"] == "c.json"


def test_nothing_to_mend(run, files) -> None:
    result = run("fit", "right.csv", "-o", "c.json")
    assert "recalibration brings no clear gain" in result.stdout
    run("apply", "c.json", "right.csv", "-o", "same.csv")
    assert (files / "same.csv").read_bytes() == (files / "right.csv").read_bytes()


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"auto", "local"}))
def test_every_method_can_be_fitted_and_applied(run, files, method) -> None:
    write_table("few.csv", overconfident(200))
    run("fit", "few.csv", "--method", method, "-o", "c.json")
    run("apply", "c.json", "few.csv", "-o", "out.csv")
    p = open_table("out.csv").column("p")
    assert np.all((p >= 0) & (p <= 1))


def test_local_recalibration_needs_features(run, files) -> None:
    columns = overconfident(300)
    columns["x_1"] = np.random.default_rng(1).normal(size=300)
    write_table("more.csv", columns)
    assert (
        "--features" in run("fit", "more.csv", "--method", "local", "-o", "c.json", code=2).stderr
    )
    run("fit", "more.csv", "--method", "local", "--features", "x_*", "-o", "c.json")
    assert "--features" in run("apply", "c.json", "more.csv", "-o", "o.csv", code=2).stderr
    run("apply", "c.json", "more.csv", "--features", "x_*", "-o", "o.csv")
    assert open_table("o.csv").column("x_1").tolist() == columns["x_1"].tolist()


def test_groups_get_copies_of_their_own(run, files) -> None:
    columns = overconfident(800)
    columns["site"] = np.where(np.arange(800) % 2, "a", "b").astype(object)
    write_table("sites.csv", columns)
    fit = ("fit", "sites.csv", "--method", "platt", "--groups", "site", "-o", "c.json")
    assert "GroupwiseCalibration" in run(*fit).stdout
    assert load_recalibrator("c.json").groups_ == ["a", "b"]
    assert "--groups" in run("apply", "c.json", "sites.csv", code=2).stderr
    run("apply", "c.json", "sites.csv", "--groups", "site", "-o", "out.csv")


def test_parameters(run, files) -> None:
    fit = ("fit", "wrong.csv", "--method", "histogram", "-o", "c.json", "--param")
    run(*fit, "n_bins=7", "--param", "binning=equal-width")
    assert load_recalibrator("c.json").n_bins == 7
    assert "a parameter of histogram: binning, lens, n_bins" in run(*fit, "bins=7", code=2).stderr
    assert "n_bins=20" in run(*fit, "n_bins", code=2).stderr
    assert "--param n_bins must be" in run(*fit, "n_bins=many", code=2).stderr


def test_classes_are_matched_by_name(run, files) -> None:
    """Columns that are not in the order of the alphabet, here and when applied."""
    run("fit", "three.csv", "--method", "temperature", "-o", "c.json")
    calibrator = load_recalibrator("c.json")
    assert calibrator.classes_.tolist() == ["dog", "cat", "eel"]
    assert calibrator.temperature_ == pytest.approx(1, abs=0.25)
    columns = three_classes()
    run("apply", "c.json", "three.csv", "-o", "a.csv")
    write_table(
        "turned.csv", {name: columns[name] for name in ("p_eel", "p_dog", "p_cat", "label")}
    )
    run("apply", "c.json", "turned.csv", "-o", "b.csv")
    a, b = open_table("a.csv"), open_table("b.csv")
    assert b.names == ("p_eel", "p_dog", "p_cat", "label")
    for name in columns:
        assert a.column(name).tolist() == b.column(name).tolist()
    total = sum(a.column(name) for name in columns if name != "label")
    np.testing.assert_allclose(total, 1, atol=1e-12)


def test_other_columns_stay_as_they_are_written(run, files) -> None:
    text = 'id,note,p,y\n007,"a, b",0.10,1\n008,,0.90,0\n009,1e5,0.5,1\n'
    (files / "ids.csv").write_text(text)
    run("fit", "wrong.csv", "--method", "temperature", "-o", "c.json")
    for output in ("out.csv", "-"):
        result = run("apply", "c.json", "ids.csv", "-o", output)
        lines = (result.stdout if output == "-" else (files / output).read_text()).splitlines()
        assert lines[0] == "id,note,p,y"
        assert lines[1].startswith('007,"a, b",0.')
        assert lines[3].startswith("009,1e5,0.5,1")
        assert lines[2].split(",")[1] == ""


@pytest.mark.parametrize("suffix", ["parquet", "npz", "jsonl", "feather"])
def test_formats(run, files, suffix) -> None:
    columns = {**overconfident(100), "word": np.array(["a", "b"] * 50)}
    write_table(f"in.{suffix}", columns)
    run("fit", f"in.{suffix}", "--method", "platt", "-o", "c.json")
    run("apply", "c.json", f"in.{suffix}", "-o", f"out.{suffix}")
    out = open_table(f"out.{suffix}")
    assert out.names == ("p", "y", "word")
    assert out.column("word").tolist() == columns["word"].tolist()
    expected = load_recalibrator("c.json").predict_proba(columns["p"])[:, 1]
    np.testing.assert_allclose(out.column("p"), expected, rtol=1e-12)


def test_labels_are_not_needed(run, files) -> None:
    run("fit", "wrong.csv", "--method", "platt", "-o", "c.json")
    write_table("new.csv", {"p": overconfident()["p"]})
    assert "wrote 600 rows" in run("apply", "c.json", "new.csv", "-o", "fixed.csv").stderr


def test_logits(run, files) -> None:
    rng = np.random.default_rng(0)
    logits = 3 * rng.normal(size=(500, 3))
    probs = np.exp(logits / 3) / np.exp(logits / 3).sum(axis=1, keepdims=True)
    y = (rng.random((500, 1)) > probs.cumsum(axis=1)).sum(axis=1)
    write_table("z.csv", {"logit": logits, "y": y})
    run("fit", "z.csv", "--logits", "--method", "temperature", "-o", "c.json")
    assert load_recalibrator("c.json").temperature_ == pytest.approx(3, rel=0.25)
    told = run("apply", "c.json", "z.csv", "-o", "p.csv").stderr
    assert "column logit_0 (logits) was replaced by prob_0 (probabilities)." in told
    fixed = open_table("p.csv").matrix(["prob_0", "prob_1", "prob_2"])
    np.testing.assert_allclose(fixed.sum(axis=1), 1)
    run("apply", "c.json", "z.csv", "--logits", "-o", "same.csv")  # as the file records
    assert (files / "same.csv").read_text() == (files / "p.csv").read_text()


def test_a_matrix_of_logits_of_any_name_is_found(run, files) -> None:
    rng = np.random.default_rng(0)
    arrays = {"outputs": rng.normal(size=(90, 3)), "targets": np.arange(90) % 3}
    write_table("z.npz", arrays)
    said = run("fit", "z.npz", "--logits", "--method", "temperature", "-o", "z.json").stderr
    assert "using column outputs as logits, label targets." in said
    assert "using column outputs." in run("apply", "z.json", "z.npz", "-o", "fixed.csv").stderr
    write_table("two.npz", {**arrays, "hidden": rng.normal(size=(90, 8))})
    told = run("apply", "z.json", "two.npz", code=2).stderr
    assert "predictions may be in any of: outputs; hidden. Hint: the recalibrator was" in told
    assert "name their columns, for example --probs outputs; for probabilities" in told


def test_logits_and_probabilities_are_not_mixed_up(run, files) -> None:
    rng = np.random.default_rng(0)
    write_table("z.npz", {"logits": rng.normal(size=(90, 3)), "y": np.arange(90) % 3})
    run("fit", "z.npz", "--logits", "--method", "temperature", "-o", "z.json")
    told = run("apply", "z.json", "wrong.csv", code=2).stderr
    assert "was fitted on logits: name their columns, for example --probs p; for prob" in told
    run("fit", "wrong.csv", "--method", "platt", "-o", "p.json")
    told = run("apply", "p.json", "z.npz", "--probs", "logits", "--logits", code=2).stderr
    assert "this recalibrator was fitted on probabilities. Hint: fit one with trueup fit" in told
    told = run("apply", "p.json", "z.npz", "--probs", "logits", code=2).stderr
    assert "Hint: the recalibrator takes probabilities: name their column with --probs;" in told
    assert "--logits" not in run("apply", "--help").output


def test_an_error_of_0_is_below_the_end_of_its_interval(run, files) -> None:
    rng = np.random.default_rng(3)
    probs = rng.random(2000)
    write_table("wide.csv", {"p": probs**2, "y": (rng.random(2000) < probs).astype(int)})
    told = " ".join(run("fit", "wide.csv", "-o", "c.json").stdout.split())
    assert " to 0.0000" not in told.partition("Out-of-fold predictions")[0]
    found = json_of(run("fit", "wide.csv", "-o", "c.json", "--json"))
    after = found["gain"]["error"][1]
    assert after["estimate"] == 0  # else this test tests nothing
    below = f"below {after['high']:.4f} (95% confidence)"
    assert (
        f"calibration error goes from {found['gain']['error'][0]['estimate']:.4f} to {below}."
        in told
    )
    assert f" to {below}. These numbers are slightly optimistic" in told
    table = told.partition("Out-of-fold predictions")[2]
    assert f" < {after['high']:.4f} [0.0000, {after['high']:.4f}]" in table


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["apply", "wrong.csv", "wrong.csv"], "a recalibrator saved by trueup"),
        (
            ["apply", "c.json", "three.csv"],
            "missing column p, on which the recalibrator was fitted",
        ),
        (
            ["apply", "c.json", "three.csv", "--probs", "p_*"],
            "--probs must name 1 column, as the calibrator was fitted on; got 3",
        ),
        (["apply", "c.json", "gap.csv"], "1 of 2 rows has missing values"),
        (["fit", "wrong.csv", "-o", "wrong.csv"], "is read, so it cannot be written to as well"),
        (["apply", "c.json", "wrong.csv", "-o", "./c.json"], "is read, so it cannot be written"),
        (["evaluate", "wrong.csv", "-o", "wrong.csv"], "is read, so it cannot be written to"),
        (["fit", "wrong.csv", "-o", "c.json", "--logits"], "for example --probs p."),
        (["apply", "c.json", "twice.csv"], "2 columns called 'a'"),
        (["fit", "three.csv", "-o", "none/c.json"], "There is no directory"),
    ],
)
def test_refusals(run, files, args, text) -> None:
    run("fit", "wrong.csv", "--method", "platt", "-o", "c.json")
    (files / "twice.csv").write_text("a,p,a\n1,0.5,2\n")
    (files / "gap.csv").write_text("p,y\n0.5,1\n,0\n")
    before = (files / "wrong.csv").read_text()
    told = run(*args, code=2).stderr
    assert text in told
    assert "--drop-missing" not in told  # `apply` has no such option
    assert (files / "wrong.csv").read_text() == before


def test_a_calibrator_knows_its_columns(run, files) -> None:
    """Whatever they are called, and none of other names takes their place unasked."""
    data = overconfident()
    write_table("odd.csv", {"win_chance": data["p"], "won": data["y"]})
    run("fit", "odd.csv", "--method", "platt", "-o", "c.json")
    write_table("new.csv", {"id": np.arange(600), "win_chance": data["p"]})
    assert "using column win_chance" in run("apply", "c.json", "new.csv", "-o", "f.csv").stderr
    write_table("other.csv", {"p": data["p"]})
    assert "missing column win_chance" in run("apply", "c.json", "other.csv", code=2).stderr
    run("apply", "c.json", "other.csv", "--probs", "p", "-o", "g.csv")
    np.testing.assert_array_equal(
        open_table("f.csv").column("win_chance"), open_table("g.csv").column("p")
    )


def test_both_numbers_of_a_choice_are_the_same(run, files) -> None:
    """What `auto` was chosen by, and what is shown of it, come from the same folds."""
    found = json.loads(run("fit", "wrong.csv", "-o", "c.json", "--json").stdout)
    lowered, error = found["gain"]["lowered"], found["gain"]["error"][1]["estimate"]
    assert f"lowers the log loss by {lowered:.4f} ± " in found["explanation"]
    assert f" to {error:.4f} (95% interval" in found["explanation"]


def test_one_outcome_alone_is_noted(run, files) -> None:
    write_table("same.csv", {"p": [0.6, 0.7, 0.8, 0.9], "y": [1, 1, 1, 1]})
    told = run("fit", "same.csv", "--method", "platt", "-o", "c.json").stdout
    assert "the labels contain only class" in told


def test_a_calibrator_is_whole_or_not_there(run, files) -> None:
    (files / "c.json").write_text("what was there before")
    run("fit", "wrong.csv", "--probs", "q", "-o", "c.json", code=2)
    assert (files / "c.json").read_text() == "what was there before"
    run("fit", "wrong.csv", "--method", "platt", "-o", "c.json")
    assert json.loads((files / "c.json").read_text())["format"] == "trueup recalibrator"


def test_groups_that_fit_has_not_seen_are_named_once(run, files) -> None:
    columns = overconfident(300)
    columns["site"] = np.where(np.arange(300) % 2, "a", "b")
    write_table("sites.csv", columns)
    run("fit", "sites.csv", "--method", "platt", "--groups", "site", "-o", "c.json")
    columns["site"] = np.where(np.arange(300) < 3, "NewHosp", columns["site"])
    write_table("new.csv", columns)
    result = run("apply", "c.json", "new.csv", "--groups", "site", "-o", "out.csv")
    said = "3 rows of a group not seen in fit (NewHosp): the recalibrator for all rows was used."
    assert result.stderr.splitlines().count(f"trueup: {said}") == 1
    assert "Warning" not in result.stderr
