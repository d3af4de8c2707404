"""Texts drawn at random for a reader."""

from __future__ import annotations

from collections import Counter

import pytest

from tools.sample import KINDS, ROOT, drawn, main


def test_as_many_of_each_kind_and_the_same_for_a_seed() -> None:
    some = drawn(ROOT, 50, 7)
    assert len({text.place + text.words for text in some}) == 50
    assert Counter(text.kind for text in some) == dict(zip(KINDS, (16, 17, 17), strict=True))
    assert drawn(ROOT, 50, 7) == some
    assert drawn(ROOT, 50, 8) != some


def test_a_text_stands_where_its_place_says() -> None:
    for text in drawn(ROOT, 60, 3):
        name, _, line = text.place.rpartition(":")
        content = (ROOT / name).read_text("utf-8").splitlines()
        first = text.words.split("{")[0].split("\\")[0].split()[:1]
        assert not first or any(first[0] in row for row in content[int(line) - 1 : int(line) + 3])


def test_the_command_prints_every_text_with_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--count", "9", "--seed", "5"]) == 0
    printed = capsys.readouterr().out
    for number, text in enumerate(drawn(ROOT, 9, 5), start=1):
        assert f"[{number}] {text.kind}, {text.place}\n{text.words.strip()}\n" in printed
