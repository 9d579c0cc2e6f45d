"""Clients that change a running project at the same time: they roll back, attach, promote, retire, apply and abort.

Whatever they do leaves what the kills bench compares as it should be. Rules set columns that nobody compares or write
side streams; the only ones that drop rows have a guard that breaks and rolls them back, and nobody is in its way.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx

from bench._report import say
from tests.faults.cluster import Cluster

LONGEST_ANSWER_S = 150.0
"""A request for an operation waits for 55 s, three times at most; one that takes longer hangs."""
STREAMS = ("orders", "clean-orders", "german", "counts")
DEEPEST = 12
"""So many knots a rollback goes back at most, so that a run gets ahead."""
DIRTY = "drops"
"""How the ids of rules begin that drop rows until their guard breaks."""


class Gate:
    """Open while clients may begin something; closed, they finish what they have begun and wait."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._busy = 0
        self._changed = threading.Condition()

    def open(self) -> None:
        """Let clients begin something."""
        self._open.set()

    def close(self) -> None:
        """Let clients begin nothing more, and wait until they have their answers."""
        self._open.clear()
        with self._changed:
            self._changed.wait_for(lambda: self._busy == 0)

    def __enter__(self) -> None:
        while True:
            self._open.wait()
            with self._changed:
                if self._open.is_set():
                    self._busy += 1
                    return

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._busy -= 1
            self._changed.notify_all()


