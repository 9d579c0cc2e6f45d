"""An updating query: changes of streams are absorbed, the results that they change come out."""

from __future__ import annotations

from functools import cached_property

from weft.products.attach import Assembled
from weft.queries.find import find_query, tasks_of
from weft.runtime.changing import Changing


class Updating(Changing):
    """A join without a window, groups, or first rows."""

    @property
    def tasks(self) -> int:
        return tasks_of(self._spec)

    @cached_property
    def assembled(self) -> Assembled:
        return find_query(self._spec.name, self._run.project)
