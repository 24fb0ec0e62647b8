"""Autoscaling policies: one a file, pure, found by name.

>>> import autoscalers
>>> autoscalers.create("static", workers=4).period_s
60.0
"""

from autoscalers.registry import create, names, params_type, register

__all__ = ["create", "names", "params_type", "register"]
