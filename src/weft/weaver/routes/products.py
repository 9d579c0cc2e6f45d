"""Tables and products: which there are, what they are made of, and documents by key, now or as of an earlier knot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft import codec
from weft.declared.read import made
from weft.errors import WeftError
from weft.products.cause import Cause
from weft.products.tree import Product
from weft.products.write import write_product
from weft.project.definition import MissingNameError, PipelineSpec, StreamSpec
from weft.schema.change import CHANGE
from weft.schema.schema import nearest
from weft.sources.postgres.source import PostgresSource
from weft.weaver.routes import Answer, KnotNumber, UsesWeaver, make_router
from weft.weaver.weaver import Weaver

router = make_router("products")


@dataclass(frozen=True)
class ProductView:
    """A product: its tables, its key, its definition, and where it stands."""

    name: str
    root: str
    tables: tuple[str, ...]
    key: tuple[str, ...]
    columns: Mapping[str, str]
    definition: Mapping[str, Any]
    knot: int | None


@dataclass(frozen=True)
class DocumentView:
    """A document, and the knot that wrote it."""

    product: str
    key: tuple[str, ...]
    knot: int
    id: str
    document: Mapping[str, Any]


@dataclass(frozen=True)
class CausesView:
    """A document, and the rows of its tables that it was put together from."""

    document: DocumentView
    rows: tuple[Cause, ...]


@dataclass(frozen=True)
class TableView:
    """A table: its key and columns, where its changes come from, who reads it, and where it stands."""

    name: str
    key: tuple[str, ...]
    columns: Mapping[str, str]
    topic: str
    """The topic that its changes come by; empty where they are read from the database."""
    table: str
    """The table that they are read from; empty where they come by a topic."""
    readers: tuple[str, ...]
    knot: int | None


@router.get("/tables", response_model=list[TableView])
async def list_tables(weaver: UsesWeaver) -> Answer:
    """All tables whose changes come in."""
    streams = weaver.catalog.project().streams.values()
    tables = [one for one in streams if one.changing and one.source is not None]
    return Answer(
        [
            TableView(
                name=one.name,
                key=one.key,
                columns={
                    column.name: str(column.type) for column in one.schema if column.name != CHANGE
                },
                topic=str(one.source.options.get("topic", "")) if one.source else "",
                table=_table_name(one),
                readers=tuple(reader.name for reader in weaver.catalog.readers(one.name)),
                knot=weaver.knots.head(one.name).number,
            )
            for one in tables
        ]
    )


def _table_name(stream: StreamSpec) -> str:
    if stream.source is None or stream.source.kind != "postgres":
        return ""
    return str(made(PostgresSource, stream.source.options).table_name(stream.name))


@router.get("/products", response_model=list[ProductView])
async def list_products(weaver: UsesWeaver) -> Answer:
    """All products."""
    specs = weaver.catalog.project().pipelines.values()
    return Answer([_view(weaver, spec) for spec in specs if spec.product is not None])


@router.get("/products/{name}", response_model=ProductView)
async def show(weaver: UsesWeaver, name: str) -> Answer:
    """One product: what it is made of, and what its documents look like."""
    return Answer(_view(weaver, _product(weaver, name)))


@router.get("/products/{name}/{key:text}", response_model=DocumentView)
async def document(
    weaver: UsesWeaver, name: str, key: str, knot: KnotNumber | None = None
) -> Answer:
    """The document of a key, now or as of a knot. Several columns have / between them, or are a list in JSON."""
    return Answer(await _document(weaver, name, key, knot), keeps_order=True)


@router.get("/causes/{product}/{key:text}", response_model=CausesView)
async def causes(
    weaver: UsesWeaver, product: str, key: str, knot: KnotNumber | None = None
) -> Answer:
    """The changes that made the document of a key what it is, now or as of a knot: row by row of its tables."""
    found = await _document(weaver, product, key, knot)
    stream = weaver.catalog.stream(_product(weaver, product).to)
    written = weaver.knots.get(stream.origin, found.knot)
    asked = {"product": product, "key": list(found.key), "upto": dict(written.offsets.inputs)}
    rows = await weaver.ask("causes", asked, timeout=300)
    return Answer(CausesView(found, tuple(codec.from_form(Cause, row) for row in rows)))


async def _document(weaver: Weaver, name: str, key: str, knot: int | None) -> DocumentView:
    spec = _product(weaver, name)
    columns = weaver.catalog.project().stream(spec.to).key
    values = _values(key, len(columns))
    if len(values) != len(columns):
        raise WeftError(
            f"The key of product {name!r} has {len(columns)} columns, and {key!r} has {len(values)} values.",
            code="product.other-key",
            domain="user",
            hint=f"Give a value for each of {', '.join(columns)}.",
            product=name,
        )
    if knot is not None:
        weaver.knots.get_live(weaver.catalog.stream(spec.to).origin, knot)
    asked = {"stream": spec.to, "key": values, "knot": knot}
    row = await weaver.ask("document", asked, timeout=120)
    if row is None:
        when = "" if knot is None else f" at knot {knot}"
        raise WeftError(
            f"Product {name!r} has no document {key!r}{when}.",
            code="product.no-document",
            domain="missing",
            hint=f"Its key is {', '.join(columns)}. The root's table has no such row, or a required part of it is "
            "missing.",
            product=name,
        )
    found = json.loads(row["document"])
    return DocumentView(name, tuple(values), row["knot"], row["id"], found)


def _values(key: str, columns: int) -> list[str]:
    """The values of a key's columns; that of a single one is the text as it is, whatever is in it."""
    if columns > 1 and key.startswith("["):
        try:
            values = json.loads(key)
        except ValueError:
            values = None
        if isinstance(values, list):
            return [one if isinstance(one, str) else json.dumps(one) for one in values]
    return [key] if columns == 1 else key.split("/")


def _product(weaver: Weaver, name: str) -> PipelineSpec:
    pipelines = weaver.catalog.project().pipelines
    products = [one for one, spec in pipelines.items() if spec.product is not None]
    if name in products:
        return pipelines[name]
    near = nearest(name, products)
    raise MissingNameError(
        f"There is no product {name!r}. There is {', '.join(products) or 'none'}.",
        hint=f"Did you mean {near!r}?" if near else "Use one of the products listed.",
        name=name,
    )


def _view(weaver: Weaver, spec: PipelineSpec) -> ProductView:
    product = codec.from_form(Product, spec.product)
    stream = weaver.catalog.project().stream(spec.to)
    return ProductView(
        name=spec.name,
        root=product.root.table,
        tables=product.tables(),
        key=stream.key,
        columns={one.name: str(one.type) for one in stream.schema if one.name != CHANGE},
        definition=write_product(product),
        knot=weaver.knots.head(spec.to).number,
    )
