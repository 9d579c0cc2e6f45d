"""Whole transactions on real servers: money moves between two tables by concurrent transactions, worker and connector
are killed, and no document that anybody could have read has half of a transaction in it."""

from __future__ import annotations

import threading
from pathlib import Path
from random import Random

import psutil
import yaml

from tests.stack.servers import Kafka
from tests.up import running_up, wait_for
from weft.servers.connect import Connect
from weft.servers.postgres import Postgres

NAME = "bank"
PEOPLE, TURNS, WRITERS = 6, 60, 3
TABLES = f"""
create table checking (id int primary key, amount int not null);
create table saving (id int primary key, amount int not null);
insert into checking select n, 50 from generate_series(1, {PEOPLE}) n;
insert into saving select n, 50 from generate_series(1, {PEOPLE}) n;
"""
TOGETHER = 100


def project(kafka: Kafka) -> dict[str, object]:
    common = {"servers": kafka.servers, "key": "id"}
    columns = {"id": "int", "amount": "int"}
    tables = {
        name: {**common, "topic": f"{NAME}.public.{name}", "columns": columns}
        for name in ("checking", "saving")
    }
    commits = {**common, "topic": f"{NAME}.transaction", "transactions": True}
    saved = {"one": "saving", "on": "id", "fields": {"saved": "amount"}, "inline": True}
    holding = {
        "root": "checking",
        "parts": {"saving": saved},
        "transactions": "commits",
        "sinks": [{"kafka": {"servers": kafka.servers, "topic": f"{NAME}-holdings"}}],
    }
    return {
        "app_name": NAME,
        "processing": {"checkpoint_interval": 0.1},
        "tables": {**tables, "commits": commits},
        "products": {"holding": holding},
    }


def move(postgres: Postgres, seed: int) -> None:
    """Move money from one table to the other and back, each time in one transaction."""
    rng = Random(seed)
    with postgres.connect() as connection:
        for _ in range(TURNS):
            person, amount = rng.randint(1, PEOPLE), rng.randint(-20, 20)
            with connection.transaction():
                statement = "update checking set amount = amount - %s where id = %s"
                connection.execute(statement, (amount, person))
                statement = "update saving set amount = amount + %s where id = %s"
                connection.execute(statement, (amount, person))


def test_no_document_that_was_ever_told_has_half_of_a_transaction(
    tmp_path: Path, kafka: Kafka
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "weft.yaml").write_text(yaml.safe_dump(project(kafka)))
    with (
        Postgres(tmp_path / "postgres") as postgres,
        Connect(tmp_path / "connect", kafka) as connect,
    ):
        postgres.run(TABLES)
        tables = ["public.checking", "public.saving"]
        metadata = {"provide_transaction_metadata": "true"}
        connect.register_postgres(NAME, postgres, tables, **metadata)
        kafka.create_topic(f"{NAME}-holdings", partitions=1)
        with running_up(folder) as (_, up):
            wait_for(lambda: connect.offsets(NAME))
            wait_for(lambda: len(kafka.consume(f"{NAME}-holdings")) >= PEOPLE)
            begun = len(kafka.consume(f"{NAME}-holdings"))
            writers = [
                threading.Thread(target=move, args=(postgres, seed)) for seed in range(WRITERS)
            ]
            for writer in writers:
                writer.start()
            connect.kill()
            connect.start()
            for worker in wait_for(lambda: up.get("/workers").json()):
                psutil.Process(worker["pid"]).kill()
            for writer in writers:
                writer.join()
            wanted = {row[0]: row[1] for row in postgres.run("select id, amount from checking")}

            def newest() -> dict[int, int]:
                told = [one.document for one in kafka.consume(f"{NAME}-holdings")]
                return {row["id"]: row["amount"] for row in told}

            wait_for(lambda: newest() == wanted)
        told = [one.document for one in kafka.consume(f"{NAME}-holdings")]
        assert {row["amount"] + row["saved"] for row in told[begun:]} == {TOGETHER}
