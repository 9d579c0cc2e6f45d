"""The address of a store in Cassandra."""

from __future__ import annotations

import pytest

from weft.errors import WeftError
from weft.weaver.store.address import KeyspaceAddress, StoreAddressError


def test_an_address_has_hosts_a_port_and_a_keyspace() -> None:
    address = KeyspaceAddress.parse("cassandra://a, b.example:9043/weft_1")
    assert address == KeyspaceAddress(("a", "b.example"), 9043, "weft_1")
    assert KeyspaceAddress.parse(str(address)) == address
    assert KeyspaceAddress.parse("cassandra://a/weft").port == 9042


def test_a_driver_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.weaver.store.address.find_spec", lambda name: None)
    with pytest.raises(WeftError) as caught:
        KeyspaceAddress.parse("cassandra://a/weft")
    assert caught.value.code == "store.no-driver"


@pytest.mark.parametrize(
    "text",
    [
        "a:9042/weft",
        "mysql://a/weft",
        "cassandra://a",
        "cassandra:///weft",
        "cassandra://a,,b/weft",
        "cassandra://a:port/weft",
        "cassandra://a:0/weft",
        "cassandra://a:70000/weft",
        "cassandra://a/",
        "cassandra://a/Weft",
        "cassandra://a/weft; DROP KEYSPACE weft",
        "cassandra://a/" + "w" * 49,
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(StoreAddressError):
        KeyspaceAddress.parse(text)
