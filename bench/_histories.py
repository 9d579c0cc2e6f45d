"""Random histories of rules, crashes and rollbacks, run for real and by the model; every stream must be the same.

A history is made by its seed alone, so that one that went wrong can be run again:
`python -m bench.faults --only histories` says the seeds.
"""

from __future__ import annotations

import random
import tempfile
from datetime import UTC, datetime, timedelta
from typing import Any

from bench._model import Change, Model, ModelPipeline, ModelRule, Row
from bench._report import Figures, say
from weft.runtime.faults import POINTS
from weft.testing import Play, play, shared_session
from weft.weaver.recorded import verify_storage

BASE = datetime(2026, 1, 1, tzinfo=UTC)
PROJECT = {
    "app_name": "histories",
    "processing": {"parallelism": 2},
    "watermarks": {"delay_seconds": 0, "idle_seconds": 86400},
    "streams": {
        "orders": {
            "source": {"mock": {}},
            "schema": {"id": "long", "email": "string", "country": "string", "at": "timestamp"},
            "key": "id",
            "event_time": "at",
        }
    },
    "pipelines": {
        "clean": {"from": "orders", "steps": [{"filter": "id % 7 != 0"}], "to": "clean-orders"},
        "german": {
            "from": "clean-orders",
            "steps": [{"filter": "country = 'de'"}],
            "to": "german",
        },
        "odd": {"from": "german", "steps": [{"set": {"email": "lower(email)"}}], "to": "mails"},
        "counts": {
            "from": "clean-orders",
            "window": {"type": "tumbling", "size_ms": 10_000},
            "by": ["country"],
            "aggregate": {"orders": "count(*)"},
            "to": "counts",
        },
    },
}
PIPELINES = (
    ModelPipeline(None, "orders"),
    ModelPipeline("orders", "clean-orders", lambda row: row if row["id"] % 7 else None),
    ModelPipeline("clean-orders", "german", lambda r: r if r["country"] == "de" else None),
    ModelPipeline("german", "mails", lambda r: {**r, "email": r["email"].lower()}),
    ModelPipeline("clean-orders", "counts", None),
)
READS = {p.stream: p.source for p in PIPELINES}
ACTS = ("feed", "attach", "crash", "rollback", "retire", "promote")
WEIGHTS = (40, 22, 12, 14, 6, 6)


