"""One byte form for one value: what knots, definitions and rules are hashed and stored as."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import orjson


def encode(value: Any) -> bytes:
    """The canonical JSON of a value: sorted keys, no spaces, UTF-8."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def encode_loosely(value: Any) -> bytes:
    """JSON of a value that may hold what has no canonical form: half characters, objects. Never stored."""
    return json.dumps(value, default=repr).encode()


def decode(data: bytes) -> Any:
    """The value that `encode` wrote."""
    return orjson.loads(data)


def digest(value: Any) -> str:
    """SHA-256 of the canonical form, as 64 hex digits."""
    return hashlib.sha256(encode(value)).hexdigest()
