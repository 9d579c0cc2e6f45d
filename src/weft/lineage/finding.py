"""What a verification found: each thing that is not as it was recorded, and where."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: a stable code, the place, and what is there instead of what."""

    code: str
    where: str
    what: str

    def to_dict(self) -> dict[str, str]:
        return asdict(self)


@dataclass
class Verification:
    """What was looked at, how much of it, and everything that was wrong."""

    findings: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)
    """What was asked about and is as it should be, in a sentence."""

    @property
    def is_clean(self) -> bool:
        """Whether everything is as it was recorded."""
        return not self.findings

    def add(self, code: str, where: str, what: str) -> None:
        """Note something that is wrong, once."""
        finding = Finding(code, where, what)
        if finding not in self.findings:
            self.findings.append(finding)

    def expect(self, condition: bool, code: str, where: str, what: str) -> bool:
        """Note something that is wrong unless a condition holds; says whether it does."""
        if not condition:
            self.add(code, where, what)
        return condition

    def confirmed_by(self, again: Verification) -> Verification:
        """Only what a second look finds too: a pipeline that runs is seen in the middle of a batch."""
        found = [one for one in self.findings if one in again.findings]
        return Verification(found, again.counts, again.remarks)

    def to_dict(self) -> dict[str, Any]:
        return {
            "clean": self.is_clean,
            "counts": dict(self.counts),
            "remarks": self.remarks,
            "findings": [finding.to_dict() for finding in self.findings],
        }
