"""The history of a stream as lines, newest knot first, the way `git log` shows commits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weft.cli.output import Printer, moment, short

HEADINGS = [
    "KNOT",
    "HASH",
    "TIED",
    "IN",
    "OUT",
    "ABSORBED",
    "FILTERED",
    "DEAD",
    "LATE",
    "MS",
    "STATUS",
    "RULES",
]
SELDOM = ("ABSORBED", "FILTERED", "DEAD", "LATE", "RULES")
"""Columns that are there only when they have something to say."""


def render_log(
    output: Printer, stream: str, knots: Sequence[Mapping[str, Any]], *, graph: bool
) -> None:
    """One line a knot; with `graph`, which knot follows which in front of it."""
    lanes = list(_lanes(knots)) if graph else []
    rows = [_line(stream, knot, brief=output.is_narrow) for knot in knots]
    headings = HEADINGS
    if graph:
        headings = ["", *HEADINGS]
        rows = [[lane, *row] for lane, row in zip(lanes, rows, strict=True)]
    empty = f"Stream '{stream}' has no knots yet."
    output.table(headings, rows, empty=empty, optional=SELDOM, gives=("HASH", "RULES"))


def rows_of(stream: str, knot: Mapping[str, Any]) -> int | None:
    """How many rows a knot wrote to a stream; None while it is being written."""
    written = knot["outputs"].get(stream)
    return written["rows"] if written else None


def rules_of(knot: Mapping[str, Any]) -> str:
    """The rules that were in force, each with its share of the keys unless that is all."""
    return ", ".join(
        rule["id"] if rule["percent"] == 100 else f"{rule['id']} ({rule['percent']:g} %)"
        for rule in knot["rules"]
    )


def _line(stream: str, knot: Mapping[str, Any], *, brief: bool) -> list[Any]:
    ledger = knot["ledger"]
    return [
        knot["number"],
        short(knot["hash"]),
        moment(knot["completed"] or knot["now"], brief=brief),
        ledger["in"],
        rows_of(stream, knot),
        ledger["absorbed"],
        sum(ledger["filtered"].values()),
        ledger["dead"],
        ledger["late"],
        knot["duration_ms"] or None,
        knot["status"],
        rules_of(knot),
    ]


def _lanes(knots: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A mark per knot: on the live line, or cut off beside it."""
    for knot in knots:
        if knot["status"] == "ROLLED_BACK":
            yield "│ ×"
        elif knot["status"] != "COMPLETE":
            yield "○"
        else:
            yield "●"
