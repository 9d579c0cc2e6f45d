"""Joins without a window, groups and first rows of changing streams, which stay current as products do.

`form` (what a project file may say of them) → `query` (a query over the columns of its streams: its columns, its key,
and what the kernel keeps), made by `joined`, `grouped` and `ranked` → `find` (that of a pipeline), `change` (whether
what is kept still fits), `traced` (which rows a result is made of).
"""
