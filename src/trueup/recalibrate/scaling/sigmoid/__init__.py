"""The fit of a sigmoid of few covariates, which Platt scaling and beta calibration share."""
