"""What a project file may say: each thing is declared once, as a dataclass whose fields are its keys.

`limit` (what one value may be) → `key` (a key with its meaning, and the keys of a declaration) → `read` (everything
that is wrong with a mapping, or the declaration that it makes). Reading, `weft check`, the nearest word, the reference
and the schema for editors come from the same declarations. Knows neither YAML nor Spark.
"""
