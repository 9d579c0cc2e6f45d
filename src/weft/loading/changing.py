"""Streams whose rows replace one another: tables, products, and what may read them. Called by `check`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from weft import codec
from weft.loading.document import Path
from weft.loading.problem import Problems
from weft.loading.read import DraftStream
from weft.products.assembly import assemble
from weft.products.boundary import COLUMNS, NEEDED, tells_transactions, topic_of
from weft.products.reading import TableColumns
from weft.products.sql import from_sql
from weft.products.tree import Product, ProductError
from weft.products.write import stored_product
from weft.project.definition import PipelineSpec, StreamSpec
from weft.project.settings import WatermarkSpec
from weft.schema.change import with_change

INSTEAD = {
    "window": "It would count a row once for each of its changes. Use `group`, or a product.",
    "dedupe": "It would take a change for a repetition. Leave it out: a row that comes again changes nothing.",
    "join": "Leave `window` out: both sides stay current without it.",
}


def check_table(stream: DraftStream, key: tuple[str, ...], report: Problems) -> None:
    """Note a table without a key: it could not tell which row a change is of."""
    if not key and not stream.key:
        report.add(
            "project.missing-key",
            stream.path,
            f"Stream {stream.name!r} has the changes of a table, and no key.",
            "Add `key: id`.",
            on_key=True,
        )


def document_stream(
    spec: PipelineSpec,
    inputs: Sequence[StreamSpec],
    path: Path,
    report: Problems,
    watermarks: WatermarkSpec,
) -> tuple[PipelineSpec, StreamSpec] | None:
    """A product with its tree, and the stream of its documents; None where something is wrong."""
    for stream in inputs:
        if not stream.changing:
            report.add(
                "project.not-changing",
                path,
                f"Product {spec.name!r} reads stream {stream.name!r}, whose records do not replace one another.",
                "Products are made of tables, and of other products.",
                on_key=True,
            )
            return None
    tables = {
        stream.name: TableColumns.of(stream.schema, stream.key, topic_of(stream.source))
        for stream in inputs
    }
    try:
        product = _product(spec, tables)
        check_boundary(product, inputs)
        found = assemble(product, tables)
    except ProductError as error:
        report.add_error(error, (*path, *error.ids.get("path", ())))
        return None
    stream = StreamSpec(
        name=spec.to,
        schema=with_change(found.columns),
        key=found.key,
        watermarks=replace(watermarks, ahead="hold"),
        writer=spec.name,
        changing=True,
    )
    return replace(spec, inputs=product.inputs(), product=stored_product(product)), stream


def _product(spec: PipelineSpec, tables: Mapping[str, TableColumns]) -> Product:
    """The tree of a product, which may be declared as a SELECT over these tables."""
    said = spec.product or {}
    if "sql" not in said:
        return codec.from_form(Product, said)
    keys = {name: table.key for name, table in tables.items()}
    columns = {name: table.columns.names for name, table in tables.items()}
    try:
        made = from_sql(spec.name, said["sql"], keys, columns)
    except ProductError as error:
        error.ids["path"] = ("sql",)
        raise
    return replace(
        made, parallelism=said.get("parallelism", 1), transactions=said.get("transactions")
    )


def check_boundary(product: Product, inputs: Sequence[StreamSpec]) -> None:
    """Refuse to hold changes back that nobody counts, or for a table that does not tell where transactions end."""
    streams = {stream.name: stream for stream in inputs}
    if product.transactions is None:
        return
    ends = streams[product.transactions]
    found = {name: ends.schema.find(name) for name in NEEDED}
    lacking = [name for name, one in found.items() if one != COLUMNS.get(name)]
    if not tells_transactions(ends.source) or lacking:
        raise ProductError(
            f"Product {product.name!r} waits for the transactions of {ends.name!r}, which does not tell them.",
            hint="Declare a table of the connector's topic of transactions: "
            "`commits: {topic: app.transaction, transactions: true, key: id}`.",
            path=("transactions",),
        )
    for name in product.tables():
        if topic_of(streams[name].source) is None or tells_transactions(streams[name].source):
            raise ProductError(
                f"Product {product.name!r} shows whole transactions only, and {name!r} has no topic of its own by "
                "which they count their changes.",
                hint="Read tables from Debezium's topics, or leave `transactions` out.",
                path=("transactions",),
            )


def check_changing(spec: PipelineSpec, stream: str, path: Path, report: Problems) -> None:
    """Note what counts records, and so cannot take rows that replace one another."""
    kinds = {"dedupe": spec.dedupe, "join": spec.join, "window": spec.window}
    for kind, given in kinds.items():
        if given is not None:
            report.add(
                "project.changing",
                (*path, kind),
                f"Pipeline {spec.name!r} has `{kind}`, and the rows of stream {stream!r} replace one another.",
                INSTEAD[kind],
                on_key=True,
            )
            return
    if len(spec.inputs) > 1:
        report.add(
            "project.changing",
            (*path, "from"),
            f"Pipeline {spec.name!r} reads stream {stream!r} and another, and keys of both would mix.",
            "Read them in pipelines of their own.",
        )


def keyless(spec: PipelineSpec, key: Sequence[str], path: Path, report: Problems) -> None:
    """Note steps that take the key of a changing stream away."""
    report.add(
        "project.changing",
        (*path, "steps"),
        f"The steps of pipeline {spec.name!r} leave out the key that tells its rows apart.",
        f"Keep {', '.join(key)}.",
        on_key=True,
    )


def other_key(stream: StreamSpec, path: Path, report: Problems) -> None:
    """Note a key that is declared of a changing stream and is not the one by which its rows replace one another."""
    report.add(
        "project.changing",
        (*path, "key"),
        f"The rows of stream {stream.name!r} replace one another by {', '.join(stream.key)}, and by no other key.",
        "Leave `key` out.",
    )
