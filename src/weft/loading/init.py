"""A project to start from: `write` puts a folder on disk that runs on the mock source as it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from weft.errors import WeftError
from weft.loading.load import FILE

_PROJECT = """\
app_name: shop
processing: {parallelism: 2, queue_size: 10000, checkpoint_interval: 1.0}
watermarks: {delay_seconds: 2.0, idle_seconds: 30, max_ahead_seconds: 3600}

streams:
  orders:
    source: {mock: {rate: 100, seed: 7, disorder_ms: 1500, bad_share: 0.01}}
    schema: {id: long, email: string, country: string, total: "decimal(10,2)", at: timestamp}
    key: id
    event_time: at

pipelines:
  clean:
    from: orders
    steps:
      - filter: total > 0
      - set: {email: lower(email)}
      - function: rules:mask_email
    to: clean-orders
  revenue:
    from: clean-orders
    window: {type: tumbling, size_ms: 10000, allowed_lateness_ms: 5000}
    by: [country]
    aggregate: {orders: count(*), revenue: sum(total)}
    sinks: [{console: {}}]
"""

_RULES = '''\
"""The Python functions of this project: a record comes in as a dict, and goes out changed."""


def mask_email(record: dict) -> dict | None:
    """Keep the first letter and the domain of the address; drop records without one."""
    email = record["email"]
    if not email:
        return None
    name, _, domain = email.partition("@")
    return {**record, "email": f"{name[:1]}***@{domain}"}
'''

_README = """\
# shop

Orders from a mock source, cleaned, and their revenue by country every ten seconds.

    weft check     # find what is wrong before it runs
    weft up        # run it; the API is described at http://localhost:8080/docs
    weft stream log clean-orders

`weft.yaml` says what runs. `rules.py` holds the functions that it calls. Everything that Weft
writes is in `.weft/`; delete that folder to start again.
"""

_IGNORED = """\
.weft/
__pycache__/
"""

FILES: Mapping[str, str] = {
    FILE: _PROJECT,
    "rules.py": _RULES,
    "README.md": _README,
    ".gitignore": _IGNORED,
}


class ProjectExistsError(WeftError):
    """A project cannot be written where files of one are."""

    code = "project.exists"
    domain = "conflict"


def write(folder: Path | str) -> list[Path]:
    """Write a project that runs into a folder; refuses to overwrite anything."""
    place = Path(folder)
    there = [name for name in FILES if (place / name).exists()]
    if there or (place.exists() and not place.is_dir()):
        raise ProjectExistsError(
            f"A project cannot be written to {place}: {', '.join(there) or 'a file'} is there.",
            hint="Choose an empty folder: weft init my-project.",
            folder=str(place),
        )
    place.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in FILES.items():
        path = place / name
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written
