"""Random histories of rules, crashes, rollbacks and new code, run for real and by the model; every stream must be the
same.

What a history does is told by its seed alone, so that one that went wrong can be run again: `python -m bench.faults
--only histories` says the seeds. Some steps do two things at the same moment; which of them was done, and in which
order, the run says, and the model follows.
"""

from __future__ import annotations

import random
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx

from bench._history_project import BASE, PIPELINES, PROJECT, READS, versions, write_functions
from bench._model import Change, Met, Model, ModelRule, Row
from bench._replays import unverified
from bench._report import Figures, say
from weft.errors import WeftError
from weft.lineage.knot import Knot
from weft.project.definition import Project
from weft.runtime.faults import POINTS
from weft.testing import Play, play, shared_session
from weft.weaver.verification import verify_storage

ACTS = ("feed", "attach", "crash", "rollback", "retire", "promote", "guard", "apply", "both")
WEIGHTS = (30, 18, 8, 10, 4, 6, 6, 4, 14)
BOTH = ("rollbacks", "apply", "retire", "abort")
"""What happens at the same moment as a rollback."""
SETTLE_S = 180.0
SEEDS = range(100)
Asked = Callable[[], httpx.Response]


class History:
    """One random history, in a run and in the model side by side."""

    def __init__(self, run: Play, seed: int, versions: Sequence[Project]) -> None:
        self._run = run
        self._versions = versions
        self._chance = random.Random(seed)
        self._model = Model(PIPELINES)
        self._next = 0
        self._brought: set[str] = set()
        self.told: list[str] = []
        self.wrong: list[str] = []
        """What the run did otherwise than it said."""

    def play(self, acts: int) -> list[str]:
        """Run it; returns what differs at the end."""
        self._feed()
        for _ in range(acts):
            act = self._chance.choices(ACTS, WEIGHTS)[0]
            getattr(self, f"_{act}")()
        self._feed()
        return self.wrong + self._differences() + unverified(self._run, READS, self._chance)

    def _feed(self) -> None:
        rows = [self._row(self._next + n) for n in range(self._chance.randint(1, 12))]
        self._next += len(rows)
        self.told.append(f"feed {len(rows)}")
        self._run.feed("orders", [_record(row) for row in rows])
        self._model.feed(rows)

    def _row(self, number: int) -> Row:
        country = self._chance.choice(("de", "de", "fr"))
        return {"id": number, "email": f"User{number}", "country": country, "second": number}

    def _crash(self) -> None:
        point, visit = self._chance.choice(POINTS), self._chance.randint(1, 4)
        self.told.append(f"crash at {point}:{visit}")
        self._run.crash(point, visit=visit)
        self._feed()
        self._run.resume()

    def _attach(self) -> None:
        sides = [r.output for r in self._model.rules.values() if r.output and r.active]
        stream = self._chance.choice([*READS, *sides])
        name = f"rule-{len(self._model.rules)}"
        panes = stream == "counts"
        steps, change = self._steps(name, panes=panes)
        output = f"side-{name}" if self._chance.random() < 0.3 and not panes else None
        percent = 40.0 if self._chance.random() < 0.3 and not panes else 100.0
        self.told.append(f"attach {name} to {stream}: {steps} {output or ''} {percent:g} %")
        made = self._run.attach(stream=stream, steps=steps, id=name, output=output, percent=percent)
        origin = next((r.origin for r in self._model.rules.values() if r.output == stream), stream)
        self._model.rules[name] = ModelRule(
            name, stream, origin, change, output, percent, made.since
        )

    def _steps(self, name: str, *, panes: bool) -> tuple[list[Any], Change]:
        if panes:
            least = self._chance.randint(1, 4)
            return [{"filter": f"orders >= {least}"}], lambda r: r if r["orders"] >= least else None
        if self._chance.random() < 0.5:
            by, rest = self._chance.randint(2, 5), self._chance.randint(0, 1)
            return [
                {"filter": f"id % {by} != {rest}"}
            ], lambda r: r if r["id"] % by != rest else None
        return (
            [{"set": {"email": f"concat(email, '+{name}')"}}],
            lambda r: {**r, "email": f"{r['email']}+{name}"},
        )

    def _retire(self) -> None:
        rule = self._any_rule()
        if rule is not None:
            self.told.append(f"retire {rule.id}")
            self._run.retire(rule.id)
            self._model.change(rule.id, active=False)

    def _promote(self) -> None:
        rule = self._any_rule()
        if rule is not None and rule.percent < 100:
            self.told.append(f"promote {rule.id}")
            self._run.promote(rule.id, percent=100)
            self._model.change(rule.id, percent=100.0)

    def _any_rule(self) -> ModelRule | None:
        active = [rule for rule in self._model.rules.values() if rule.active]
        return self._chance.choice(active) if active else None

    def _rollback(self) -> None:
        stream, to = self._target()
        bounds = self._bounds()
        keep = _kept(bounds, self._consumed(), stream, to)
        less = {name: knot for name, knot in keep.items() if knot != max(bounds[name], default=0)}
        rules = self._model.rules.values()
        retired = {
            r.id for r in rules if r.active and r.origin in less and r.since > less[r.origin]
        }
        self.told.append(f"roll {stream} back to {to}, without {sorted(retired)}")
        if not bounds[stream]:
            return
        done = self._run.rollback(stream, to=to)
        if set(done["plan"]["retired"]) != retired:
            self.wrong.append(f"retired {done['plan']['retired']}, not {sorted(retired)}")
        kept = {cut["stream"]: cut["keep"] for cut in done["plan"]["cuts"]}
        if kept != keep:
            self.wrong.append(f"kept {kept}, not {keep}")
        self._bring()

    def _guard(self) -> None:
        """A rule that drops rows, and whose guard undoes it when it has met some."""
        stream = self._chance.choice(("orders", "clean-orders"))
        name = f"rule-{len(self._model.rules)}"
        self.told.append(f"attach {name} to {stream}, which breaks its guard")
        steps = [{"filter": "id % 2 = 0"}]
        options = {"guards": ["rows_in < 1"], "on_breach": "rollback"}
        made = self._run.attach(stream=stream, steps=steps, id=name, **options)
        rule = ModelRule(name, stream, stream, _even, since=made.since)
        self._model.rules[name] = rule
        self._feed()
        self._settle()
        if self._rule(name)["status"] == "active":  # its stream got no row
            self._run.retire(name)
        self._model.change(name, active=False)
        self._bring()

    def _both(self) -> None:
        """A rollback, and something else at the same moment."""
        stream, to = self._target()
        if to == 0 and not self._run.knots(stream):
            return
        queue = self._chance.random() < 0.5
        body = {"stream": stream, "to": to, "queue": queue}
        other = self._chance.choice(BOTH)
        said = f"roll {stream} back to {to}{' (queue)' if queue else ''}"
        getattr(self, f"_both_{other}")(said, lambda: self._post("/rollbacks", body))

    def _both_rollbacks(self, said: str, rollback: Asked) -> None:
        stream, to = self._target()
        queue = self._chance.random() < 0.5
        body = {"stream": stream, "to": to, "queue": queue}
        self._at_once(
            f"{said} and {stream} to {to}{' (queue)' if queue else ''}",
            rollback,
            lambda: self._post("/rollbacks", body),
        )
        self._bring()

    def _apply(self) -> None:
        number, apply = self._version()
        self._at_once(f"apply version {number}", apply)
        self._bring()

    def _both_apply(self, said: str, rollback: Asked) -> None:
        number, apply = self._version()
        self._at_once(f"{said} and apply version {number}", rollback, apply)
        self._bring()

    def _version(self) -> tuple[int, Asked]:
        """One of the versions of the project, and what deploys it."""
        number = self._chance.randrange(len(self._versions))
        form = self._versions[number].to_dict()
        return number, lambda: self._run.api.put("/project?recompute=true", json=form)

    def _both_retire(self, said: str, rollback: Asked) -> None:
        rule = self._any_rule()
        if rule is None:
            return
        _, answer = self._at_once(
            f"{said} and retire {rule.id} --now",
            rollback,
            lambda: self._post(f"/rules/{rule.id}/retire?now=true", None),
        )
        self._bring()
        found = self._rule(rule.id)
        if not self._model.rules[rule.id].active:
            return  # the rollback has retired it
        if answer.is_error:
            if found["status"] != "active":
                self.wrong.append(f"{rule.id} is retired, and that was refused: {answer.text}")
            return
        self._model.change(rule.id, active=False)
        # It is retired somewhere among the knots that were woven again: those say themselves.
        for stream in READS:
            for batch, named in enumerate(self._named(stream)):
                met = self._model.was_met(stream, batch, rule=rule.id)
                if met and rule.id not in named:
                    self._model.spare(stream, batch, rule=rule.id)

    def _both_abort(self, said: str, rollback: Asked) -> None:
        def abort() -> httpx.Response:
            open_ones: list[Any] = []
            for _ in range(200):
                open_ones = self._run.api.get("/operations?open=true").json()
                if open_ones:
                    return self._post(f"/operations/{open_ones[0]['id']}/abort", None)
            return self._run.api.get("/health")

        self._at_once(f"{said} and abort it", rollback, abort)
        self._bring()

    def _target(self) -> tuple[str, int]:
        """A stream, and one of its live knots but the newest, or the beginning."""
        stream = self._chance.choice(list(READS))
        numbers = [knot.number for knot in self._run.knots(stream)]
        return stream, self._chance.choice([0, *numbers[:-1]])

    def _at_once(self, said: str, *asked: Asked) -> list[httpx.Response]:
        """Ask for things at the same moment and wait until all is well; what is refused must say why."""
        answers: dict[int, httpx.Response] = {}
        start = threading.Barrier(len(asked))

        def ask(number: int) -> None:
            start.wait()
            answers[number] = asked[number]()

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(len(asked))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._settle()
        found = [answers[number] for number in range(len(asked))]
        codes = [a.json()["code"] if a.is_error else str(a.status_code) for a in found]
        self.told.append(f"{said}: {', '.join(codes)}")
        self.wrong += [f"{said}: {a.text}" for a in found if a.status_code >= 500]
        return found

    def _settle(self) -> None:
        """Wait until no operation is under way and nothing is to be undone, and all is idle."""
        deadline = time.monotonic() + SETTLE_S
        while True:
            self._run.settle(timeout=SETTLE_S)
            left = self._run.api.get("/operations?open=true").raise_for_status().json()
            owed = [r for r in self._run.api.get("/rules").json() if r["to_undo"]]
            if not left and not owed:
                break
            if time.monotonic() > deadline:
                raise TimeoutError(f"not over: {left} {owed}")
            time.sleep(0.02)
        self._run.settle(timeout=SETTLE_S)

    def _bring(self) -> None:
        """Bring the model to what the operations that are over have done, in their order."""
        found = self._run.api.get("/operations").raise_for_status().json()
        new = [one for one in found if one["id"] not in self._brought and one["finished"]]
        for one in sorted(new, key=lambda one: one["finished"]):
            self._brought.add(one["id"])
            self.told.append(f"  {one['id']} is {one['status']}: {one['because'] or ''}")
            if one["status"] != "done":
                continue
            if one["kind"] == "recompute":
                self._model.roll_back({"counts": 0})
            else:
                plan = self._run.api.get(f"/rollbacks/{one['id']}").raise_for_status().json()
                self._bring_rollback(plan["plan"])

    def _bring_rollback(self, plan: dict[str, Any]) -> None:
        kept = {}
        for cut in plan["cuts"]:
            stream, keep = cut["stream"], cut["keep"]
            if cut["revive"]:
                self._model.bring_back(stream, self._met(stream, keep))
            kept[stream] = self._seen(stream, keep)
        since = {cut["stream"]: cut["keep"] for cut in plan["cuts"]}
        for name in plan["retired"]:
            rule = self._model.rules[name]
            if rule.since <= since[rule.origin]:
                self.wrong.append(f"{name} is retired by a rollback to {since[rule.origin]}")
        told = f"{kept}, -{plan['retired']} +{plan['restored']}"
        self.told.append(f"  to micro-batches {told}")
        self._model.roll_back(kept, plan["retired"], plan["restored"])

    def _bounds(self) -> dict[str, dict[int, int]]:
        """How many micro-batches each live knot of each stream has seen the end of."""
        return {
            stream: {k.number: self._seen(stream, k.number) for k in self._run.knots(stream)}
            for stream in READS
        }

    def _consumed(self) -> dict[str, dict[int, int]]:
        """The knot of its input up to which each live knot has read."""
        return {
            stream: {k.number: k.offsets.inputs[source] for k in self._run.knots(stream)}
            for stream, source in READS.items()
            if source is not None
        }

    def _seen(self, stream: str, number: int) -> int:
        """How many micro-batches a knot of a stream has seen the end of, whether it is live or not."""
        if number == 0:
            return 0
        offsets, source = self._knot(stream, number).offsets, READS[stream]
        if source is not None:
            return self._seen(source, offsets.inputs.get(source, 0))
        return int(offsets.end[0]["segment"]) if offsets.end[0] else 0

    def _knot(self, stream: str, number: int) -> Knot:
        form = self._run.api.get(f"/knots/{stream}/{number}").raise_for_status().json()
        return Knot.from_dict(form)

    def _met(self, stream: str, number: int) -> list[Met]:
        """The rules that each micro-batch met in the history that leads to a knot."""
        line: list[Knot] = []
        while number:
            line.append(self._knot(stream, number))
            number = line[-1].previous or 0
        met: list[Met] = []
        for knot in reversed(line):
            rules = tuple(
                replace(self._model.rules[ref.id], percent=ref.percent, active=True)
                for ref in knot.rules
            )
            met += [rules] * (self._seen(stream, knot.number) - len(met))
        return met

    def _named(self, stream: str) -> list[set[str]]:
        """The rules that the live knot of each micro-batch names."""
        knots = self._run.knots(stream)
        return (
            [{rule.id for rule in met} for met in self._met(stream, knots[-1].number)]
            if knots
            else []
        )

    def _rule(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self._run.api.get(f"/rules/{name}").raise_for_status().json()
        return found

    def _post(self, path: str, body: Any) -> httpx.Response:
        return self._run.api.post(path, json=body)

    def _differences(self) -> list[str]:
        expected = self._model.contents()
        wrong = []
        for stream in {*expected, *READS, *(r.output for r in self._model.rules.values())}:
            if stream is None:
                continue
            wanted = sorted(map(_shown, expected.get(stream, [])))
            found = sorted(map(_seen, self._run.rows(stream)))
            if wanted != found:
                more = [row for row in found if row not in wanted]
                less = [row for row in wanted if row not in found]
                wrong.append(f"{stream}: {len(found)} rows, not {len(wanted)}; +{more} -{less}")
        checked = verify_storage(self._run.storage)
        return wrong + [f"{f.where}: {f.what}" for f in checked.findings]


def _kept(
    bounds: dict[str, dict[int, int]], consumed: dict[str, dict[int, int]], stream: str, to: int
) -> dict[str, int]:
    """The knot that a stream and each one below it goes back to."""
    keep = {stream: to}
    for below, source in READS.items():
        if source in keep and below != stream:
            fit = [n for n in bounds[below] if consumed[below][n] <= keep[source]]
            keep[below] = max(fit, default=0)
    return keep


def _even(row: Row) -> Row | None:
    return None if row["id"] % 2 else row


def _record(row: Row) -> dict[str, Any]:
    at = BASE + timedelta(seconds=row["second"])
    return {**{k: row[k] for k in ("id", "email", "country")}, "at": at.isoformat()}


def _shown(row: Row) -> str:
    if "orders" in row:
        return f"{row['start']:06d} {row['country']} {row['orders']}"
    return f"{row['id']:06d} {row['email']} {row['country']}"


def _seen(row: dict[str, Any]) -> str:
    if "window" in row:
        start = int((row["window"]["start"] - BASE).total_seconds())
        return f"{start:06d} {row['country']} {row['orders']}"
    return f"{row['id']:06d} {row['email']} {row['country']}"


def histories(quick: bool) -> Figures:
    """How many of the random histories end with a stream that is not what it should be."""
    seeds, acts = (range(2), 8) if quick else (SEEDS, 10)
    wrong = 0
    for seed in seeds:
        with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch, ExitStack() as stack:
            code = Path(scratch) / "code"
            beside, storage = write_functions(code), Path(scratch) / "storage"
            run = stack.enter_context(
                play(PROJECT, storage=storage, folder=beside, spark=shared_session())
            )
            history = History(run, seed, versions(code))
            try:
                differences = history.play(acts)
            except (WeftError, TimeoutError, httpx.HTTPError) as error:
                differences = [*history.wrong, f"it does not end: {error}"]
        wrong += bool(differences)
        say(f"histories  {seed}: {'wrong' if differences else 'right'}, {len(history.told)} acts")
        if differences:
            say("\n".join([*history.told, *differences]))
    return {"histories": len(seeds), "histories_wrong": wrong}
