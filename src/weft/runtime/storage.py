"""Where things lie: the folders of a project's storage."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Storage:
    """The layout below a root, which is a local folder or an object store's address."""

    root: str

    def table(self, stream: str) -> str:
        """The Delta table of a stream."""
        return f"{self.root}/streams/{stream}"

    def pipeline(self, pipeline: str) -> str:
        """Everything a pipeline keeps: its checkpoints by epoch, and what its source remembers."""
        return f"{self.root}/pipelines/{pipeline}"

    def checkpoint(self, pipeline: str, epoch: int) -> str:
        """Spark's checkpoint directory of a pipeline; each rollback starts a new epoch."""
        return f"{self.pipeline(pipeline)}/{epoch}"

    def source(self, stream: str) -> str:
        """What the source of a stream keeps: journals, admission logs, fed segments."""
        return f"{self.root}/sources/{stream}"

    @property
    def store(self) -> str:
        """The weaver's own store."""
        return f"{self.root}/weaver"
