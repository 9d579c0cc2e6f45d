"""Columns: their types, the values that fit them, the column `_weft` that every row has, and
`_change`, which every row of a changing stream has.

`type` → `schema` → `weft`, `change`; `value` and `arrow` hold what the Python code of a project returned against them.
"""
