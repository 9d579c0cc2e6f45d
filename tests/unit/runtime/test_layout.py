"""How state is laid out: what a checkpoint says counts, and another form of state is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weft.runtime.layout import FILE, FORM, Layout, StateFormError, find_layout, layout_of


def test_the_layout_of_a_checkpoint_stays_what_it_was_at_first(tmp_path: Path) -> None:
    assert layout_of(str(tmp_path), Layout(2, 8, FORM)) == Layout(2, 8, FORM)
    assert layout_of(str(tmp_path), Layout(4, 16, FORM)) == Layout(2, 8, FORM)


def test_state_in_another_form_is_not_read(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(json.dumps({"format": 1, "partitions": 2, "buckets": 8}))
    with pytest.raises(StateFormError) as refused:
        layout_of(str(tmp_path), Layout(2, 8, FORM))
    assert refused.value.code == "checkpoint.state-form"
    assert find_layout(str(tmp_path)) == Layout(2, 8, 1)
