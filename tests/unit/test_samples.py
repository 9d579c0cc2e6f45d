"""What was ever stored is read by every later version: recorded samples of each kind, and what may become of them."""

from __future__ import annotations

import ast
import dataclasses
import importlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

import weft
from tests.samples.kept import ADMITTED, HISTORY, OFFSET, POSITION, RECORDS, STATED
from tests.samples.values import VALUES
from tools import record_samples
from tools.record_samples import KEPT, ROOT, Sample, hashes_of, sample_of
from weft import canonical, codec
from weft.errors import WeftError
from weft.lineage.knot import UNSEALED, Knot
from weft.operations.operation import Operation
from weft.operations.step import Step
from weft.project.definition import Project, ProjectForm
from weft.sinks.position import Position, SlotPosition, slots_of
from weft.sources.admission import AdmissionLog
from weft.sources.offset import Offset
from weft.sources.segment import Segments
from weft.weaver.rules import store_rule
from weft.weaver.store.memory import MemoryStore
from weft.weaver.store.records import form_of, value_of
from weft.weaver.verification import StoredRecords
from weft.weaving.rule import Rule

SOURCE = Path(weft.__file__).parent
READERS = {"unpack", "find", "get", "scan", "value_of", "_find", "_scan"}
"""The calls whose first argument is the kind of the value that is read."""
KINDS = {kind.__name__: kind for kind in VALUES}
RECORDED = [
    pytest.param(kind, sample, id=f"{file.parent.name}-{name}-{position}")
    for name, kind in KINDS.items()
    for file in sorted(ROOT.glob(f"format-*/{name}.json"))
    for position, sample in enumerate(record_samples.read(file))
]
OF_TODAY = [
    pytest.param(kind, number, id=f"{kind.__name__}-{number}")
    for kind, values in VALUES.items()
    for number in range(len(values))
]
recorded = pytest.mark.parametrize(("kind", "sample"), RECORDED)
of_today = pytest.mark.parametrize(("kind", "number"), OF_TODAY)


def kinds_read() -> set[type]:
    """Every kind of value that some module reads from its stored form."""
    found: set[type] = set()
    for file in SOURCE.rglob("*.py"):
        parts = file.relative_to(SOURCE.parent).with_suffix("").parts
        for name in _named(ast.parse(file.read_text(encoding="utf-8"))):
            kind = getattr(importlib.import_module(".".join(parts)), name, None)
            if isinstance(kind, type) and dataclasses.is_dataclass(kind):
                found.add(Project if kind is ProjectForm else kind)
    return found


def _named(tree: ast.AST) -> Iterator[str]:
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Name):
            function = call.func
            called = function.attr if isinstance(function, ast.Attribute) else None
            if called in READERS or getattr(function, "id", None) in READERS:
                yield call.args[0].id


def stored(value: Any) -> bytes:
    return canonical.encode(form_of(value))


def sealed(form: dict[str, Any]) -> dict[str, Any]:
    """The form of a knot with the hash that the version of Weft which wrote it gave it."""
    if form["hash"] is None:
        return form
    covered = {name: value for name, value in form.items() if name not in UNSEALED}
    return {**form, "hash": canonical.digest(covered)}


def as_written(kind: type, form: dict[str, Any]) -> dict[str, Any]:
    return sealed(form) if kind is Knot else form


def holds(found: Any, told: Any) -> bool:
    """Whether everything that a form tells is in another one too, which may tell more."""
    if isinstance(told, dict):
        return isinstance(found, dict) and all(
            name in found and holds(found[name], value) for name, value in told.items()
        )
    if isinstance(told, list):
        return isinstance(found, list) and len(found) == len(told) and all(map(holds, found, told))
    return bool(found == told)


def test_every_kind_that_is_stored_has_a_sample() -> None:
    assert {kind.__name__ for kind in kinds_read()} == set(KINDS)
    assert {file.stem for file in ROOT.glob("format-*/*.json")} == set(KINDS)


def test_every_kind_of_step_is_in_a_sample() -> None:
    known = get_args(get_args(Step)[0])
    assert {type(step) for one in VALUES[Operation] for step in one.steps} == set(known)


@of_today
def test_what_is_stored_today_is_recorded(kind: type, number: int) -> None:
    today = sample_of(kind, number)
    known = record_samples.read(record_samples.FOLDER / f"{kind.__name__}.json")
    assert today in known, "its form is new: run `python -m tools.record_samples`, and keep the old"


@recorded
def test_a_sample_is_read_with_the_hashes_that_it_had(kind: type, sample: Sample) -> None:
    assert canonical.digest(sample.stored) == sample.sha256, "a sample is never changed"
    value = value_of(kind, sample.stored)
    assert type(value) is kind
    assert hashes_of(value) == sample.hashes
    if sample.stored["format"] == codec.FORMAT:
        assert holds(form_of(value), sample.stored)


@of_today
def test_what_is_read_is_what_was_written_and_is_written_again_to_the_same_bytes(
    kind: type, number: int
) -> None:
    value = VALUES[kind][number]
    again = value_of(kind, canonical.decode(stored(value)))
    assert again == value
    assert stored(again) == stored(value)


