"""E2DF: operators and nodes scaled by two hierarchies of managers, learned or by rule."""

from autoscalers.e2df.policy import E2DF, E2DFParams

__all__ = ["E2DF", "E2DFParams"]
