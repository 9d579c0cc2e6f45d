"""What a SELECT is compiled to makes the documents that SQL itself says.

`SEEDS=5000 make unit T=tests/products/test_queries.py` tries more queries.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random

from tests.products import plain
from tests.products.queries import SHOP, Writing, like_sql, make_shop, rows_of
from weft.products.sql import from_sql
from weft.products.tree import ProductError

SEEDS = int(os.environ.get("SEEDS", "250"))
KEYS = {name: table.key for name, table in SHOP.items()}
COLUMNS = {name: tuple(table.columns) for name, table in SHOP.items()}


def test_documents_are_what_sql_says() -> None:
    codes: Counter[str] = Counter()
    for seed in range(SEEDS):
        rng = Random(seed)
        writing, tables = Writing(rng), make_shop(rng)
        text = writing.query()
        try:
            product = from_sql("shop", text, KEYS, COLUMNS)
        except ProductError as error:
            codes[error.code] += 1
            continue
        found = plain.documents(product, tables)
        told = rows_of(text, tables, writing.root)
        assert set(found) == set(told), (seed, text)
        for key, document in found.items():
            assert [like_sql(document, said) for said in told[key]] == [document], (seed, text)
    assert set(codes) <= {"product.sql-unsupported", "product.sql-multiplied"}
    assert codes.total() < 0.6 * SEEDS
