"""The page of `tidebed validate`: the report's look, one file that needs nothing but itself."""

from experiments.validation.page.page import render

__all__ = ["render"]
