"""Events in Avro with a registry of schemas, small enough to be written by hand: what a connector would send, and who
would be asked for its schemas."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

VALUE = {
    "type": "record",
    "name": "Value",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "name", "type": ["null", "string"]},
        {
            "name": "total",
            "type": {
                "type": "bytes",
                "scale": 2,
                "precision": 10,
                "connect.name": "org.apache.kafka.connect.data.Decimal",
                "connect.parameters": {"scale": "2", "connect.decimal.precision": "10"},
                "logicalType": "decimal",
            },
        },
        {"name": "at", "type": {"type": "long", "connect.name": "io.debezium.time.MicroTimestamp"}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
    ],
}
ENVELOPE = {
    "type": "record",
    "name": "Envelope",
    "fields": [
        {"name": "before", "type": ["null", VALUE]},
        {"name": "after", "type": ["null", "Value"]},
        {
            "name": "source",
            "type": {
                "type": "record",
                "name": "Source",
                "fields": [
                    {"name": "lsn", "type": ["null", "long"]},
                    {"name": "snapshot", "type": ["null", "string"]},
                ],
            },
        },
        {"name": "op", "type": "string"},
    ],
}


def encode(schema: Any, value: Any, known: dict[str, Any] | None = None) -> bytes:
    """A value in Avro's binary form."""
    known = {} if known is None else known
    schema = known.get(schema, schema) if isinstance(schema, str) else schema
    if isinstance(schema, list):
        place = 0 if value is None else 1
        return encode("long", place) + (encode(schema[1], value, known) if place else b"")
    kind = schema["type"] if isinstance(schema, dict) else schema
    match kind:
        case "long":
            return _number(value)
        case "string":
            return _number(len(value.encode())) + value.encode()
        case "bytes":
            return _number(len(value)) + bytes(value)
        case "array":
            items = b"".join(encode(schema["items"], one, known) for one in value)
            return (_number(len(value)) + items if value else b"") + _number(0)
        case "record":
            known[schema["name"]] = schema
            return b"".join(
                encode(one["type"], value[one["name"]], known) for one in schema["fields"]
            )
    raise AssertionError(kind)


def _number(value: int) -> bytes:
    """A whole number in as few bytes as it needs, the sign last."""
    value = (value << 1) ^ (value >> 63)
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def framed(schema: int, value: bytes) -> bytes:
    """A value as a registry's serializer writes it: a zero, the number of its schema, the value."""
    return b"\0" + schema.to_bytes(4, "big") + value


@dataclass
class FakeRegistry:
    """Answers for the schemas that it has, and counts the questions; it may be away."""

    schemas: dict[int, Any]
    address: str = ""
    asked: list[str] = field(default_factory=list)
    is_away: bool = False


@contextmanager
def registry(schemas: dict[int, Any]) -> Iterator[FakeRegistry]:
    """A registry on loopback."""
    fake = FakeRegistry(schemas)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            fake.asked.append(self.path)
            number = int(self.path.rpartition("/")[2])
            status = 503 if fake.is_away else 200 if number in fake.schemas else 404
            body = json.dumps({"schema": json.dumps(fake.schemas.get(number))}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *said: Any) -> None:
            """Nothing is written to the terminal."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    fake.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
