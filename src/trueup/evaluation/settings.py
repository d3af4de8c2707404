"""Settings of `evaluate` for every metric and test."""

from __future__ import annotations

from typing import Any, NamedTuple

from trueup.checks import check_whole, is_whole
from trueup.inference.arguments import check_level, check_resamples
from trueup.seeds import Seed, seed_of


class Settings(NamedTuple):
    """Settings that apply to every metric."""

    n_bins: int
    confidence_level: float
    n_resamples: int
    seed: int

    @classmethod
    def checked(
        cls,
        n_bins: int = 15,
        confidence_level: float = 0.95,
        n_resamples: int = 999,
        rng: Seed = 0,
    ) -> Settings:
        """Return the checked settings; raise InputError for invalid ones."""
        level = check_level(confidence_level)
        many = check_resamples(n_resamples, level)
        check_whole("n_bins", n_bins, 1)
        seed = int(rng) if is_whole(rng, 0) else seed_of(rng)  # type: ignore[arg-type]
        return cls(n_bins, level, many, seed)

    @property
    def of_tests(self) -> dict[str, Any]:
        """Options of every resampling test."""
        return {"n_resamples": self.n_resamples, "rng": self.seed}

    @property
    def of_intervals(self) -> dict[str, Any]:
        """Options of every interval that may need resampling."""
        return {"confidence_level": self.confidence_level, **self.of_tests}
