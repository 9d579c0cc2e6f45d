"""Whose storage it is: of the history that was first, whoever comes later or at the same time."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from weft.streams.storage import OtherHistoryStorageError, Storage


def test_a_storage_belongs_to_the_history_that_was_first(tmp_path: Path) -> None:
    storage = Storage(str(tmp_path / "new"))
    assert storage.owner is None
    storage.own("one")
    storage.own("one")
    with pytest.raises(OtherHistoryStorageError):
        storage.own("other")
    assert storage.owner is not None and storage.owner.history == "one"


def test_of_histories_that_come_at_once_one_has_it(tmp_path: Path) -> None:
    storage = Storage(str(tmp_path / "new"))
    together = threading.Barrier(4)
    refused: list[str] = []

    def own(history: str) -> None:
        together.wait()
        try:
            storage.own(history)
        except OtherHistoryStorageError:
            refused.append(history)

    threads = [threading.Thread(target=own, args=(str(number),)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert storage.owner is not None
    assert sorted([*refused, storage.owner.history]) == ["0", "1", "2", "3"]
