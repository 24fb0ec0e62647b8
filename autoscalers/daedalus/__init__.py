"""Daedalus, a self-adaptive manager for the size of a streaming job. The parts of its MAPE-K loop, a module each:

monitor     what was measured, cleaned and averaged
capacity    analyse: events/s that each scale-out can take, from CPU and throughput
forecast    analyse: the workload of the next minutes
anomaly     analyse: whether the job has recovered from its last change
recovery    plan: how long a change would take to recover from
plan        plan: Algorithm 1
policy      the loop, its knowledge and its parameters
"""

from autoscalers.daedalus.policy import Daedalus, DaedalusParams

__all__ = ["Daedalus", "DaedalusParams"]
