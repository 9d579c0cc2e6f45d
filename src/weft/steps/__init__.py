"""What a pipeline or a rule does to a record: steps as values, Python functions by content, checked against columns.

`step` → `compile`; `module` → `normal` → `function`.
"""
