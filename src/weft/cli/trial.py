"""What a rule would do to the rows that are recorded: counts, examples before and after, the ledger, the cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.cli.output import Printer, counts


def render_trial(output: Printer, found: Mapping[str, Any]) -> None:
    """A rule's trial, and what attaching it would do beside."""
    tried = found["trial"]
    for number, step in enumerate((found["rollback"] or {}).get("steps", ()), start=1):
        output.line(f"  {number}. {step}")
    if not tried["rows"]:
        output.line("There are no recorded rows to try it on.")
        return
    span, ledger = tried["knots"], tried["ledger"]
    output.line(
        f"On {tried['rows']} rows of knots {span['first']} to {span['last']} it would leave "
        f"{tried['unchanged']}, change {tried['changed']} and remove {tried['removed']}."
    )
    if tried["recorded"] > tried["rows"]:
        more = tried["recorded"] - tried["rows"]
        output.line(f"{more} older rows of the knots that were asked for were not tried.")
    output.fields(
        {
            "changed columns": counts(tried["changed_by_column"]),
            "ledger": f"{ledger['in']} in = {ledger['out']} out + filtered "
            f"({counts(ledger['filtered'])}) + {ledger['dead']} dead",
            "cost": f"{tried['cost_us_per_row']:g} µs a row",
        }
    )
    examples = tried["examples"]
    for row in examples["removed"]:
        output.line(f"- {_row(row)}", style="red")
    for row in examples["changed"]:
        output.line(f"- {row['id']}  {_row(row['before'])}", style="red")
        output.line(f"+ {row['id']}  {_row(row['after'])}", style="green")
    for row in examples["dead"]:
        output.line(f"x {row['step']}: {row['reason']}", style="red")


def _row(values: Mapping[str, Any]) -> str:
    return "  ".join(f"{name}={value}" for name, value in values.items())