class History:
    """One random history, in a run and in the model side by side."""

    def __init__(self, run: Play, seed: int) -> None:
        self._run = run
        self._chance = random.Random(seed)
        self._model = Model(PIPELINES)
        self._next = 0
        self.told: list[str] = []

    def play(self, acts: int) -> list[str]:
        """Run it; returns what differs at the end."""
        self._feed()
        for _ in range(acts):
            act = self._chance.choices(ACTS, WEIGHTS)[0]
            getattr(self, f"_{act}")()
        self._feed()
        return self._differences()

    def _feed(self) -> None:
        rows = [self._row(self._next + n) for n in range(self._chance.randint(1, 12))]
        self._next += len(rows)
        self.told.append(f"feed {len(rows)}")
        self._run.feed("orders", [_record(row) for row in rows])
        self._model.feed(rows)

    def _row(self, number: int) -> Row:
        country = self._chance.choice(("de", "de", "fr"))
        return {"id": number, "email": f"User{number}", "country": country, "second": number}

    def _crash(self) -> None:
        point, visit = self._chance.choice(POINTS), self._chance.randint(1, 4)
        self.told.append(f"crash at {point}:{visit}")
        self._run.crash(point, visit=visit)
        self._feed()
        self._run.resume()

    def _attach(self) -> None:
        sides = [r.output for r in self._model.rules.values() if r.output and r.active]
        stream = self._chance.choice([*READS, *sides])
        name = f"rule-{len(self._model.rules)}"
        panes = stream == "counts"
        steps, change = self._steps(name, panes=panes)
        output = f"side-{name}" if self._chance.random() < 0.3 and not panes else None
        percent = 40.0 if self._chance.random() < 0.3 and not panes else 100.0
        self.told.append(f"attach {name} to {stream}: {steps} {output or ''} {percent:g} %")
        made = self._run.attach(stream=stream, steps=steps, id=name, output=output, percent=percent)
        origin = next((r.origin for r in self._model.rules.values() if r.output == stream), stream)
        self._model.rules[name] = ModelRule(
            name, stream, origin, change, output, percent, made.since
        )

    def _steps(self, name: str, *, panes: bool) -> tuple[list[Any], Change]:
        if panes:
            least = self._chance.randint(1, 4)
            return [{"filter": f"orders >= {least}"}], lambda r: r if r["orders"] >= least else None
        if self._chance.random() < 0.5:
            by, rest = self._chance.randint(2, 5), self._chance.randint(0, 1)
            return [
                {"filter": f"id % {by} != {rest}"}
            ], lambda r: r if r["id"] % by != rest else None
        return (
            [{"set": {"email": f"concat(email, '+{name}')"}}],
            lambda r: {**r, "email": f"{r['email']}+{name}"},
        )

    def _retire(self) -> None:
        rule = self._any_rule()
        if rule is not None:
            self.told.append(f"retire {rule.id}")
            self._run.retire(rule.id)
            self._model.change(rule.id, active=False)

    def _promote(self) -> None:
        rule = self._any_rule()
        if rule is not None and rule.percent < 100:
            self.told.append(f"promote {rule.id}")
            self._run.promote(rule.id, percent=100)
            self._model.change(rule.id, percent=100.0)

    def _any_rule(self) -> ModelRule | None:
        active = [rule for rule in self._model.rules.values() if rule.active]
        return self._chance.choice(active) if active else None

    def _rollback(self) -> None:
        stream = self._chance.choice(list(READS))
        bounds = self._bounds()
        choices = [0, *list(bounds[stream])[:-1]]
        to = self._chance.choice(choices)
        if not bounds[stream]:
            return
        keep = _kept(bounds, self._consumed(), stream, to)
        rules = self._model.rules.values()
        retired = {
            r.id for r in rules if r.active and r.origin in keep and r.since > keep[r.origin]
        }
        self.told.append(f"roll {stream} back to {to}, without {sorted(retired)}")
        done = self._run.rollback(stream, to=to)
        if set(done["plan"]["retired"]) != retired:
            raise RuntimeError(f"retired {done['plan']['retired']}, not {sorted(retired)}")
        batches = {name: bounds[name].get(knot, 0) for name, knot in keep.items()}
        self._model.roll_back(batches, retired)

    def _bounds(self) -> dict[str, dict[int, int]]:
        """How many micro-batches each live knot of each stream has seen the end of."""
        bounds: dict[str, dict[int, int]] = {}
        for stream, source in READS.items():
            bounds[stream] = {}
            for knot in self._run.knots(stream):
                if source is None:
                    position = knot.offsets["to"][0]
                    seen = position["segment"] if position else 0
                else:
                    upto = knot.offsets["inputs"][source]
                    seen = max((b for n, b in bounds[source].items() if n <= upto), default=0)
                bounds[stream][knot.number] = seen
        return bounds

    def _consumed(self) -> dict[str, dict[int, int]]:
        """The knot of its input up to which each live knot has read."""
        return {
            stream: {k.number: k.offsets["inputs"][source] for k in self._run.knots(stream)}
            for stream, source in READS.items()
            if source is not None
        }

    def _differences(self) -> list[str]:
        expected = self._model.contents()
        wrong = []
        for stream in {*expected, *READS, *(r.output for r in self._model.rules.values())}:
            if stream is None:
                continue
            wanted = sorted(map(_shown, expected.get(stream, [])))
            found = sorted(map(_seen, self._run.rows(stream)))
            if wanted != found:
                more = [row for row in found if row not in wanted]
                less = [row for row in wanted if row not in found]
                wrong.append(f"{stream}: {len(found)} rows, not {len(wanted)}; +{more} -{less}")
        checked = verify_storage(self._run.storage)
        return wrong + [f"{f.where}: {f.what}" for f in checked.findings]


def _kept(
    bounds: dict[str, dict[int, int]], consumed: dict[str, dict[int, int]], stream: str, to: int
) -> dict[str, int]:
    """The knot that a stream and each one below it goes back to."""
    keep = {stream: to}
    for below, source in READS.items():
        if source in keep and below != stream:
            fit = [n for n in bounds[below] if consumed[below][n] <= keep[source]]
            keep[below] = max(fit, default=0)
    return keep


def _record(row: Row) -> dict[str, Any]:
    at = BASE + timedelta(seconds=row["second"])
    return {**{k: row[k] for k in ("id", "email", "country")}, "at": at.isoformat()}


def _shown(row: Row) -> str:
    if "orders" in row:
        return f"{row['start']:06d} {row['country']} {row['orders']}"
    return f"{row['id']:06d} {row['email']} {row['country']}"


def _seen(row: dict[str, Any]) -> str:
    if "window" in row:
        start = int((row["window"]["start"] - BASE).total_seconds())
        return f"{start:06d} {row['country']} {row['orders']}"
    return f"{row['id']:06d} {row['email']} {row['country']}"


def histories(quick: bool) -> Figures:
    """How many of the random histories end with a stream that is not what it should be."""
    count, acts = (2, 8) if quick else (100, 10)
    wrong = 0
    for seed in range(count):
        with (
            tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch,
            play(PROJECT, storage=scratch, spark=shared_session()) as run,
        ):
            history = History(run, seed)
            differences = history.play(acts)
        wrong += bool(differences)
        say(f"histories  {seed}: {'wrong' if differences else 'right'}, {len(history.told)} acts")
        if differences:
            say("\n".join([*history.told, *differences]))
    return {"histories": count, "histories_wrong": wrong}
