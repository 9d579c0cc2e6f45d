"""The stream table: rows in Parquet files, knots in a Delta log, from their folder to the proof that they are whole.

`storage` says where things lie, `table` is one table, `tables` those of a pipeline, `note` what a commit tells of its
knot; `read` follows a table as it grows, `rows` reads what is recorded. `log`, `check`, `rehash`, `presence` and
`verify` read the same files without Spark and say what is not as it was recorded; `told` makes a lost store of them.
"""