class Answers:
    """What the weaver answered to all clients."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.errors: list[str] = []
        """Answers that no client should ever get, and requests that were never answered."""
        self._lock = threading.Lock()

    def note(self, act: str, answer: httpx.Response | httpx.TransportError) -> None:
        """Remember an answer, or that there was none because the weaver was killed."""
        with self._lock:
            if isinstance(answer, httpx.TransportError):
                self.counts[f"{act} {type(answer).__name__}"] += 1
                if isinstance(answer, httpx.ReadTimeout):
                    self.errors.append(f"{act}: no answer in {LONGEST_ANSWER_S:.0f} s")
                return
            code = "" if answer.is_success else f" {answer.json().get('code')}"
            self.counts[f"{act} {answer.status_code}{code}"] += 1
            if answer.status_code >= 500 and answer.status_code != 503:
                self.errors.append(f"{act}: {answer.text}")


class Client(threading.Thread):
    """One client: its acts are told by its seed, what comes of them by what the others do."""

    def __init__(
        self,
        cluster: Cluster,
        projects: list[dict[str, Any]],
        *,
        name: str,
        gate: Gate,
        answers: Answers,
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._api = httpx.Client(
            base_url=cluster.address, timeout=LONGEST_ANSWER_S, trust_env=False
        )
        self._projects = projects
        self._chance = random.Random(name)
        self._gate = gate
        self._answers = answers
        self._ended = threading.Event()
        self._made = 0

    def run(self) -> None:
        acts: list[tuple[Callable[[], None], int]] = [
            (self._roll_back, 24),
            (self._roll_back_twice, 12),
            (self._bring_back, 6),
            (self._attach, 14),
            (self._attach_guarded, 14),
            (self._attach_from_past, 6),
            (self._promote, 6),
            (self._retire, 10),
            (self._apply, 14),
            (self._abort, 10),
            (self._retry, 6),
        ]
        while not self._ended.wait(self._chance.uniform(0.2, 3.0)):
            [act] = self._chance.choices([a for a, _ in acts], [weight for _, weight in acts])
            with self._gate, suppress(httpx.TransportError):
                # The weaver may be away, or be killed while this client looks around.
                if not self._ended.is_set() and self._api.get("/health").is_success:
                    act()

    def end(self) -> None:
        """Begin nothing more; the gate must be open."""
        self._ended.set()
        self.join(LONGEST_ANSWER_S)
        self._api.close()

    def _roll_back(self) -> None:
        stream = self._chance.choice(STREAMS)
        self._ask_rollback(stream, self._knot(stream))

    def _roll_back_twice(self) -> None:
        """Two at the same moment, on the same stream or on two."""
        first = self._chance.choice(STREAMS)
        second = self._chance.choice((first, *STREAMS))
        asked = [(stream, self._knot(stream)) for stream in (first, second)]
        with_queue = [self._chance.random() < 0.5 for _ in asked]
        threads = [
            threading.Thread(target=self._ask_rollback, args=(*one, queue))
            for one, queue in zip(asked, with_queue, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _bring_back(self) -> None:
        """Go to a knot that was rolled back, if nothing on the way there has dropped rows."""
        stream = self._chance.choice(STREAMS)
        knots = {knot["number"]: knot for knot in self._knots(stream, limit=100)}
        gone = [n for n, k in knots.items() if k["status"] == "ROLLED_BACK" and k["hash"]]
        if not gone:
            return
        number = to = self._chance.choice(gone[:DEEPEST])
        while number in knots:
            if any(ref["id"].startswith(DIRTY) for ref in knots[number]["rules"]):
                return
            number = knots[number]["previous"] or 0
        self._ask_rollback(stream, to, act="bring back")

    def _ask_rollback(
        self, stream: str, to: int, queue: bool | None = None, *, act: str = "roll back"
    ) -> None:
        if queue is None:
            queue = self._chance.random() < 0.5
        body: dict[str, Any] = {"stream": stream, "to": to, "queue": queue, "author": self.name}
        if self._chance.random() < 0.3:
            body["patience_s"] = 0
        self._ask(f"{act} {'(queue)' if queue else ''}", "POST", "/rollbacks", body)

    def _attach(self) -> None:
        """A rule that sets a column which nobody compares, or writes a side stream."""
        name, stream = self._fresh("notes"), self._chance.choice(STREAMS)
        body = self._rule(name, stream) | {"percent": self._chance.choice((100, 100, 40))}
        if self._chance.random() < 0.4:
            body["output"] = f"side-{name}"
        self._ask("attach", "POST", "/rules", body)

    def _attach_guarded(self) -> None:
        """A rule whose guard breaks at its first knot with records."""
        act = self._chance.choice(("drops", "breaks", "breaks"))
        stream = self._chance.choice(STREAMS[:3] if act == "drops" else STREAMS)
        body = self._rule(self._fresh(DIRTY if act == "drops" else "breaks"), stream)
        body |= {"guards": ["rows_in < 1"]}
        body["on_breach"] = self._chance.choice(("retire", "rollback"))
        if act == "drops":
            body |= {"steps": [{"filter": "id % 2 = 0"}], "on_breach": "rollback"}
        self._ask(f"attach guarded ({body['on_breach']})", "POST", "/rules", body)

    def _attach_from_past(self) -> None:
        """From a past knot on: in place by a rollback, beside by a fill."""
        name, stream = self._fresh("past"), self._chance.choice(STREAMS)
        body = self._rule(name, stream) | {"start": self._knot(stream)}
        if self._chance.random() < 0.6:
            body["output"] = f"side-{name}"
        kind = "fill" if "output" in body else "in place"
        self._ask(f"attach from the past, {kind}", "POST", "/rules", body)

    def _rule(self, name: str, stream: str) -> dict[str, Any]:
        steps = [{"set": {"note": f"'{name}'"}}]
        return {"stream": stream, "id": name, "steps": steps, "author": self.name}

    def _promote(self) -> None:
        rule = self._any_rule()
        if rule is None:
            return
        body: dict[str, Any] = {"percent": self._chance.choice((30, 70, 100))}
        if rule["output"] and self._chance.random() < 0.5:
            body = {"in_place": True}
        self._ask("promote", "POST", f"/rules/{rule['id']}/promote", body)

    def _retire(self) -> None:
        rule = self._any_rule()
        if rule is None:
            return
        now = self._chance.random() < 0.6
        path = f"/rules/{rule['id']}/retire"
        self._ask(f"retire {'--now' if now else ''}", "POST", f"{path}?now={str(now).lower()}")

    def _apply(self) -> None:
        project = self._chance.choice(self._projects)
        recompute = self._chance.random() < 0.7
        path = f"/project?recompute={str(recompute).lower()}"
        self._ask("apply", "PUT", path, project)

    def _abort(self) -> None:
        operation = self._any_operation()
        if operation is not None:
            self._ask("abort", "POST", f"/operations/{operation['id']}/abort")

    def _retry(self) -> None:
        operation = self._any_operation()
        if operation is not None:
            self._ask("retry", "POST", f"/operations/{operation['id']}/retry")

    def _any_rule(self) -> dict[str, Any] | None:
        """An active rule; those that drop rows are left to their guards."""
        rules = self._get("/rules?active=true")
        clean = [rule for rule in rules if not rule["id"].startswith(DIRTY)]
        return self._chance.choice(clean) if clean else None

    def _any_operation(self) -> dict[str, Any] | None:
        """An operation that is not over; what a guard asked for is nobody's to give up."""
        found = self._get("/operations?open=true")
        others = [one for one in found if not one["request"].get("only_live")]
        return self._chance.choice(others) if others else None

    def _knot(self, stream: str) -> int:
        """One of the newest live knots of a stream, seldom the very newest; 0 while it has none."""
        live = [k["number"] for k in self._knots(stream, limit=60) if k["status"] == "COMPLETE"]
        return int(self._chance.choice(live[:DEEPEST])) if live else 0

    def _knots(self, stream: str, *, limit: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._get(f"/knots?stream={stream}&limit={limit}")
        return found

    def _fresh(self, kind: str) -> str:
        self._made += 1
        return f"{kind}-{self.name}-{self._made}"

    def _get(self, path: str) -> Any:
        answer = self._api.get(path)
        if answer.is_error:
            self._answers.note(f"get {path.split('?')[0]}", answer)
            return []
        return answer.json()

    def _ask(self, act: str, method: str, path: str, body: Any = None) -> None:
        answer: httpx.Response | httpx.TransportError
        try:
            answer = self._api.request(method, path, json=body)
        except httpx.TransportError as error:
            answer = error
        self._answers.note(act, answer)
        status = answer.status_code if isinstance(answer, httpx.Response) else "unanswered"
        code = answer.json().get("code", "") if status not in (200, 201, "unanswered") else ""
        said = {k: body[k] for k in ("stream", "to", "id") if k in body} if body else ""
        say(f"{self.name:10} {act} {said or path} {status} {code}")
