"""Columns: their types, the values that fit them, and the column `_weft` that every row has.

`type` → `schema` → `weft`; `value` and `arrow` hold what the Python code of a project returned against them.
"""
