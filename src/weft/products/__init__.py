"""Rows of several tables become nested documents, and stay current.

`tree` (what a product is) → `limit`, `form` (what a project file may say of it) → `read` (that form to the tree). The
other way to a tree is SQL: `query` (text to one SELECT) → `scope`, `joining` with `strict` (its tables as nodes) →
`gathered`, `subquery` (what is over many rows) → `sql`. Knows no Spark.
"""