@of_today
def test_a_field_that_an_older_form_lacks_has_its_default(kind: type, number: int) -> None:
    value = VALUES[kind][number]
    form = canonical.decode(stored(value))
    shape = ProjectForm if kind is Project else kind
    for field in dataclasses.fields(shape):
        if field.name not in form or field.name == "hash":
            continue
        older = as_written(kind, {name: form[name] for name in form if name != field.name})
        if _default(field) is dataclasses.MISSING:
            with pytest.raises(WeftError) as refused:
                value_of(kind, older)
            assert refused.value.code == "stored.unreadable"
        elif (kind, field.name) != (Rule, "version"):  # it is computed again
            assert _field(value_of(kind, older), field.name) == _default(field)


def _default(field: dataclasses.Field[Any]) -> Any:
    made = field.default_factory
    return field.default if made is dataclasses.MISSING else made()


def _field(value: Any, name: str) -> Any:
    found = getattr(value, name)
    is_listed = isinstance(value, Project) and name in ("streams", "pipelines", "functions")
    return tuple(found.values()) if is_listed else found


@of_today
def test_a_field_that_only_a_newer_version_knows_is_passed_over(kind: type, number: int) -> None:
    value = VALUES[kind][number]
    form = canonical.decode(stored(value))
    newer = as_written(kind, {**form, "of_next_year": {"a": [1]}})
    read = value_of(kind, newer)
    if isinstance(read, Knot) and isinstance(value, Knot):
        assert dataclasses.replace(read, hash=value.hash) == value
    else:
        assert read == value


@of_today
@pytest.mark.parametrize("number_of_format", [codec.FORMAT + 1, 0, "1", None, 1.5])
def test_a_form_of_a_format_that_is_not_known_is_refused(
    kind: type, number: int, number_of_format: Any
) -> None:
    form = {**canonical.decode(stored(VALUES[kind][number])), "format": number_of_format}
    with pytest.raises(WeftError) as refused:
        value_of(kind, form)
    assert refused.value.code == "stored.too-new"


@of_today
def test_a_form_from_before_formats_were_numbered_is_the_first(kind: type, number: int) -> None:
    form = canonical.decode(stored(VALUES[kind][number]))
    del form["format"]
    assert value_of(kind, as_written(kind, form)) is not None


@pytest.mark.parametrize("change", [{}, {"of_next_year": 1}, {"replaces": None}])
def test_a_knot_keeps_the_bytes_that_it_was_sealed_in_whatever_version_sealed_it(
    change: dict[str, Any],
) -> None:
    for value in VALUES[Knot]:
        form = canonical.decode(stored(value))
        lacking = {name: form[name] for name in form if name not in change}
        forms = [sealed({**lacking, **added}) for added in ({}, change)]
        for form in forms if value.hash else ():
            read = Knot.from_dict(form)
            assert read.is_intact()
            assert stored(read) == canonical.encode(form)


def test_a_knot_that_was_changed_is_not_intact() -> None:
    other = VALUES[Knot][0].to_dict()
    for value in VALUES[Knot]:
        form = canonical.decode(stored(value))
        for name in form.keys() - set(UNSEALED) - {"format"}:
            if value.hash is not None:
                rest = {key: form[key] for key in form if key != name}
                changed = Knot.from_dict(rest | {key: other[key] for key in other if key == name})
                assert changed.is_intact() is (form[name] == other.get(name))


def test_the_version_of_a_rule_is_that_of_the_stored_bytes() -> None:
    store = MemoryStore()
    for rule in VALUES[Rule]:
        store.apply(store_rule(rule))
        assert StoredRecords(store).has_rule(rule.id, rule.version)
        assert not StoredRecords(store).has_rule(rule.id, "0" * 64)


@pytest.mark.parametrize("name", sorted(record_samples.kept()))
def test_what_sources_and_sinks_keep_is_written_as_it_was_recorded(name: str) -> None:
    assert record_samples.kept()[name] == (KEPT / name).read_bytes()


def test_a_recorded_admission_log_is_read() -> None:
    assert AdmissionLog(KEPT / "admission.jsonl").entries() == list(ADMITTED)


def test_a_recorded_segment_is_read(tmp_path: Path) -> None:
    Segments(tmp_path).file(1).write((KEPT / "segment").read_bytes())
    segment = Segments(tmp_path).get(1)
    assert (segment.stated, tuple(segment.records())) == (STATED, RECORDS)


def test_recorded_positions_are_read() -> None:
    assert Offset.from_json(canonical.decode((KEPT / "file-offset.json").read_bytes())) == OFFSET
    offsets = [
        {"offset": 13, "text": (KEPT / "kafka-slot.json").read_text()},
        POSITION.to_offset(1),
    ]
    assert slots_of(offsets[0]) == 2
    assert Position.from_offsets(offsets, HISTORY) == replace(POSITION, claim="")


def test_the_position_of_a_topic_that_was_written_before_there_were_slots_is_read() -> None:
    text = (KEPT / "kafka-position.json").read_text()
    position = Position.from_offsets([{"offset": 13, "text": text}], HISTORY)
    assert position == Position(HISTORY, "", (SlotPosition(12),), POSITION.retracted)
