"""Rows of several tables become nested documents, and stay current.

`tree` (what a product is) → `limit`, `form` (what a project file may say of it), `read` (that form to the tree),
`write` (back again); or `sql` with `query`, `scope`, `joining`, `gathered`, `subquery`, `strict` (a SELECT to the
tree) → `assembly` (the tree over the columns of its tables: its documents, and what the kernel keeps), `change`
(whether what is kept still fits) → `attach`, the one module that touches Spark. Beside them `postgres` and `compare`:
what the database itself says a document is; and `cause`: the changes that made one what it is.
"""
