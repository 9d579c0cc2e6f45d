"""Checkpoint directories that are cut: from their own past, or from what a knot remembers, never from another's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weft.lineage.identity import Mark
from weft.lineage.offsets import Offsets
from weft.locations.location import locate
from weft.runtime import checkpoints, mark
from weft.runtime.checkpoints import BatchStateGoneError
from weft.runtime.layout import Layout, find_layout, write_layout

MINE = Mark("p", 0, "history", "generation")
NEXT = Mark("p", 1, "history", "generation", knot=3, knot_id="id-3")
AT_2 = Offsets(({"knot": 2},), ({"knot": 3},), {"s": 3})


def begun(folder: Path, whose: Mark = MINE, *, knots: tuple[int, ...] = (1, 2, 3, 4)) -> Path:
    """The directory of a pipeline that has run: a batch for each knot that it consumed."""
    mark.write(str(folder), whose)
    for name in ("offsets", "commits"):
        (folder / name).mkdir()
    for batch, knot in enumerate(knots):
        (folder / "offsets" / str(batch)).write_text(f'v1\n{{}}\n{{"knot": {knot}}}')
        (folder / "commits" / str(batch)).write_text("v1\n{}")
    return folder


def with_state(folder: Path) -> Path:
    store = folder / "state" / "0" / "0"
    store.mkdir(parents=True)
    for version in range(1, 6):
        (store / f"{version}.changelog").write_text(str(version))
        (store / f".{version}.changelog.crc").write_text("")
    for version in (2, 3, 5):
        (store / f"{version}.zip").write_text(str(version))
    write_layout(str(folder), Layout(2, 8))
    return folder


def batches(folder: Path) -> dict[str, list[dict[str, int]]]:
    return {
        file.name: [json.loads(line) for line in file.read_text().splitlines()[2:]]
        for file in sorted((folder / "offsets").iterdir())
    }


def test_a_directory_is_cut_to_a_batch_with_the_state_that_it_left(tmp_path: Path) -> None:
    source = with_state(begun(tmp_path / "0"))
    target = tmp_path / "1"
    checkpoints.cut(locate(source), locate(target), batch=2, offsets=AT_2, mark=NEXT, stateful=True)
    assert batches(target) == {"0": [{"knot": 1}], "1": [{"knot": 2}], "2": [{"knot": 3}]}
    kept = {file.name for file in (target / "state" / "0" / "0").iterdir()}
    assert kept == {"3.zip", "3.changelog", ".3.changelog.crc"}
    assert checkpoints.earliest_state(locate(target)) == 2
    assert mark.find(str(target)) == NEXT
    assert find_layout(str(target)) == Layout(2, 8)
    write_layout(str(target), Layout(4, 8))
    assert find_layout(str(source)) == Layout(2, 8)


@pytest.mark.parametrize(
    "whose",
    [
        None,
        Mark("other", 0, "history", "generation"),
        Mark("p", 0, "another history", "generation"),
    ],
)
def test_a_directory_that_is_gone_or_anothers_is_made_up_for_by_the_knot(
    tmp_path: Path, whose: Mark | None
) -> None:
    source = tmp_path / "0"
    if whose is not None:
        begun(source, whose, knots=(9, 9, 9))
    target = tmp_path / "1"
    with pytest.raises(BatchStateGoneError):
        checkpoints.cut(
            locate(source), locate(target), batch=2, offsets=AT_2, mark=NEXT, stateful=True
        )
    assert not target.exists()
    checkpoints.cut(
        locate(source), locate(target), batch=2, offsets=AT_2, mark=NEXT, stateful=False
    )
    assert batches(target) == {"1": [{"knot": 2}], "2": [{"knot": 3}]}
    assert (target / "commits" / "2").exists()


def test_a_directory_without_a_mark_or_that_stood_elsewhere_is_not_gone_on_from(
    tmp_path: Path,
) -> None:
    unmarked, elsewhere = begun(tmp_path / "0"), begun(tmp_path / "1", knots=(1, 2, 7))
    (unmarked / mark.FILE).unlink()
    for number, source in enumerate((unmarked, elsewhere)):
        target = tmp_path / f"new-{number}"
        checkpoints.cut(
            locate(source), locate(target), batch=2, offsets=AT_2, mark=NEXT, stateful=False
        )
        assert batches(target) == {"1": [{"knot": 2}], "2": [{"knot": 3}]}


def test_before_the_first_batch_nothing_is_needed(tmp_path: Path) -> None:
    target = tmp_path / "1"
    checkpoints.cut(
        locate(tmp_path / "0"), locate(target), batch=None, offsets=None, mark=NEXT, stateful=True
    )
    assert not (target / "offsets").exists()
    checkpoints.cut(
        locate(tmp_path / "0"), locate(target), batch=None, offsets=None, mark=NEXT, stateful=True
    )


def test_two_tries_at_the_same_time_make_one_whole_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = with_state(begun(tmp_path / "0")), tmp_path / "1"
    write, tries = mark.write, [1]

    def slow(folder: str, marked: Mark) -> None:
        if tries.pop():  # a worker that was thought to be gone is at it too, and faster
            tries.append(0)
            checkpoints.cut(
                locate(source), locate(target), batch=2, offsets=AT_2, mark=NEXT, stateful=True
            )
        else:
            tries.append(0)
        write(folder, marked)

    monkeypatch.setattr(checkpoints.marks, "write", slow)
    checkpoints.cut(locate(source), locate(target), batch=2, offsets=AT_2, mark=NEXT, stateful=True)
    assert mark.find(str(target)) == NEXT
    assert (target / "offsets" / "2").exists() and (target / "commits" / "2").exists()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["0", "1"]
