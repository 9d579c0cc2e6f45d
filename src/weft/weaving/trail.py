"""The way of records through a weave, where it is written down: their hash before the first step and after each.

Called by the cloth and by `weave`. Hashes are computed in the last layer, of records whose provenance is written and
of no others: until then the values that a step replaces go along under hidden names, which costs nothing in the code
that Spark generates. Python functions end that code, so what came before one is hashed before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from weft.project.provenance import ProvenanceSpec
from weft.schema.schema import literal, quoted
from weft.schema.weft import WEFT_TYPE

if TYPE_CHECKING:
    from weft.weaving.cloth import Cloth, Verdict

SHARES = 10_000
"""How finely the keys of a stream are divided for rules and samples that take a share of them."""
SALT = "provenance"
"""Samples of all streams are salted alike, so that a key whose records are in one is in the others too."""
CHOSEN, TOLD = "_weft_chosen", "_weft_told"
HASH_BYTES = 32
ABSENT, UNKNOWN = bytes(HASH_BYTES), b"\xff" * HASH_BYTES
"""What stands for a hash where a record did not come so far, and where it did and its hash was not computed."""


@dataclass(frozen=True)
class Transformation:
    """A step of a pipeline or of a rule that records may have taken, and its function version.

    `hash` says which of a record's hashes is the one after it. Where that is absent, the record did not take the step.
    """

    by: str
    version: str
    hash: int = 0


@dataclass(eq=False)
class State:
    """Records between two steps: where the values of their columns are, and which records came so far."""

    columns: list[str]
    reached: int
    """Records whose verdict has a lower code ended before."""
    condition: str | None = None
    hash: str | None = None
    """The column that has the hash already, where values could not go along."""
    is_settled: bool = False
    """Whether it was hashed before a Python function, and of a sample only in part."""

    def present(self) -> str:
        """SQL that is true for records that were ever in it."""
        reached = f"(_weft_verdict IS NULL OR _weft_verdict >= {self.reached})"
        return reached if self.condition is None else f"{reached} AND {self.condition}"


@dataclass
class Trail:
    """What is remembered of records on their way through one weave."""

    spec: ProvenanceSpec
    states: list[State] = field(default_factory=list)
    taken: list[Transformation] = field(default_factory=list)
    _saved: int = 0

    def begin(self, cloth: Cloth, key: Sequence[str]) -> None:
        """Remember records as they come in; which of them a sample takes is decided by that."""
        if self.spec.share is not None:
            cloth.select(**{CHOSEN: share(SALT, key, round(self.spec.share * SHARES))})
        self.states.append(State(list(cloth.columns), reached=len(cloth.verdicts)))

    def passed(self, cloth: Cloth, by: str, version: str, condition: str | None) -> None:
        """Remember records as a step has left them."""
        self.taken.append(Transformation(by, version))
        self.states.append(State(list(cloth.columns), len(cloth.verdicts), condition))

    def keep(self, columns: Mapping[str, str]) -> dict[str, str]:
        """Hidden columns for the values that a layer of these columns leaves out or replaces."""
        places = {sql: name for name, sql in columns.items()}
        saved: dict[str, str] = {}
        moved: dict[str, str] = {}
        for state in self.states:
            for at, name in enumerate(state.columns):
                if state.hash is not None or name.startswith("_weft_was_"):
                    continue
                if name not in moved:
                    same = columns.get(name) == quoted(name)
                    moved[name] = name if same else places.get(quoted(name), "")
                if not moved[name]:
                    moved[name] = f"_weft_was_{self._saved}"
                    saved[moved[name]] = quoted(name)
                    self._saved += 1
                state.columns[at] = moved[name]
        return saved

    def settle(self, cloth: Cloth) -> None:
        """Hash what values cannot go along further: of a sample what its share takes, the others get none."""
        wanted = None if self.spec.share is None else CHOSEN
        hashes = self._hashes(wanted, otherwise=_binary(UNKNOWN))
        for state in self.states:
            state.is_settled = True
        if hashes:
            cloth.select(**hashes)
        cloth.hide(*(name for name in cloth.hidden if name.startswith("_weft_was_")))

    def _hashes(self, wanted: str | None, *, otherwise: str = "NULL") -> dict[str, str]:
        """A column for the hash of each state that has none yet; states of the same values share one."""
        alike: dict[tuple[str, ...], list[State]] = {}
        for state in self.states:
            if state.hash is None:
                alike.setdefault(tuple(state.columns), []).append(state)
        columns: dict[str, str] = {}
        for values, states in alike.items():
            conditions = {state.condition for state in states}
            # Records that a share left alone have the same values as others.
            first = replace(states[0], condition=conditions.pop() if len(conditions) == 1 else None)
            needed = " AND ".join(filter(None, (wanted, first.present())))
            listed = ", ".join(["_weft.id", *map(quoted, values)])
            name = f"_weft_hash_{self.states.index(states[0])}"
            columns[name] = f"CASE WHEN {needed} THEN weft_hash({listed}) ELSE {otherwise} END"
            for state in states:
                state.hash = name
        return columns

    def finish(self, cloth: Cloth, *, dead: str, sides: Sequence[str]) -> str:
        """Layers that hash what is told, and the SQL of the row that tells it, null for the others."""
        flagged = [f"coalesce(_weft_verdict IN ({dead}), false)"]
        flagged += [f"{side} IS NOT NULL" for side in sides]
        told = "_weft IS NOT NULL"
        if self.spec.share is not None:
            told += f" AND ({' OR '.join([CHOSEN, *flagged])})"
        cloth.select(**{TOLD: told})
        cloth.select(**self._hashes(TOLD))
        codes = "_weft_verdict + 1"
        enders = ", ".join(literal(verdict.by) for verdict in cloth.verdicts)
        places = ", ".join(map(self._place, cloth.verdicts))
        hashes = ", ".join(
            f"CASE WHEN {state.present()} THEN {state.hash} ELSE {_binary(ABSENT)} END"
            for state in self._slots()
        )
        fields = {
            "verdict": f"CASE WHEN _weft_verdict IN ({dead}) THEN 'dead' "
            "WHEN _weft_verdict IS NOT NULL THEN 'filtered' END",
            # Spark takes a missing place for the last one.
            "by": f"CASE WHEN _weft_verdict IS NOT NULL THEN element_at(array({enders}), {codes}) END",
            "step": f"CASE WHEN _weft_verdict IS NOT NULL THEN element_at(array({places}), {codes}) END",
            "executor": "weft_executor()",
            "hashes": f"concat({hashes})",
            # The rest of it is in the record's id, or is the same for all records of the knot.
            "_weft": _struct(
                {field.name: f"CAST(NULL AS {field.type})" for field in WEFT_TYPE.fields}
                | {"id": "_weft.id", "knot": "CAST(0 AS BIGINT)"}
            ),
        }
        return f"CASE WHEN {TOLD} THEN {_struct(fields)} END"

    def left(self) -> str:
        """SQL of the hash of a record that was kept, as it is written; null where that is still to be computed."""
        found: list[str] = []
        for state in reversed(self.states):
            if state.is_settled:
                return "CAST(NULL AS BINARY)"
            if state.condition is None:
                found.append(str(state.hash))
                break
            found.append(f"CASE WHEN {state.condition} THEN {state.hash} END")
        return f"CASE WHEN {TOLD} AND _weft_verdict IS NULL THEN coalesce({', '.join(found)}) END"

    def _slots(self) -> list[State]:
        """The states that have a hash of their own in a row: one for all that are known to have the same."""
        slots: dict[tuple[str | None, str | None], int] = {}
        own: list[State] = []
        for number, state in enumerate(self.states):
            slot = slots.setdefault((state.hash, state.condition), len(own))
            if slot == len(own):
                own.append(state)
            if number:
                self.taken[number - 1] = replace(self.taken[number - 1], hash=slot)
        return own

    def _place(self, verdict: Verdict) -> str:
        """The place among the steps of the one that gives a verdict, as SQL; null where it was none of them."""
        found = [number for number, one in enumerate(self.taken) if one.by == verdict.by]
        return str(found[verdict.place]) if found else "CAST(NULL AS INT)"


def _struct(fields: Mapping[str, str]) -> str:
    return f"named_struct({', '.join(f'{literal(name)}, {sql}' for name, sql in fields.items())})"


def _binary(value: bytes) -> str:
    return f"X'{value.hex()}'"


def share(salt: str, key: Sequence[str], shares: int) -> str:
    """SQL that is true for so many of the shares of a key, whose columns are given as SQL; the salt mixes them."""
    hashed = ", ".join([literal(salt), *(key or ["_weft.id"])])
    return f"pmod(xxhash64({hashed}), {SHARES}) < {shares}"
