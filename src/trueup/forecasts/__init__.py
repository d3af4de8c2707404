"""Input validation: `Forecasts.from_arrays` checks predictions and labels once."""

from trueup.forecasts.forecasts import Forecasts

__all__ = ["Forecasts"]
