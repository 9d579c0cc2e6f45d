"""Records how every kind of value is stored today: `python -m tools.record_samples`.

Samples are in `tests/samples/format-N`, one file for each kind; what sources and sinks keep in forms of their own is in
`tests/samples/kept`. What was recorded once is never changed: a value that is stored in another form now, because its
kind has gained a field, is recorded beside the older form, and every later version reads both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.samples.kept import ADMITTED, OFFSET, POSITION, RECORDS, STATED
from tests.samples.values import VALUES
from weft import canonical, codec
from weft.lineage.knot import Knot
from weft.project.definition import Project
from weft.sources.admission import AdmissionLog
from weft.sources.segment import Segments
from weft.weaver.catalog import KnownSchema, declared
from weft.weaver.store.records import form_of
from weft.weaving.rule import Rule

ROOT = Path(__file__).parent.parent / "tests" / "samples"
FOLDER = ROOT / f"format-{codec.FORMAT}"
KEPT = ROOT / "kept"


@dataclass(frozen=True)
class Sample:
    """A stored form: which value of `VALUES` it is of, the SHA-256 of its bytes, and the hashes that the value has."""

    of: int
    sha256: str
    hashes: dict[str, str]
    stored: dict[str, Any]


def sample_of(kind: type, number: int) -> Sample:
    """The sample of a value as it is stored today."""
    value = VALUES[kind][number]
    form = form_of(value)
    digest = hashlib.sha256(canonical.encode(form)).hexdigest()
    return Sample(number, digest, hashes_of(value), json.loads(canonical.encode(form)))


def hashes_of(value: Any) -> dict[str, str]:
    """The hashes by which other values know this one; they are the same in every later version."""
    match value:
        case Knot():
            return {"hash": value.hash} if value.hash else {}
        case Rule():
            return {"version": value.version}
        case KnownSchema():
            return {"fingerprint": value.schema.fingerprint}
        case Project():
            versions = {f"pipeline {one.name}": one.version for one in declared(value)}
            return {"hash": value.hash, **versions}
    return {}


def kept() -> dict[str, bytes]:
    """What sources and sinks keep in forms of their own, by the name of its sample."""
    with TemporaryDirectory() as folder:
        log, segments = Path(folder, "log"), Segments(folder)
        AdmissionLog(log).admit(list(ADMITTED))
        number = segments.append(RECORDS, number=1, stated=STATED)
        return {
            "admission.jsonl": log.read_bytes(),
            "segment": segments.file(number).read(),
            "file-offset.json": canonical.encode(OFFSET.to_json()),
            "kafka-slot.json": POSITION.to_offset(0)["text"].encode(),
        }


def read(file: Path) -> list[Sample]:
    """The samples in a file, oldest first."""
    if not file.exists():
        return []
    return [Sample(**form) for form in json.loads(file.read_text(encoding="utf-8"))]


def missing() -> Iterator[tuple[Path, Sample]]:
    """What is stored in a form of which there is no sample yet, with the file that it belongs into."""
    for kind, values in VALUES.items():
        file = FOLDER / f"{kind.__name__}.json"
        known = {sample.sha256 for sample in read(file)}
        for number in range(len(values)):
            sample = sample_of(kind, number)
            if sample.sha256 not in known:
                yield file, sample


def record() -> None:
    """Add the samples that are missing."""
    KEPT.mkdir(parents=True, exist_ok=True)
    for name, content in kept().items():
        if not (KEPT / name).exists():
            (KEPT / name).write_bytes(content)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file, sample in list(missing()):
        samples = [asdict(one) for one in (*read(file), sample)]
        text = json.dumps(samples, indent=1, ensure_ascii=False, sort_keys=True)
        file.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
