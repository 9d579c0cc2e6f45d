"""`weft product`: nested documents that follow the changes of tables."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from weft.cli import completion
from weft.cli.addition import add as add_entry
from weft.cli.addition import file_option
from weft.cli.command import Group, asks_weaver
from weft.cli.service import storage_option
from weft.cli.terminal import Terminal, path_to

if TYPE_CHECKING:
    from rich.tree import Tree

    from weft.cli.output import Printer

CHANGES = {"c": "inserted", "u": "updated", "r": "read"}

product_name = click.argument("name", metavar="PRODUCT", shell_complete=completion.products)


@click.group(cls=Group)
def product() -> None:
    """Products: nested documents that follow the changes of tables."""


@product.command("list")
@asks_weaver
def list_products(terminal: Terminal) -> None:
    """All products, with the tables that they are made of."""
    terminal.show(terminal.get("/products"), _render_products)


@product.command()
@product_name
@asks_weaver
def show(terminal: Terminal, name: str) -> None:
    """What a product is made of, and what its documents look like."""
    terminal.show(terminal.get(path_to("products", name)), _render_product)


@product.command()
@product_name
@click.argument("key", nargs=-1, required=True)
@click.option("--knot", type=int, help="As of this knot; default: now.")
@asks_weaver
def get(terminal: Terminal, name: str, key: tuple[str, ...], knot: int | None) -> None:
    """The document of KEY: one value for each column of the key."""
    terminal.show(
        terminal.get(path_to("products", name, key=_written(key)), knot=knot), _render_document
    )


@product.command()
@product_name
@click.argument("key", nargs=-1, required=True)
@click.option("--knot", type=int, help="As of this knot; default: now.")
@asks_weaver
def explain(terminal: Terminal, name: str, key: tuple[str, ...], knot: int | None) -> None:
    """Which changes made the document of KEY what it is: each row of its tables, and the change that left it so."""
    terminal.show(
        terminal.get(path_to("causes", name, key=_written(key)), knot=knot), _render_causes
    )


@product.command()
@click.argument("name", metavar="PRODUCT")
@click.argument("definition", type=click.File(encoding="utf-8"))
@file_option
@asks_weaver
def add(terminal: Terminal, name: str, definition: IO[str], file: Path) -> None:
    """Add a product to the project file and to the running project; everything else goes on.

    DEFINITION is a YAML file with what would stand below the product's name, or - for the standard input.
    """
    from weft.loading.document import from_text

    read = from_text(definition.read())
    if read.flaws:
        raise click.BadParameter(read.flaws[0].message, param_hint="DEFINITION")
    form = read.value
    if not isinstance(form, dict):
        raise click.BadParameter(
            "It is not a mapping such as {root: users}.", param_hint="DEFINITION"
        )
    add_entry(terminal, file, "products", name, form)


@product.command()
@product_name
@click.option(
    "--against",
    metavar="ADDRESS",
    required=True,
    help="The database: postgresql://user@host/name, or `postgres` for what PGHOST and the like say.",
)
@storage_option
@click.option(
    "-n", "--limit", default=10, show_default=True, help="How many differences are shown."
)
@click.option(
    "--wait",
    default=15.0,
    show_default=True,
    help="For so many seconds, differences may go away: changes are on their way.",
)
@asks_weaver
def check(
    terminal: Terminal, name: str, against: str, storage: str, limit: int, wait: float
) -> None:
    """Compare the documents of a product with what the database's own query gives, and list the differences."""
    from weft.cli.comparison import compare

    found = compare(terminal, name, against, storage, wait_s=wait)
    terminal.show(found.shown(limit), _render_comparison)
    if found.differences:
        raise SystemExit(1)


def _written(key: tuple[str, ...]) -> str:
    """A key as the API takes it."""
    import json

    return json.dumps(list(key)) if len(key) > 1 else key[0]


def _render_comparison(output: Printer, found: dict[str, Any]) -> None:
    from weft.cli.rows import text_of

    output.table(
        ["KEY", "DIFFERENCE", "FIELDS", "HERE", "IN THE DATABASE"],
        (
            [
                ", ".join(map(str, one["key"])),
                one["kind"],
                ", ".join(one["fields"]),
                text_of(one["ours"]),
                text_of(one["theirs"]),
            ]
            for one in found["differences"]
        ),
        empty="",
        gives=("HERE", "IN THE DATABASE"),
    )
    output.line(
        f"{found['documents']} documents, {found['rows']} in the database: "
        + (f"{found['different']} differ." if found["different"] else "all are the same.")
    )


def _render_products(output: Printer, products: list[dict[str, Any]]) -> None:
    output.table(
        ["PRODUCT", "KEY", "KNOT", "TABLES"],
        (
            [one["name"], ", ".join(one["key"]), one["knot"], ", ".join(one["tables"])]
            for one in products
        ),
        empty="There are no products. Declare one under `products:` and deploy it with `weft apply`.",
        gives=("TABLES",),
    )


def _render_product(output: Printer, found: dict[str, Any]) -> None:
    import yaml

    output.fields(
        {
            "product": found["name"],
            "key": ", ".join(found["key"]),
            "tables": ", ".join(found["tables"]),
            "knot": found["knot"],
        }
    )
    output.line()
    output.table(
        ["COLUMN", "TYPE"], ([name, kind] for name, kind in found["columns"].items()), empty=""
    )
    output.line()
    output.line(yaml.safe_dump(found["definition"], sort_keys=False).rstrip())


def _render_document(output: Printer, found: dict[str, Any]) -> None:
    import json

    output.line(json.dumps(found["document"], indent=2, ensure_ascii=False))


def _render_causes(output: Printer, found: dict[str, Any]) -> None:
    from rich.text import Text
    from rich.tree import Tree

    document = found["document"]
    title = f"{document['product']} {'/'.join(document['key'])}, written by knot {document['knot']}"
    tree = Tree(Text(title), guide_style="dim")
    for row in found["rows"]:
        _add_cause(tree, row)
    output.tree(tree)


def _add_cause(tree: Tree, row: dict[str, Any]) -> None:
    from rich.text import Text

    from weft.cli.rows import text_of

    key = ", ".join(f"{name}={text_of(value)}" for name, value in row["key"].items())
    place = f"{row['part']}: " if row["part"] else ""
    node = tree.add(Text(f"{place}{row['table']} {key}"))
    told = [row["at"] or ""]
    told += [f"{name} {row[name]}" for name in ("transaction", "position") if row[name]]
    lines = [f"{CHANGES.get(row['op'], row['op'])} by {row['id']}, knot {row['knot']}"]
    lines += [", ".join(filter(None, told))] if any(told) else []
    lines += [f"{column} is from {brought}" for column, brought in row["kept"].items()]
    for line in lines:
        node.add(Text(line, style="dim"))
    for part in row["parts"]:
        _add_cause(node, part)
