"""The PostgreSQL source: what a project file may say of it, and its records in raw form. They are change events, as the
Debezium source has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from weft.declared.key import Key
from weft.declared.limit import TEXT, Fault, Limit, Mistake, choice, settings, whole
from weft.locations.location import Location
from weft.project.definition import StreamSpec
from weft.schema.change import CHANGE
from weft.schema.schema import Schema
from weft.sources.feed import read_segments
from weft.sources.options import KEEP, Again, Opening, Source
from weft.sources.postgres.address import Address, need_client
from weft.sources.postgres.name import MOST_BYTES, TableName, is_slot, slot_of
from weft.sources.segment import JOURNAL

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from weft.sources.postgres.capture import Capture

_PARTS = ("host", "port", "database", "user")
# Weft says these itself.
_OURS = (
    *("host", "hostaddr", "port", "dbname", "user", "password", "passfile", "service"),
    *("options", "replication", "application_name", "client_encoding"),
)


def _url(value: Any) -> Mistake | None:
    if not isinstance(value, str) or not value.strip():
        return "wrong-type"
    try:
        parts = urlsplit(value)
        known = parts.scheme in ("postgresql", "postgres") and parts.password is None
    except ValueError:
        return "unknown-value"
    plain = value.isprintable() and " " not in value and "password" not in parts.query
    return None if known and plain else "unknown-value"


def _table(value: Any) -> Mistake | None:
    if not isinstance(value, str) or not value.strip():
        return "wrong-type"
    return None if TableName.parse(value) is not None else "unknown-value"


def _slot(value: Any) -> Mistake | None:
    if not isinstance(value, str):
        return "wrong-type"
    return None if is_slot(value) else "unknown-value"


def _name(value: Any) -> Mistake | None:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        return "wrong-type"
    return None if len(value.encode("utf-8", "replace")) <= MOST_BYTES else "unknown-value"


_URL = Limit(
    "an address as in postgresql://app@localhost:5432/shop, without a password",
    _url,
    {"type": "string", "minLength": 1},
)
_TABLES = Limit(
    'a table, or schema and table with a dot between; what has dots in it is in double quotes, as in app."a.b"',
    _table,
    {"type": "string", "minLength": 1},
)
_SLOTS = Limit(
    "a name of at most 63 small letters, digits and _",
    _slot,
    {"type": "string", "minLength": 1, "maxLength": MOST_BYTES},
)
_NAMES = Limit(f"a name of at most {MOST_BYTES} bytes", _name, {"type": "string", "minLength": 1})
_SHOP = {"url": "postgresql://app@localhost/shop"}


@dataclass(frozen=True)
class PostgresSource(Source):
    """Changes of a table of PostgreSQL, read from the database itself.

    [How to make documents of tables](../how-to/data-products.md#without-kafka) shows it, with what the database needs.
    """

    changes: ClassVar[bool] = True

    url: Annotated[
        str | None,
        Key(_URL, "The database's address.", _SHOP["url"], unsaid="`host` and the others say it"),
    ] = None
    host: Annotated[
        str | None,
        Key(TEXT, "The machine that it runs on.", "db.example.com", unsaid="`url`, or localhost"),
    ] = None
    port: Annotated[int | None, Key(whole(1, 65_535), "Its port.", 5433, unsaid="5432")] = None
    database: Annotated[
        str | None, Key(_NAMES, "The database's name.", "shop", unsaid="the user's name")
    ] = None
    user: Annotated[
        str | None, Key(_NAMES, "As whom to connect.", "app", unsaid="who runs the worker")
    ] = None
    password_env: Annotated[
        str | None,
        Key(
            TEXT,
            "The variable of the environment, of weaver and worker, that has the password.",
            "SHOP_PASSWORD",
            unsaid="libpq's own places: `PGPASSWORD`, `~/.pgpass`",
            beside=_SHOP,
        ),
    ] = None
    password_file: Annotated[
        str | None,
        Key(
            TEXT,
            "The file that has the password, from the project's folder on.",
            "/run/secrets/shop",
            unsaid="none",
            beside=_SHOP,
        ),
    ] = None
    table: Annotated[
        str | None,
        Key(
            _TABLES,
            "The table, with its schema if that is not `public`. Capitals count.",
            "app.users",
            unsaid="the stream's name",
            beside=_SHOP,
        ),
    ] = None
    slot: Annotated[
        str | None,
        Key(
            _SLOTS,
            "The replication slot, which is made; each table has one of its own.",
            "weft_users",
            unsaid="`weft_` and the stream's name",
            beside=_SHOP,
        ),
    ] = None
    publication: Annotated[
        str | None,
        Key(
            _NAMES,
            "The publication, which is made if it is not there.",
            "weft_users",
            unsaid="named as the slot",
            beside=_SHOP,
        ),
    ] = None
    when_lost: Annotated[
        Literal["stop", "snapshot"],
        Key(
            choice("stop", "snapshot"),
            "When changes are gone, as the slot is: stop with an error, or read the table anew.",
            "snapshot",
            beside=_SHOP,
        ),
    ] = "stop"
    keep: Annotated[int | None, replace(KEEP, beside=_SHOP)] = None
    client: Annotated[
        Mapping[str, Any],
        Key(
            settings("a mapping of libpq's connection parameters", taken=_OURS),
            "Other parameters of the connection, handed on to libpq as they are.",
            {"sslmode": "verify-full"},
            beside=_SHOP,
        ),
    ] = field(default_factory=dict)

    @staticmethod
    def together(written: Mapping[str, Any]) -> Fault | None:
        """An address is said in one way."""
        for name in _PARTS if "url" in written else ():
            if name in written:
                return Fault("unknown-value", "left out, or in `url`, which says it too", (name,))
        if "password_env" in written and "password_file" in written:
            return Fault("unknown-value", "left out, or `password_env`", ("password_file",))
        return None

    def address(self, stream: str) -> Address:
        """The database, with the stream's name for what goes wrong."""
        said = {"host": self.host, "port": self.port, "dbname": self.database, "user": self.user}
        parameters = {name: value for name, value in said.items() if value is not None}
        if self.url is not None:
            parameters["conninfo"] = self.url
        elif self.host is None:
            parameters["host"] = "localhost"
        return Address({**self.client, **parameters}, self.password_env, self.password_file, stream)

    def table_name(self, stream: str) -> TableName:
        """The table, which has the stream's name where none is said."""
        found = TableName.parse(self.table) if self.table is not None else None
        return found or TableName("public", stream)

    def slot_name(self, stream: str) -> str:
        """The name of the slot."""
        return self.slot or slot_of(stream)

    def capture(self, stream: StreamSpec, folder: Location) -> Capture:
        """What is read, and as what."""
        from weft.sources.postgres.capture import Capture

        own = [one for one in stream.schema if one.name != CHANGE]
        return Capture(
            address=self.address(stream.name),
            table=self.table_name(stream.name),
            slot=self.slot_name(stream.name),
            publication=self.publication or self.slot_name(stream.name),
            columns=Schema(tuple(own)),
            key=stream.key,
            folder=folder,
            restarts=self.when_lost == "snapshot",
        )

    def open(self, spark: SparkSession, stream: StreamSpec, opening: Opening) -> DataFrame:
        """The rows and changes of the table as events in raw form."""
        from weft.sources.postgres.changes import TableChanges
        from weft.sources.spark.pulled import open_pulled

        need_client()
        capture = self.capture(stream, opening.checkpoint)
        return open_pulled(
            spark,
            stream.name,
            lambda: TableChanges(capture),
            folder=opening.checkpoint,
            most=opening.processing.queue_size,
            keep=self.keep,
        )

    def again(self, spark: SparkSession, stream: StreamSpec, asked: Again) -> DataFrame:
        """The events from the journal; the database is not asked."""
        return read_segments(spark, asked.checkpoint / JOURNAL, asked)
