"""Spark aggregation, statistics, ranking and the report: everything after the archive."""
