"""The columns of files that are there already, for streams that declare none. Called by `check`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from weft.project.problem import Report
from weft.project.read import DraftStream
from weft.weaving.schema import Field, Schema, Type, parse_type

SAMPLE_BYTES = 1_000_000
_NAMES: Mapping[str, str] = {
    "bool": "boolean",
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "uint8": "smallint",
    "uint16": "int",
    "uint32": "bigint",
    "float": "float",
    "halffloat": "float",
    "double": "double",
    "string": "string",
    "large_string": "string",
    "binary": "binary",
    "large_binary": "binary",
    "date32[day]": "date",
    "null": "string",
}


def inferred_schema(stream: DraftStream, report: Report, folder: Path) -> Schema | None:
    """The columns of a stream that declares none, from its first file; notes when there is none."""
    source = stream.source
    if source is None or source.kind != "files" or not isinstance(source.options.get("path"), str):
        kind = source.kind if source else "none"
        report.add(
            "project.schema-missing",
            stream.path,
            f"Stream {stream.name!r} declares no columns, and source {kind!r} cannot tell them.",
            "Add `schema: {id: long, at: timestamp}`.",
            on_key=True,
        )
        return None
    place = folder / source.options["path"]
    if str(source.options["path"]).find("://") > 0:
        files: list[Path] = []
    else:
        files = sorted(one for one in place.rglob("*") if _is_data(one)) if place.is_dir() else []
    if not files:
        report.add(
            "project.schema-missing",
            stream.path,
            f"Stream {stream.name!r} declares no columns, and {place} has no file to show them.",
            "Add `schema: {id: long, at: timestamp}`.",
            on_key=True,
        )
        return None
    form = str(source.options.get("format", "json"))
    try:
        return _columns(_READERS[form](files[0], source.options))
    except (pa.ArrowInvalid, OSError, KeyError, ValueError) as failure:
        report.add(
            "project.schema-missing",
            stream.path,
            f"The columns of {stream.name!r} cannot be taken from {files[0].name}: {failure}.",
            "Correct the format, or add `schema: {id: long, at: timestamp}`.",
            on_key=True,
        )
        return None


def _is_data(path: Path) -> bool:
    return path.is_file() and not path.name.startswith((".", "_"))


def _json(path: Path, options: Mapping[str, object]) -> pa.Schema:
    with path.open("rb") as file:
        sample = file.read(SAMPLE_BYTES)
    whole = sample if len(sample) < SAMPLE_BYTES else sample[: sample.rfind(b"\n") + 1]
    return pyarrow.json.read_json(pa.BufferReader(whole)).schema


def _csv(path: Path, options: Mapping[str, object]) -> pa.Schema:
    parse = pyarrow.csv.ParseOptions(delimiter=str(options.get("separator", ",")))
    with pyarrow.csv.open_csv(path, parse_options=parse) as reader:
        return reader.schema


def _parquet(path: Path, options: Mapping[str, object]) -> pa.Schema:
    return pyarrow.parquet.read_schema(path)


_READERS: Mapping[str, Callable[[Path, Mapping[str, object]], pa.Schema]] = {
    "json": _json,
    "csv": _csv,
    "parquet": _parquet,
}


def _columns(schema: pa.Schema) -> Schema:
    return Schema(tuple(Field(one.name, _type(one.type)) for one in schema))


def _type(kind: pa.DataType) -> Type:
    if pa.types.is_timestamp(kind):
        return Type("timestamp")
    if pa.types.is_decimal(kind):
        return Type("decimal", precision=kind.precision, scale=kind.scale)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return Type("array", items=(_type(kind.value_type),))
    if pa.types.is_map(kind):
        return Type("map", items=(_type(kind.key_type), _type(kind.item_type)))
    if pa.types.is_struct(kind):
        fields = tuple(Field(one.name, _type(one.type)) for one in kind)
        return Type("struct", fields=fields)
    return parse_type(_NAMES[str(kind)])
