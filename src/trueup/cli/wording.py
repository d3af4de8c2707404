"""Messages of the library in the words of the command line."""

from __future__ import annotations

import re

__all__ = ["typed"]

# Arguments of functions: the options that set them.
OPTIONS = {
    "alpha": "--alpha",
    "classes": "--classes",
    "clusters": "--clusters",
    "confidence_level": "--confidence",
    "features": "--features",
    "format": "--format",
    "groups": "--groups",
    "labels": "--labels",
    "max_error": "--max-error",
    "n": "--n",
    "n_bins": "--bins",
    "n_resamples": "--resamples",
    "n_sets": "--sets",
    "norm": "--norm",
    "outputs": "--outputs",
    "power": "--power",
    "prediction": "--prediction",
    "probs": "--probs",
    "rng": "--seed",
    "true_error": "--error",
    "weights": "--weights",
}
BOTH = re.compile(r"\b\w+=(?:'[^']*'|…|\w+) \((--[^)]*)\)")
SETTING = re.compile(r"\b(\w+)=('[^']*')")
# What arrays can be told and files cannot, or are told otherwise.
OTHERWISE = (
    (re.compile(r",? ?(?:or )?pass soft_labels=True[^.;]*"), ""),
    (re.compile(r"pass classes=\[negative, positive\]"), "say --classes negative,positive"),
    (re.compile(r"`correct` must hold"), "--labels must hold"),
    (re.compile(r" Hint: *\.?$"), ""),
)
SAID_AGAIN = re.compile(r" \((--[\w-]+)\)")
NAME = re.compile(r"`(\w+)`")
OPTION = re.compile(r"`(--[\w-]+)`")


def typed(message: str) -> str:
    """Return a message with options in place of arguments, where it names any.

    >>> typed("`n_bins` must be 1; got 0.")
    '--bins must be 1; got 0.'
    >>> typed("Hint: say logits=True (--logits) if these are logits.")
    'Hint: say --logits if these are logits.'
    >>> typed("Hint: say which with classes='no,yes', the positive one last (--classes).")
    "Hint: say which with --classes 'no,yes', the positive one last."
    """
    for pattern, words in OTHERWISE:
        message = pattern.sub(words, message)
    message = BOTH.sub(r"\1", message)
    message = OPTION.sub(r"\1", SETTING.sub(_option_and_value, message))
    message = SAID_AGAIN.sub(lambda at: "" if message.count(at[1]) > 1 else at[0], message)
    return NAME.sub(lambda found: OPTIONS.get(found[1], found[0]), message)


def _option_and_value(found: re.Match[str]) -> str:
    return f"{OPTIONS[found[1]]} {found[2]}" if found[1] in OPTIONS else found[0]
