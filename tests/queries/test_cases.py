"""The queries of cases load, and the key that each is given tells its results apart, whatever its tables hold.

`SEEDS=2000 make unit T=tests/queries` tries more of them.
"""

from __future__ import annotations

import os
from collections import Counter

from tests.products.oracle import filled
from tests.queries.case import KINDS, make_case
from tests.queries.played import rows_of, tables_of
from weft.loading.load import load
from weft.schema.change import CHANGE

SEEDS = int(os.environ.get("SEEDS", "90"))


def test_results_differ_in_their_keys_at_every_moment() -> None:
    seen: Counter[str] = Counter()
    for seed in range(SEEDS):
        case = make_case(seed)
        project = load(case.project())
        for share in (1, 2):
            base = filled(tables_of(case, case.changes[: len(case.changes) // share]))
            for source in case.made:
                stream = project.stream(source.name)
                assert stream.key == source.key, seed
                assert [name for name in stream.schema.names if name != CHANGE] == [*source.columns]
                rows = rows_of(base, source)
                keys = {tuple(row[name] for name in source.key) for row in rows}
                assert len(keys) == len(rows), (seed, source.name)
                seen[source.name] += bool(rows)
        join = case.pipelines.get("joined")
        seen[join["join"]["type"] if join else "no join"] += 1
    assert all(seen[one] for one in (*KINDS, "joined", "grouped", "first")), seen
