"""The door: `Forecasts.of` checks predictions and labels once, so that nothing inside has to."""

from trueup.forecasts.forecasts import Forecasts

__all__ = ["Forecasts"]
