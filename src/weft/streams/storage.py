"""Where things lie: the folders of a project's storage, and whose storage it is."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from weft import codec
from weft.errors import WeftError
from weft.locations.location import is_local, locate

PRIVATE = 0o700
"""Records may be anybody's secrets: storage is for the one who runs Weft."""

OWNER = "weft.json"


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

    @property
    def is_local(self) -> bool:
        """Whether it is a folder, of this machine or shared by several."""
        return is_local(self.root)

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
    def home(self) -> Path:
        """The folder in which processes of this machine keep what is theirs, such as logs."""
        if self.is_local:
            return Path(self.root)
        return Path(".weft").absolute() if "://" in self.store else Path(self.store).parent

    @property
    def owner(self) -> Owner | None:
        """The history that this storage belongs to; None while it is new."""
        try:
            written = (locate(self.root) / OWNER).read()
        except FileNotFoundError:
            return None
        return codec.unpack(Owner, json.loads(written))

    def make(self) -> None:
        """Make the folders that are not there, for nobody else's eyes."""
        for folder in (self.root, self.apart):
            if folder is not None and is_local(folder):
                Path(folder).mkdir(parents=True, exist_ok=True, mode=PRIVATE)

    def own(self, history: str) -> None:
        """Say that this storage belongs to a history, durably; refused when it belongs to another one."""
        owner = self.owner
        if owner is None:
            self.make()
            if (locate(self.root) / OWNER).put(json.dumps(codec.pack(Owner(history))).encode()):
                return
            owner = self.owner  # another was faster
        if owner is not None and owner.history != history:
            raise OtherHistoryStorageError(
                f"The streams in {self.root} belong to history {owner.history}, and the weaver's "
                f"store keeps history {history}: it was made anew, or is another project's.",
                hint="Use the storage's own weaver; if its store is lost, run `weft store rebuild`, "
                "which makes it anew from the tables.",
            )
