"""Alerts: who outside is told of which events."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from weft.weaver.alerts import TOLD, AlertView, view
from weft.weaver.routes import Answer, Body, Text, UsesWeaver, make_router

router = make_router("alerts")


class AlertBody(Body):
    """An address, the kinds of events that it is told of, and what signatures are made with."""

    url: Text
    secret: Text
    events: Annotated[tuple[Text, ...], Field(max_length=100)] = TOLD


@router.get("/alerts", response_model=list[AlertView])
async def list_alerts(weaver: UsesWeaver) -> Answer:
    """The addresses that are told of events, without their secrets."""
    return Answer([view(alert) for alert in weaver.alerts.all()])


@router.post("/alerts", response_model=AlertView)
async def add_alert(weaver: UsesWeaver, body: AlertBody) -> Answer:
    """Tell an address of events from now on, each as often as it takes until it answers with 2xx."""
    return Answer(view(weaver.alerts.add(body.url, events=body.events, secret=body.secret)))


@router.delete("/alerts/{name}", response_model=AlertView)
async def remove_alert(weaver: UsesWeaver, name: str) -> Answer:
    """Tell an address nothing any longer."""
    return Answer(view(weaver.alerts.remove(name)))
