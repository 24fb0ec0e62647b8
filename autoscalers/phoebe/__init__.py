"""Phoebe, which profiles a job before it runs and then keeps its latency low and its recovery in time. Its parts:

capacity    events/s that each scale-out can take, from the overloads of the profiling
recovery    how long a failure now would take to recover from
latency     how late results are at each scale-out
choice      which scale-out is best
policy      the loop and its parameters
"""

from autoscalers.phoebe.policy import Phoebe, PhoebeParams

__all__ = ["Phoebe", "PhoebeParams"]
