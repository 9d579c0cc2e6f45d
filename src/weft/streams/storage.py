"""Where things lie: the folders of a project's storage, and whose storage it is."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from weft import codec
from weft.errors import WeftError

PRIVATE = 0o700
"""Records may be anybody's secrets: storage is for the one who runs Weft."""


class OtherHistoryStorageError(WeftError):
    """A storage belongs to another store than the one that is used with it."""

    code = "storage.other-history"
    domain = "conflict"


@dataclass(frozen=True)
class Owner:
    """The history whose streams lie in a storage."""

    history: str


@dataclass(frozen=True)
class Storage:
    """The layout below a root, which is a local folder or an object store's address."""

    root: str
    apart: str | None = field(default=None, kw_only=True)
    """The folder or the address of the weaver's store where it does not lie below the root."""

    def table(self, stream: str) -> str:
        """The Delta table of a stream."""
        return f"{self.streams}/{stream}"

    @property
    def streams(self) -> str:
        """The tables of all streams."""
        return f"{self.root}/streams"

    def pipeline(self, pipeline: str) -> str:
        """Everything a pipeline keeps: its checkpoints by epoch, and what its source remembers."""
        return f"{self.pipelines}/{pipeline}"

    @property
    def pipelines(self) -> str:
        """What all pipelines keep."""
        return f"{self.root}/pipelines"

    def checkpoint(self, pipeline: str, epoch: int) -> str:
        """Spark's checkpoint directory of a pipeline; each rollback starts a new epoch."""
        return f"{self.pipeline(pipeline)}/{epoch}"

    def source(self, stream: str) -> str:
        """What the source of a stream keeps: journals, admission logs, fed segments."""
        return f"{self.root}/sources/{stream}"

    def workspace(self, replay: str) -> str:
        """What a replay writes."""
        return f"{self.root}/replays/{replay}"

    @property
    def store(self) -> str:
        """The weaver's own store."""
        return self.apart or f"{self.root}/weaver"

    @property
    def owner(self) -> Owner | None:
        """The history that this storage belongs to; None while it is new."""
        file = Path(self.root) / "weft.json"
        return codec.unpack(Owner, json.loads(file.read_text())) if file.exists() else None

    def make(self) -> None:
        """Make the folder, for nobody else's eyes."""
        Path(self.root).mkdir(parents=True, exist_ok=True, mode=PRIVATE)

    def own(self, history: str) -> None:
        """Say that this storage belongs to a history, durably; refused when it belongs to another one."""
        owner = self.owner
        if owner is None:
            self.make()
            write_durably(Path(self.root) / "weft.json", json.dumps(codec.pack(Owner(history))))
        elif owner.history != history:
            raise OtherHistoryStorageError(
                f"The streams in {self.root} belong to history {owner.history}, and the weaver's "
                f"store keeps history {history}: it was made anew, or is another project's.",
                hint="Use the storage's own weaver; if its store is lost, run `weft store rebuild`, "
                "which makes it anew from the tables.",
            )


def write_durably(path: Path, text: str) -> None:
    """Write a small file so that it is there whole or not at all."""
    building = path.with_name(f".{path.name}.{os.getpid()}.building")
    with building.open("w") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    building.replace(path)
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
