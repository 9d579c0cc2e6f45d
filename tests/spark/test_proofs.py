"""A record is proven by a file that anyone can check without Weft, and by nothing that was changed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.spark.projects import CLEAN, REVENUE, orders, shop
from tests.unit.cli.fake import run as run_command
from tests.unit.cli.test_docs import ROOT, blocks_of
from weft import codec
from weft.canonical import digest, encode
from weft.errors import WeftError
from weft.lineage.facts import DataFile
from weft.lineage.knot import Knot
from weft.lineage.since import parse_since
from weft.streams.storage import Storage
from weft.testing import play
from weft.weaver.knots import line
from weft.weaver.proving import prove
from weft.weaver.store.records import Records, put
from weft.weaver.store.rocks import RocksStore
from weft.weaver.verification import verify_storage

MANY = 700
"""Rows enough for a tree of three levels in one file."""
Change = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script of the docs, as it is written there."""
    (block,) = (b for b in blocks_of(ROOT / "docs/how-to/prove-a-record.md") if b.tag == "python")
    lines = [text for text in block.text.splitlines() if text.strip()]
    assert len(lines) <= 40 and "import weft" not in block.text
    file = tmp_path_factory.mktemp("script") / "check_proof.py"
    file.write_text(block.text)
    return file


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Orders in small knots and a large one, with dead letters, a side stream, windows and a rollback."""
    folder = tmp_path_factory.mktemp("history")
    with play(shop(clean=CLEAN, revenue=REVENUE), storage=folder) as run:
        run.feed("orders", [*orders(0, 12), "no order"])
        run.feed("orders", orders(100, MANY))
        run.attach(stream="clean-orders", steps=[{"filter": "total > 3"}], output="large-orders")
        run.feed("orders", orders(900, 12))
        run.attach(stream="orders", steps=[{"filter": "total > 100"}], id="bad")
        run.feed("orders", orders(1000, 12))
        run.rollback("orders", to=3)
        run.feed("orders", orders(1100, 12))
    return folder


@pytest.fixture(scope="module")
def heads(history: Path) -> dict[str, str]:
    """The newest knot of each line, as it would be published."""
    return {stream: str(knots(history, stream)[-1].hash) for stream in ("orders", "clean-orders")}


def knots(folder: Path, stream: str) -> list[Knot]:
    """The live knots of a stream, oldest first."""
    store = RocksStore(folder / "weaver")
    try:
        found = Records(store).scan(Knot, line(stream), "knot")
        return [knot for knot in found if knot.status == "COMPLETE"]
    finally:
        store.close()


def proof(folder: Path, stream: str, id: str, **asked: Any) -> dict[str, Any]:
    return codec.to_form(prove(Storage(str(folder)), stream, id, **asked))


def check(script: Path, made: dict[str, Any], head: str) -> subprocess.CompletedProcess[str]:
    file = script.with_name("proof.json")
    file.write_text(json.dumps(made))
    # Isolated and without site-packages: nothing of Weft can be imported.
    command = [sys.executable, "-I", "-S", str(script), str(file), head]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def ids(folder: Path, stream: str) -> list[str]:
    import pyarrow.parquet as pq

    files = [file.path for knot in knots(folder, "orders") for file in knot.outputs[stream].files]
    rows = [
        row
        for file in files
        for row in pq.read_table(folder / "streams" / stream / file).to_pylist()
    ]
    return [row["_weft"]["id"] for row in rows]


def test_the_script_of_the_docs_shows_the_record_that_is_proven(
    history: Path, heads: dict[str, str], script: Path
) -> None:
    found = ids(history, "orders")
    assert len(found) > MANY
    for place in (0, 1, 11, 12, 13, 28, 300, len(found) - 1):
        checked = check(script, proof(history, "orders", found[place]), heads["orders"])
        assert checked.returncode == 0, checked.stderr
        assert f"_weft.id = {found[place]}\n" in checked.stdout
        assert checked.stdout.splitlines()[-1].startswith("PROVEN")
    assert "country = " in checked.stdout and "total = " in checked.stdout


def test_every_row_of_a_file_is_proven_by_its_root(history: Path) -> None:
    large = max(knots(history, "orders"), key=lambda knot: knot.outputs["orders"].rows)
    assert all(file.root for file in large.outputs["orders"].files)
    folder = Storage(str(history))
    made = prove(folder, "orders", ids(history, "orders")[400], knot=large.number)
    assert max(len(beside.before) + len(beside.after) for beside in made.path) == 15
    assert len(made.path) == 3


@pytest.mark.parametrize("stream", ["clean-orders", "large-orders", "revenue", "orders.dead"])
def test_side_streams_dead_letters_and_panes_are_proven_too(
    history: Path, script: Path, stream: str
) -> None:
    import pyarrow.parquet as pq

    origin = {"large-orders": "clean-orders", "orders.dead": "orders"}.get(stream, stream)
    live = [knot for knot in knots(history, origin) if stream in knot.outputs]
    file = next(file for knot in live for file in knot.outputs[stream].files)
    row = pq.read_table(history / "streams" / stream / file.path).to_pylist()[0]
    made = proof(history, stream, row["_weft"]["id"])
    checked = check(script, made, str(knots(history, origin)[-1].hash))
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout.endswith(f" wrote it to {stream}\n")


def test_a_proof_leads_to_the_head_that_was_published(
    history: Path, heads: dict[str, str], script: Path
) -> None:
    found = ids(history, "orders")[0]
    published = str(knots(history, "orders")[1].hash)
    made = proof(history, "orders", found, head=published[:12])
    assert len(made["knots"]) == 2 and made["head"] == published
    assert check(script, made, published).returncode == 0
    assert check(script, made, heads["orders"]).returncode != 0


def swap(text: str) -> str:
    """The same hex digits but for one."""
    return ("0" if text[0] != "0" else "1") + text[1:]


def change_record(made: dict[str, Any]) -> None:
    email = b"user".hex() if b"user".hex() in made["record"] else b"User".hex()
    made["record"] = made["record"].replace(email, b"usor".hex(), 1)


def change_column_names(made: dict[str, Any]) -> None:
    made["columns"] = made["columns"].replace("country", "county")


def change_path(made: dict[str, Any]) -> None:
    side = next(side for beside in made["path"] for side in beside.values() if side)
    side[0] = swap(side[0])


def shorten_path(made: dict[str, Any]) -> None:
    made["path"] = made["path"][1:]


def pass_a_node_for_a_record(made: dict[str, Any]) -> None:
    from weft.lineage.fingerprint import hashlib

    first = made["path"].pop(0)
    hashed = hashlib.sha256(bytes.fromhex(made["record"])).hexdigest()
    made["record"] = "ff" * 5 + "".join([*first["before"], hashed, *first["after"]])


def change_knot(made: dict[str, Any]) -> None:
    made["knots"][0] = made["knots"][0].replace('"number":', '"number":1')


def forge_root(made: dict[str, Any]) -> None:
    """A record of one's own in a knot of one's own, which the next knot does not follow."""
    import hashlib

    made["record"] = made["record"].replace(b"ser".hex(), b"sor".hex(), 1)
    hashed = hashlib.sha256(bytes.fromhex(made["record"])).digest()
    root = hashlib.sha256(b"\xff" * 5 + hashed).hexdigest()
    made["path"] = [{"before": [], "after": []}]
    knot = json.loads(made["knots"][0])
    knot["outputs"][made["stream"]]["files"][0]["root"] = root
    made["knots"][0] = encode(knot).decode()


def cut_chain(made: dict[str, Any]) -> None:
    made["knots"] = [made["knots"][0], *made["knots"][2:]]


def end_chain_early(made: dict[str, Any]) -> None:
    made["knots"] = made["knots"][:-1]


def add_a_knot(made: dict[str, Any]) -> None:
    last = json.loads(made["knots"][-1])
    made["knots"].append(encode({**last, "previous_hash": digest(last)}).decode())


def name_another_stream(made: dict[str, Any]) -> None:
    made["stream"] = "orders.dead"


CHANGES: list[Change] = [
    change_record,
    change_column_names,
    change_path,
    shorten_path,
    pass_a_node_for_a_record,
    change_knot,
    forge_root,
    cut_chain,
    end_chain_early,
    add_a_knot,
    name_another_stream,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_proof_that_was_changed_proves_nothing(
    history: Path, heads: dict[str, str], script: Path, change: Change
) -> None:
    made = proof(history, "orders", ids(history, "orders")[40])
    assert check(script, made, heads["orders"]).returncode == 0
    before = json.dumps(made)
    change(made)
    assert json.dumps(made) != before
    checked = check(script, made, heads["orders"])
    assert checked.returncode != 0 and "PROVEN: " not in checked.stdout


def test_another_head_proves_nothing(history: Path, heads: dict[str, str], script: Path) -> None:
    made = proof(history, "orders", ids(history, "orders")[40])
    for head in (swap(heads["orders"]), heads["clean-orders"], heads["orders"][:-1], ""):
        assert check(script, made, head).returncode != 0


@pytest.mark.parametrize(
    ("stream", "id", "asked", "code"),
    [
        ("orders", "orders/0/999999", {}, "record.missing"),
        ("orders", "'; drop\udc80", {}, "record.missing"),
        ("orders", None, {"knot": 99}, "record.missing"),
        ("odrers", "orders/0/0", {}, "stream.missing"),
        ("orders", None, {"head": "12"}, "proof.bad-head"),
        ("orders", None, {"head": "ab" * 32}, "proof.other-head"),
    ],
)
def test_what_cannot_be_proven_is_said(
    history: Path, stream: str, id: str | None, asked: dict[str, Any], code: str
) -> None:
    with pytest.raises(WeftError) as refused:
        prove(Storage(str(history)), stream, id or ids(history, "orders")[0], **asked)
    assert refused.value.code == code


def test_a_head_that_is_older_than_the_record_does_not_prove_it(history: Path) -> None:
    first = str(knots(history, "orders")[0].hash)
    with pytest.raises(WeftError) as refused:
        prove(Storage(str(history)), "orders", ids(history, "orders")[-1], head=first)
    assert refused.value.code == "proof.other-head"


def test_the_command_writes_a_proof_that_the_script_accepts(
    history: Path, heads: dict[str, str], script: Path, tmp_path: Path
) -> None:
    words = ["record", "prove", "orders", ids(history, "orders")[0], "--storage", str(history)]
    done = run_command(*words, "--out", str(tmp_path / "proof.json"))
    assert done.exit_code == 0 and heads["orders"] in done.stdout
    made = json.loads((tmp_path / "proof.json").read_text())
    assert check(script, made, heads["orders"]).returncode == 0
    assert json.loads(run_command(*words).stdout) == made
    refused = run_command(*words, "--out", str(tmp_path / "nowhere" / "proof.json"))
    assert refused.exit_code == 2 and "proof.unwritable" in refused.stderr


def rewrite(folder: Path, change: Callable[[Knot], Knot | None], stream: str = "orders") -> None:
    """Change knots in the store, with checksums as they should be."""
    store = RocksStore(folder / "weaver")
    records = Records(store)
    for knot in list(records.scan(Knot, line(stream), "knot")):
        made = change(knot)
        if made is not None:
            store.apply([put(line(stream), "knot", knot.number, value=made)])
    store.close()


@pytest.fixture
def copy(history: Path, tmp_path: Path) -> Path:
    import shutil

    return shutil.copytree(history, tmp_path / "copy")


def test_a_knot_of_before_files_had_roots_says_so(copy: Path) -> None:
    def without(file: DataFile) -> DataFile:
        return replace(file, root=None)

    def older(knot: Knot) -> Knot:
        outputs = {
            name: replace(output, files=tuple(map(without, output.files)))
            for name, output in knot.outputs.items()
        }
        return replace(knot, outputs=outputs, sealed_form=None)

    rewrite(copy, older)
    with pytest.raises(WeftError) as refused:
        prove(Storage(str(copy)), "orders", ids(copy, "orders")[0])
    assert refused.value.code == "proof.no-root"


def codes(folder: Path, since: str, **options: Any) -> list[str]:
    stream = options.pop("stream", None)
    found = verify_storage(Storage(str(folder)), since=parse_since(since, stream), **options)
    return [finding.code for finding in found.findings]


def test_history_since_a_published_head_is_verified(history: Path, copy: Path) -> None:
    live = knots(history, "orders")
    for knot in live:
        found = verify_storage(Storage(str(history)), since=parse_since(str(knot.hash)))
        assert found.is_clean and f"knot {knot.number} of orders" in found.remarks[0]
    all_files = verify_storage(Storage(str(history))).counts["files"]
    some = verify_storage(Storage(str(history)), since=parse_since(str(live[-1].hash)))
    assert 0 < some.counts["files"] < all_files
    assert codes(history, "ab" * 32) == ["head.unknown"]
    assert codes(history, str(live[-1].number), stream="orders") == []
    assert codes(history, "2020-01-01", deep=True) == []
    assert codes(history, "2999-01-01") == []


def test_a_head_that_was_rolled_back_since_is_told(history: Path) -> None:
    store = RocksStore(history / "weaver")
    gone = [
        k for k in Records(store).scan(Knot, line("orders"), "knot") if k.status == "ROLLED_BACK"
    ]
    store.close()
    assert gone and codes(history, str(gone[0].hash)) == ["head.rolled-back"]


def test_a_history_that_was_written_anew_has_lost_its_head(copy: Path) -> None:
    """Someone who may write everything changes a knot and seals all that follow it: nothing but the head can tell."""
    published = str(knots(copy, "orders")[-1].hash)
    sealed: dict[int, str] = {}

    def forge(knot: Knot) -> Knot | None:
        if knot.sealed_form is None:
            return None
        form = {**knot.sealed_form, "seed": 7}
        form["previous_hash"] = sealed.get(knot.previous or 0)
        sealed[knot.number] = digest(form)
        return Knot.from_dict({**form, "status": knot.status, "hash": digest(form), "reason": None})

    rewrite(copy, forge)
    assert codes(copy, published) != [] and "head.unknown" in codes(copy, published)


def test_files_since_are_read_and_older_ones_are_not(copy: Path) -> None:
    live = knots(copy, "orders")
    first, last = live[0], live[-1]
    damaged = copy / "streams" / "orders" / first.outputs["orders"].files[0].path
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
    assert codes(copy, str(last.hash)) == []
    assert codes(copy, str(first.hash)) == ["file.altered"]


def test_a_root_that_is_not_that_of_the_rows_is_found(copy: Path) -> None:
    def forge(knot: Knot) -> Knot | None:
        files = knot.outputs.get("orders") and knot.outputs["orders"].files
        if not files or knot.sealed_form is None:
            return None
        form = json.loads(encode(knot.sealed_form))
        form["outputs"]["orders"]["files"][0]["root"] = "ab" * 32
        return Knot.from_dict({**form, "status": knot.status, "hash": digest(form), "reason": None})

    rewrite(copy, forge)
    found = verify_storage(Storage(str(copy)), deep=True)
    assert {"file.root", "table.altered"} <= {finding.code for finding in found.findings}
