"""Rows of several tables become nested documents, and stay current.

`tree` (what a product is) → `limit`, `form` (what a project file may say of it) → `read` (that form to the tree).
Knows no Spark.
"""
