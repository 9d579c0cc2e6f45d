"""The same nouns at a terminal: `main` is the `weft` command.

Start-up counts here, so what is heavy (HTTP, rendering, SQL, Spark) is imported by the command that needs it.
"""

from weft.cli.root import main

__all__ = ["main"]
