"""Rules over a graph of pipelines in plain Python: what every stream must hold after a history of feeds, rules and
rollbacks. Knows nothing of Spark; knots are counted in fed micro-batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bench._share import is_taken

Row = dict[str, Any]
Change = Callable[[Row], Row | None]
"""What a rule does to a row; None drops it."""

WINDOW_S = 10


@dataclass(frozen=True)
class ModelRule:
    """A rule as the model weaves it."""

    id: str
    stream: str
    origin: str
    change: Change
    output: str | None = None
    percent: float = 100.0
    since: int = 0
    active: bool = True

    def takes(self, row: Row) -> bool:
        """Whether the rule is for this row."""
        return self.percent >= 100 or is_taken(self.id, self.percent, row["id"])


@dataclass(frozen=True)
class ModelPipeline:
    """A pipeline: what it reads, what it writes, what it does to a row, or the window that it counts."""

    source: str | None
    stream: str
    change: Change | None = None
    """None: a window over its input."""


Met = tuple[ModelRule, ...]
"""The rules that wove a micro-batch of a stream."""


class Model:
    """What was fed, and which rules each micro-batch met in each stream."""

    def __init__(self, pipelines: Iterable[ModelPipeline]) -> None:
        self.pipelines = list(pipelines)
        self.rules: dict[str, ModelRule] = {}
        self.fed: list[list[Row]] = []
        self._met: dict[str, list[Met]] = {p.stream: [] for p in self.pipelines}

    def feed(self, rows: list[Row]) -> None:
        """One micro-batch goes through everything, under the rules in force."""
        self.fed.append(rows)
        for stream, met in self._met.items():
            met.append(self._in_force(stream))

    def change(self, rule: str, **fields: Any) -> None:
        """Change a rule from the next micro-batch on."""
        self.rules[rule] = replace(self.rules[rule], **fields)

    def roll_back(
        self, kept: Mapping[str, int], retired: Iterable[str] = (), restored: Iterable[str] = ()
    ) -> None:
        """Streams go back to so many micro-batches, and take the others again without the retired rules."""
        for rule in retired:
            self.change(rule, active=False)
        for rule in restored:
            self.change(rule, active=True)
        for stream, batches in kept.items():
            again = self._in_force(stream)
            self._met[stream][batches:] = [again] * (len(self.fed) - batches)

    def bring_back(self, stream: str, met: list[Met]) -> None:
        """The first micro-batches of a stream are again as an earlier history had them."""
        self._met[stream][: len(met)] = met

    def was_met(self, stream: str, batch: int, *, rule: str) -> bool:
        """Whether a micro-batch of a stream was woven by a rule."""
        return any(one.id == rule for one in self._met[stream][batch])

    def spare(self, stream: str, batch: int, *, rule: str) -> None:
        """A micro-batch of a stream was woven without a rule after all."""
        self._met[stream][batch] = tuple(r for r in self._met[stream][batch] if r.id != rule)

    def contents(self) -> dict[str, list[Row]]:
        """The rows of every stream."""
        streams: dict[str, list[Row]] = {}
        woven: dict[str, list[list[Row]]] = {}
        for pipeline in self.pipelines:
            batches = self._inputs(pipeline, woven)
            woven[pipeline.stream] = []
            for rows, rules in zip(batches, self._met[pipeline.stream], strict=True):
                out = _weave(pipeline.stream, rows, rules, streams)
                woven[pipeline.stream].append(out)
                streams.setdefault(pipeline.stream, []).extend(out)
        return streams

    def _in_force(self, stream: str) -> Met:
        return tuple(r for r in self.rules.values() if r.active and r.origin == stream)

    def _inputs(
        self, pipeline: ModelPipeline, woven: Mapping[str, list[list[Row]]]
    ) -> list[list[Row]]:
        if pipeline.source is None:
            return self.fed
        before = woven[pipeline.source]
        if pipeline.change is None:
            return _panes(before, self.fed)
        change = pipeline.change
        return [[new for row in rows if (new := change(row)) is not None] for rows in before]


def _weave(stream: str, rows: list[Row], rules: Met, streams: dict[str, list[Row]]) -> list[Row]:
    for rule in rules:
        if rule.stream != stream:
            continue
        if rule.output is None:
            changed = [(rule.change(row) if rule.takes(row) else row) for row in rows]
            rows = [row for row in changed if row is not None]
        else:
            copies = [rule.change(row) for row in rows if rule.takes(row)]
            beside = _weave(rule.output, [r for r in copies if r is not None], rules, streams)
            streams.setdefault(rule.output, []).extend(beside)
    return rows


def _panes(batches: list[list[Row]], fed: list[list[Row]]) -> list[list[Row]]:
    """Tumbling counts by country, each in the micro-batch whose watermark reaches the window's end."""
    open_panes: dict[tuple[int, str], list[Row]] = {}
    watermark = -1
    fired: list[list[Row]] = []
    for rows, came in zip(batches, fed, strict=True):
        for row in rows:
            start = row["second"] // WINDOW_S * WINDOW_S
            open_panes.setdefault((start, row["country"]), []).append(row)
        watermark = max([watermark, *(row["second"] for row in came)])
        due = sorted(key for key in open_panes if key[0] + WINDOW_S <= watermark)
        fired.append(
            [
                {"start": start, "country": country, "orders": len(taken)}
                for (start, country) in due
                if (taken := open_panes.pop((start, country)))
            ]
        )
    return fired
