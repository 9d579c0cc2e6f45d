"""The store on RocksDB: one process owns the folder, every `apply` is synced before it returns."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rocksdict import DBRecoveryMode, Options, Rdict, WriteBatch, WriteOptions

from weft.errors import WeftError
from weft.weaver.store.manifest import find_flaw
from weft.weaver.store.store import (
    StoreConflictError,
    StoreFullError,
    Write,
    check_partition,
)


class StoreBusyError(WeftError):
    """Another process has the store open."""

    code = "store.busy"
    domain = "conflict"


class StoreDamagedError(WeftError):
    """The files of the store are not what was written."""

    code = "store.damaged"
    domain = "internal"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The weaver's store cannot be read: {reason}.",
            hint="Keep a copy of it, then run `weft store rebuild`, which makes it anew from the tables; "
            "or restore a backup with `weft restore`.",
        )


PROBE_BYTES = 1 << 20

RECENT = 512
"""Values that are kept in memory as they were last read or written: every batch asks for the same few."""


class RocksStore:
    """Keys and values as raw bytes in one RocksDB database."""

    takes_long = False

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._is_full = False
        self._db = self._open()
        self._durable = WriteOptions()
        self._durable.sync = True
        self._buffered = WriteOptions()
        self._lock = threading.Lock()
        self._recent: dict[bytes, bytes] = {}

    def _open(self) -> Rdict:
        folder = self._folder
        check_manifest(folder)
        options = Options(raw_mode=True)
        options.create_if_missing(True)
        options.set_keep_log_file_num(2)
        # Everything the weaver reads in a batch is recent: a small cache and table are enough.
        options.set_write_buffer_size(32 * 1024 * 1024)
        options.set_paranoid_checks(True)
        # A write that was cut off by a crash is dropped; anything else that is wrong in the log of writes is damage,
        # which the default would take for the log's end, and with it everything that was acknowledged after it.
        options.set_wal_recovery_mode(DBRecoveryMode.tolerate_corrupted_tail_records())
        try:
            return Rdict(str(folder), options)
        except Exception as error:
            if "lock" not in str(error).lower():
                raise StoreDamagedError(_reason(error)) from error
            raise StoreBusyError(
                f"The store in {folder} is in use by another weaver.",
                hint="Stop the other weaver, or start this one on another folder.",
            ) from error

    def get(self, key: bytes) -> bytes | None:
        recent = self._recent.get(key)
        if recent is not None:
            return recent
        with self._lock:
            value = self._read(key)
            if value is not None:
                self._remember(key, value)
        return value

    def _read(self, key: bytes) -> bytes | None:
        try:
            value: bytes | None = self._db.get(key)
        except Exception as error:
            raise StoreDamagedError(str(error)) from error
        return value

    def _remember(self, key: bytes, value: bytes) -> None:
        self._recent[key] = value
        if len(self._recent) > RECENT:
            del self._recent[next(iter(self._recent))]

    def scan(
        self,
        prefix: bytes,
        *,
        start: bytes | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> Iterator[tuple[bytes, bytes]]:
        cursor = self._db.iter()
        if reverse:
            cursor.seek_for_prev(prefix + b"\xff" if start is None else start)
        else:
            cursor.seek(prefix if start is None else start)
        found = 0
        while cursor.valid():
            key = cursor.key()
            assert isinstance(key, bytes)  # raw mode
            if not key.startswith(prefix):
                return
            yield key, cursor.value()
            found += 1
            if found == limit:
                return
            cursor.prev() if reverse else cursor.next()
        # A cursor that meets damage ends like one that meets the last key; only its status tells.
        try:
            cursor.status()
        except Exception as error:
            raise StoreDamagedError(str(error)) from error

    def apply(
        self,
        writes: Sequence[Write],
        *,
        expect: Mapping[bytes, bytes | None] | None = None,
        durable: bool = True,
    ) -> None:
        check_partition(writes, expect or {})
        batch = WriteBatch(raw_mode=True)
        for write in writes:
            if write.value is None:
                batch.delete(write.key)
            else:
                batch.put(write.key, write.value)
        with self._lock:
            if self._is_full:
                self._reopen()
            for wanted, value in (expect or {}).items():
                if self._read(wanted) != value:
                    raise StoreConflictError(f"Key {wanted!r} was changed by someone else.")
            try:
                self._db.write(batch, write_opt=self._durable if durable else self._buffered)
            except Exception as error:
                refusal = _refused(error)
                self._is_full = isinstance(refusal, StoreFullError)
                raise refusal from error
            for write in writes:
                if write.value is None:
                    self._recent.pop(write.key, None)
                else:
                    self._remember(write.key, write.value)

    def flush(self) -> None:
        try:
            self._db.flush_wal(True)
        except Exception as error:
            raise _refused(error) from error

    def close(self) -> None:
        self._db.close()

    def _reopen(self) -> None:
        """Open the database again, which takes no write after one that had no room, once there is room."""
        probe = self._folder.with_name(f".{self._folder.name}.probe")
        try:
            probe.write_bytes(bytes(PROBE_BYTES))
        except OSError as error:
            raise _refused(error) from error
        finally:
            probe.unlink(missing_ok=True)
        with contextlib.suppress(Exception):  # it says once more that it had no room
            self._db.close()
        self._db = self._open()
        self._recent.clear()
        self._is_full = False


def check_manifest(folder: Path) -> None:
    """Refuse a store whose manifest is damaged, before RocksDB opens it and deletes what it no longer names."""
    flaw = find_flaw(folder)
    if flaw is not None:
        raise StoreDamagedError(flaw)


def _refused(error: Exception) -> WeftError:
    """What is said of a write that RocksDB does not take."""
    reason = _reason(error)
    if "No space left" in reason or "File too large" in reason:
        return StoreFullError(
            "The weaver's store cannot be written: its disk is full.",
            hint="Make room; workers wait and go on by themselves.",
        )
    return StoreDamagedError(reason)


def _reason(error: Exception) -> str:
    return str(error).strip().rstrip(".")
