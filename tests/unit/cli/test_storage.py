"""Where commands take a storage to be: as it is named, with the weaver's store in a folder whatever it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.cli.service import storage_of
from weft.cli.up import _storage
from weft.errors import WeftError
from weft.loading.load import load
from weft.streams.storage import Storage
from weft.weaver.backup import place_of

PROJECT = {"app_name": "shop", "streams": {"a": {"source": {"mock": {}}, "schema": {"n": "long"}}}}


def test_a_folder_has_the_store_in_it_unless_another_is_named(tmp_path: Path) -> None:
    inside = storage_of(str(tmp_path))
    assert (inside.root, inside.store) == (str(tmp_path), f"{tmp_path}/weaver")
    assert storage_of(tmp_path.as_uri()) == inside
    assert storage_of(str(tmp_path), str(tmp_path / "store")).store == f"{tmp_path}/store"


def test_the_store_of_a_bucket_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bucket = storage_of("s3a://shop/weft/")
    assert bucket.root == "s3a://shop/weft"
    assert bucket.store == f"{tmp_path}/.weft/weaver"
    assert bucket.home == tmp_path / ".weft"
    assert storage_of("s3a://shop/weft", str(tmp_path / "store")).store == f"{tmp_path}/store"


def test_an_address_of_no_storage_is_refused() -> None:
    with pytest.raises(WeftError) as caught:
        storage_of("hdfs2://host/x")
    assert caught.value.code == "storage.address"


@pytest.mark.parametrize(
    ("said", "named", "root", "store"),
    [
        (None, None, "{0}/.weft", "{0}/.weft/weaver"),
        ("kept", None, "{0}/kept", "{0}/kept/weaver"),
        ("s3a://b/x", None, "s3a://b/x", "{0}/.weft/weaver"),
        ("s3a://b/x", "s3a://b/y", "s3a://b/y", "{0}/.weft/weaver"),
        ("s3a://b/x", "{0}/named", "{0}/named", "{0}/named/weaver"),
    ],
)
def test_up_goes_by_what_is_named_then_by_the_project(
    tmp_path: Path, said: str | None, named: str | None, root: str, store: str
) -> None:
    project = load({**PROJECT, **({"storage": said} if said else {})})
    named = named.format(tmp_path) if named else None
    found = _storage(project, tmp_path, named, None)
    assert (found.root, found.store) == (root.format(tmp_path), store.format(tmp_path))


def test_a_project_that_is_named_by_a_path_from_here_has_its_storage_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for said, root in ((None, ".weft"), ("kept", "kept")):
        project = load({**PROJECT, **({"storage": said} if said else {})})
        found = _storage(project, Path("shop"), None, None)
        assert found.root == f"{tmp_path}/shop/{root}"


def test_where_a_project_is_stored_is_no_part_of_what_is_deployed() -> None:
    assert load({**PROJECT, "storage": "s3a://b/x"}).hash == load(PROJECT).hash


def test_a_bucket_is_not_copied_as_a_backup() -> None:
    with pytest.raises(WeftError) as caught:
        place_of(Storage("s3a://shop/weft", apart="/tmp/store"), "copy")
    assert caught.value.code == "backup.refused"
