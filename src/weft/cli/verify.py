"""`weft verify`: everything that is recorded against everything that is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from weft.cli import completion
from weft.cli.command import Command, pass_terminal
from weft.cli.service import storage_of, storage_option, store_option
from weft.cli.terminal import Terminal

if TYPE_CHECKING:
    from weft.cli.output import Printer
    from weft.streams.rehash import Rehash


@click.command(cls=Command)
@storage_option
@store_option
@click.option("--deep", is_flag=True, help="Hash every row again, too.")
@click.option(
    "--fast", is_flag=True, help="With --deep: hash by the kernel that wrote the rows, on Spark."
)
@click.option(
    "--since",
    metavar="KNOT|TIME|HASH",
    help="Read only files that were written since, and look for a head that was published in the chain.",
)
@click.option(
    "--stream", shell_complete=completion.streams, help="With --since: read the files of this one."
)
@pass_terminal
def verify(
    terminal: Terminal,
    storage: str,
    store: str | None,
    deep: bool,
    fast: bool,
    since: str | None,
    stream: str | None,
) -> None:
    """Check the store, the chain of knots, the ledgers, the tables and the checkpoints, byte by byte.

    Says what is wrong where, and ends with status 1 if anything is. It reads only, and may run beside a weaver.
    With --deep rows are hashed in Python, on all cores: another implementation than the one that wrote them. With
    --fast it is that one, ten times as fast.

    With --since the chain of knots is checked whole, and of the files those of knots from then on: from a KNOT of the
    STREAM, a TIME, or the head whose HASH `weft stream head` printed, which must still be in the chain.
    """
    from weft.cli.bar import Bar
    from weft.lineage.since import parse_since
    from weft.weaver.verification import verify_storage

    if fast and not deep:
        raise click.UsageError("--fast says how --deep is done; give both.")
    if stream is not None and since is None:
        raise click.UsageError("--stream says whose files --since means; give both.")
    place = storage_of(storage, store)
    with Bar(terminal) as bar:
        found = verify_storage(
            place,
            deep=deep,
            rehash=bar.counting(_rehash(fast, place.root)),
            since=None if since is None else parse_since(since, stream),
            progress=bar.stage,
        )
    terminal.show(found.to_dict(), render_verification)
    if not found.is_clean:
        click.get_current_context().exit(1)


def _rehash(fast: bool, storage: str) -> Rehash:
    if not fast:
        from weft.streams.rehash import plain

        return plain
    from weft.runtime import session
    from weft.streams.kernel_rehash import KernelRehash

    return KernelRehash(session.create("local[*]", app="weft-verify", storage=storage))


def render_verification(output: Printer, found: dict[str, Any]) -> None:
    """The findings, one a line, and what was looked at."""
    from weft.cli.output import plural

    for finding in found["findings"]:
        output.line(f"{finding['where']}: {finding['what']} [{finding['code']}]", style="red")
    if found["findings"]:
        output.line()
    for remark in found["remarks"]:
        output.line(remark)
    counts = found["counts"]
    looked = ", ".join(
        plural(counts.get(name, 0), name[:-1])
        for name in ("streams", "knots", "commits", "files", "rows", "records", "checkpoints")
    )
    if counts.get("expired"):
        output.line(f"The rows of {plural(counts['expired'], 'knot')} are no longer kept.")
    wrong = plural(len(found["findings"]), "finding")
    output.line(f"{'Clean' if found['clean'] else wrong}: {looked}.")
