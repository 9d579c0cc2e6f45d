"""Where a weaver's store lies: a folder, or a keyspace of Cassandra that several weavers share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from weft.errors import WeftError

if TYPE_CHECKING:
    from weft.weaver.store.keyspace import Keyspace

SCHEME = "cassandra://"
PORT = 9042
NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")


class StoreAddressError(WeftError):
    """What was given is not the address of a store."""

    code = "store.bad-address"
    domain = "user"


@dataclass(frozen=True)
class KeyspaceAddress:
    """`cassandra://host1,host2:port/keyspace`."""

    hosts: tuple[str, ...]
    port: int
    keyspace: str

    @classmethod
    def parse(cls, text: str) -> KeyspaceAddress:
        """The address that a text says; raises StoreAddressError, or that there is no driver for it."""
        places, slash, keyspace = text.removeprefix(SCHEME).partition("/")
        names, colon, port = places.partition(":")
        hosts = tuple(name.strip() for name in names.split(","))
        is_port = not colon or (port.isdecimal() and 0 < int(port) < 65536)
        if not text.startswith(SCHEME) or not slash or not all(hosts) or not is_port:
            raise StoreAddressError(
                f"'{text[:200]}' is not the address of a store.",
                hint="Write it as cassandra://HOST,HOST:PORT/KEYSPACE; the port may be left out.",
            )
        if not NAME.fullmatch(keyspace):
            raise StoreAddressError(
                f"'{keyspace[:100]}' cannot be the name of a keyspace.",
                hint="Use lower-case letters, digits and _, beginning with a letter, at most 48 characters.",
            )
        _check_driver()
        return cls(hosts, int(port) if colon else PORT, keyspace)

    def __str__(self) -> str:
        return f"{SCHEME}{','.join(self.hosts)}:{self.port}/{self.keyspace}"


def connect(address: KeyspaceAddress, *, is_made: bool = True) -> Keyspace:
    """A connection to a keyspace."""
    from weft.weaver.store.keyspace import Keyspace

    return Keyspace(address, is_made=is_made)


def _check_driver() -> None:
    """Refuse an address where nothing could connect to it: the driver is installed where a store needs it."""
    if find_spec("cassandra") is None:
        raise WeftError(
            "A store in Cassandra needs its driver, which is not installed.",
            code="store.no-driver",
            domain="user",
            hint="Install it with `pip install 'weft[cassandra]'`.",
        )
