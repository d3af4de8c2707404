"""Recalibrators that are smooth functions of logits or log-odds."""
