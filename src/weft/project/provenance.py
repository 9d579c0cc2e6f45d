"""How much of each record's way is written down beside a stream: declared per stream, read by the weave.

`lazy` writes nothing, `full` a row for every record, `{sampled: 0.01}` one for a share of them, stable by key, and for
every record that is flagged: by a step that it failed at, by a rule that copied it, or with its whole knot, because
the knots before it were unusual.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from weft.declared.key import Key
from weft.declared.limit import Fault, Limit, number

Mode = Literal["lazy", "sampled", "full"]

PROVENANCE = ".provenance"
"""What the name of a stream ends in that holds the provenance of another one's records."""
LEAST_SHARE = 0.0001
"""Keys are divided into ten thousand shares; less than one of them is none."""
_SHARE = number(LEAST_SHARE, 1)


@dataclass(frozen=True)
class ProvenanceSpec:
    """For which records of a stream provenance is written; `share` is that of a sample."""

    mode: Mode = "lazy"
    share: float | None = None

    def of_knot(self, *, flagged: bool) -> ProvenanceSpec:
        """What is written of a knot: where samples are, all of one that is flagged."""
        return FULL if flagged and self.mode == "sampled" else self

    def written(self) -> str | dict[str, float]:
        """It as the project file says it."""
        return self.mode if self.share is None else {"sampled": self.share}


LAZY = ProvenanceSpec()
FULL = ProvenanceSpec("full")


class Modes(Limit):
    """A mode, or that of a sample with its share."""

    def faults(self, value: Any) -> Iterator[Fault]:
        """Everything that is wrong with a mode."""
        if value in ("lazy", "full"):
            return
        if not isinstance(value, Mapping):
            hint = "Write it as in `provenance: {sampled: 0.01}`." if value == "sampled" else ""
            yield Fault("unknown-value", self.expected, words=self.words, hint=hint)
            return
        for name in value:
            if name != "sampled":
                yield Fault("unknown-key", "", (str(name),), ("sampled",))
        if "sampled" not in value:
            hint = "Write it as in `provenance: {sampled: 0.01}`."
            yield Fault("missing-key", _SHARE.expected, ("sampled",), hint=hint)
        elif (mistake := _SHARE.judge(value["sampled"])) is not None:
            yield Fault(mistake, _SHARE.expected, ("sampled",))

    def take(self, value: Any) -> ProvenanceSpec:
        """What a mode says."""
        if isinstance(value, Mapping):
            return ProvenanceSpec("sampled", float(value["sampled"]))
        return ProvenanceSpec(value)


MODES = Modes(
    "lazy, full or {sampled: 0.01}",
    lambda value: None,
    {
        "anyOf": [
            {"enum": ["lazy", "full"]},
            {
                "type": "object",
                "properties": {"sampled": _SHARE.schema},
                "required": ["sampled"],
                "additionalProperties": False,
            },
        ]
    },
    ("lazy", "full"),
)

KEY = Key(
    MODES,
    "For which records it is written down what was done to them, in `<stream>.provenance`: none, all, or a share of "
    "them that is stable by key, with those that are flagged: [provenance](../explanation/provenance.md).",
    {"sampled": 0.01},
    unsaid="`lazy`",
)
