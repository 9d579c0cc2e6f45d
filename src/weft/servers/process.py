"""The process of a server: a command comes in, out comes a process with its log in a file, which ends with the thread
that started it. Used by each of the servers."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

from weft.errors import WeftError
from weft.runtime.java import get_java

READY_S = 60.0
STOP_S = 15.0
LOOK_S = 0.05
LOOPBACK = "127.0.0.1"

LOG4J2 = """\
rootLogger.level=WARN
rootLogger.appenderRef.console.ref=console
appender.console.type=Console
appender.console.name=console
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d %p %c{1} %m%n
"""


class ServerError(WeftError):
    """A server on loopback that does not start, or does not do what it is asked."""

    code = "server.failed"
    domain = "external"


def free_port() -> int:
    """A TCP port of loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(condition: Callable[[], bool], *, what: str, seconds: float = READY_S) -> None:
    """Return as soon as the condition holds; raise TimeoutError with `what` after the time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} within {seconds:g} s")
        time.sleep(LOOK_S)


class ServerProcess:
    """One process with its log in a file; it ends when the thread that started it does."""

    def __init__(
        self, name: str, folder: Path, *, environment: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self._environment = {**os.environ, **(environment or {})}
        self.folder = folder
        self.log = folder / f"{name}.log"
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, *command: str, behind: Sequence[str] = ()) -> None:
        """Run a command to its end, `behind` another that runs it; raises when it fails."""
        with self.log.open("ab") as log:
            code = subprocess.call(
                [*behind, *_tied(command)], stdout=log, stderr=log, cwd=self.folder
            )
        if code != 0:
            raise self.failed(f"`{Path(command[0]).name}` of it ended with {code}")

    def start(self, *command: str, behind: Sequence[str] = ()) -> None:
        """Start a command, in a session of its own that no interrupt of the terminal reaches."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                # To become another user unties a process from its parent, so that comes first.
                [*behind, *_tied(command)],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=self._environment,
                start_new_session=True,
            )

    def wait_for(self, answers: Callable[[], bool], *, seconds: float = READY_S) -> None:
        """Wait until the server answers; it is killed when it does not, and its last words are told."""
        try:
            wait_until(lambda: self._lives() and answers(), what="", seconds=seconds)
        except TimeoutError:
            self.kill()
            raise self.failed(f"it did not answer within {seconds:g} s") from None
        except BaseException:
            self.kill()
            raise

    def _lives(self) -> bool:
        if not self.running:
            raise self.failed("it ended while starting")
        return True

    @property
    def pid(self) -> int | None:
        """The id of the process that was started last."""
        return None if self._process is None else self._process.pid

    @property
    def running(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def send(self, sent: signal.Signals) -> None:
        """Send the process a signal, such as SIGSTOP."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(sent)

    def stop(self, asked: signal.Signals = signal.SIGTERM) -> None:
        """End the process: asked first, then killed."""
        if self._process is None:
            return
        self.send(signal.SIGCONT)
        self.send(asked)
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End the process as a power cut would, and those that it started."""
        if self._process is None or self._process.poll() is not None:
            return
        children = psutil.Process(self._process.pid).children(recursive=True)
        self._process.kill()
        self._process.wait()
        for child in children:
            if child.is_running():
                child.kill()
        psutil.wait_procs(children, timeout=STOP_S)

    def failed(self, how: str) -> ServerError:
        """What went wrong, with the end of the log."""
        return ServerError(
            f"The server {self.name!r} failed: {how}.", hint=f"Its log:\n{self.tail()}"
        )

    def tail(self, lines: int = 30) -> str:
        """The end of the server's log."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


class JavaServer(ServerProcess):
    """A server that is one JVM, with a class path of its own."""

    def __init__(
        self,
        name: str,
        folder: Path,
        *,
        classpath: Sequence[Path],
        heap: str,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(name, folder, environment=environment)
        self._classpath = os.pathsep.join(map(str, classpath))
        self._heap = heap
        (folder / "log4j2.properties").write_text(LOG4J2)

    def run_main(self, main: str, *arguments: str) -> None:
        """Run a main class to its end."""
        self.run(*self._command(main, arguments))

    def start_main(self, main: str, *arguments: str) -> None:
        """Start a main class."""
        self.start(*self._command(main, arguments))

    def _command(self, main: str, arguments: Sequence[str]) -> list[str]:
        # Few minutes of little work: the second compiler and parallel collectors take more than they give.
        return [
            str(get_java()),
            f"-Xmx{self._heap}",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData",
            f"-Dlog4j2.configurationFile={self.folder / 'log4j2.properties'}",
            "-cp",
            self._classpath,
            main,
            *arguments,
        ]


def _tied(command: Sequence[str]) -> list[str]:
    """The command, to be killed by the kernel when this thread ends, where the machine can do that."""
    setpriv = shutil.which("setpriv")
    return [*([setpriv, "--pdeathsig", "KILL"] if setpriv else []), *command]
