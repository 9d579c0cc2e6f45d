"""A RocksDB store as it is now, for reading only: also while a weaver has it open, and without changing it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from rocksdict import AccessType, DBRecoveryMode, Options, Rdict

from weft.errors import WeftError
from weft.weaver.store.rocks import RocksStore, StoreDamagedError, check_manifest


class StoreMissingError(WeftError):
    """There is no store in this folder."""

    code = "store.missing"
    domain = "missing"


class RocksSnapshot(RocksStore):
    """A store that follows another process's without touching it; used as a context."""

    def __init__(self, folder: Path) -> None:
        if not (folder / "CURRENT").exists():
            raise StoreMissingError(
                f"There is no weaver's store in {folder}.",
                hint="Name the folder that `weft up` or `weft weaver` was given as `--storage`.",
            )
        check_manifest(folder)
        self._notes = TemporaryDirectory(prefix="weft-")
        options = Options(raw_mode=True)
        # All files at once: a weaver that runs may remove one that it has compacted.
        options.set_max_open_files(-1)
        options.set_paranoid_checks(True)
        options.set_db_log_dir(self._notes.name)
        # Every byte of the log of writes counts; a weaver that starts drops a write that was cut off.
        options.set_wal_recovery_mode(DBRecoveryMode.absolute_consistency())
        try:
            self._db = Rdict(str(folder), options, access_type=AccessType.read_only())
        except Exception as error:
            self._notes.cleanup()
            raise StoreDamagedError(str(error)) from error

    def get(self, key: bytes) -> bytes | None:
        return self._read(key)  # everything is looked at once: nothing is worth keeping

    def __enter__(self) -> RocksSnapshot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        super().close()
        self._notes.cleanup()
