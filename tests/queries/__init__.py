"""Updating queries against SQL: random tables that change, random queries over them, and what DuckDB says of both.

`case` (queries from one seed, each as a pipeline and as SQL) → `played` (on the real engine, batch by batch, against
SQL over the tables as they are then). Tables and their changes are those of `tests.products`.
"""
