"""The one exception family of Weft, and the one table that says what each domain means at every edge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Domain = Literal["user", "missing", "conflict", "external", "internal"]


class WeftError(Exception):
    """Something could not be done: what, to which thing, why, and what to do about it.

    `code` is stable and dotted, `hint` says what to do next, `ids` names the things involved. Concrete
    classes live beside the code that raises them and only set defaults for these fields.
    """

    code: str = "weft.error"
    domain: Domain = "internal"
    retryable: bool = False

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        domain: Domain | None = None,
        hint: str | None = None,
        retryable: bool | None = None,
        **ids: Any,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.domain = domain or type(self).domain
        self.retryable = type(self).retryable if retryable is None else retryable
        self.hint = hint
        self.ids = {name: value for name, value in ids.items() if value is not None}

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.to_dict()))

    def to_dict(self) -> dict[str, Any]:
        """The fields of this error as the REST body and `--output json` show them."""
        return {
            "code": self.code,
            "domain": self.domain,
            "message": self.message,
            "hint": self.hint,
            "retryable": self.retryable,
            "ids": self.ids,
        }

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> WeftError:
        """The error that `to_dict` wrote down, as a plain WeftError."""
        return _rebuild(WeftError, fields)


def _rebuild(kind: type[WeftError], fields: Mapping[str, Any]) -> WeftError:
    error = kind.__new__(kind)
    WeftError.__init__(
        error,
        fields["message"],
        code=fields.get("code"),
        domain=fields.get("domain"),
        hint=fields.get("hint"),
        retryable=fields.get("retryable"),
        **fields.get("ids", {}),
    )
    return error


@dataclass(frozen=True)
class Meaning:
    """What a domain means where it leaves the program."""

    http_status: int
    exit_code: int


EDGES: Mapping[Domain, Meaning] = {
    "user": Meaning(http_status=422, exit_code=2),
    "missing": Meaning(http_status=404, exit_code=3),
    "conflict": Meaning(http_status=409, exit_code=4),
    "external": Meaning(http_status=503, exit_code=5),
    "internal": Meaning(http_status=500, exit_code=70),
}
