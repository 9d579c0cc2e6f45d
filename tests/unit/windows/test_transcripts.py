"""Window transcripts against the model. `WEFT_TRANSCRIPTS` names one more file of them to run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.unit.windows import transcript

OURS = Path(__file__).with_name("transcripts.yaml")


def load() -> list[Any]:
    """All transcripts but those with a window function of their own, which cannot be declared."""
    paths = [OURS, *(Path(path) for path in [os.environ.get("WEFT_TRANSCRIPTS")] if path)]
    found = [written for path in paths for written in transcript.read(path)]
    return [written for written in found if "Custom" not in str(written.get("window_fn"))]


@pytest.mark.parametrize("written", load(), ids=lambda written: written["name"])
def test_panes_come_as_the_transcript_says(written: dict[str, Any]) -> None:
    if "error" in written:
        with pytest.raises(transcript.MismatchError, match=written["error"]):
            transcript.run(written)
    else:
        transcript.run(written)
