"""Compiles the kernel's Java against the installed PySpark's own jars, and Kafka's client, into one reproducible jar.

`python kernel/build.py [DEST.jar]`; without DEST the jar goes into the package, where the session
looks for it. Called by `make` and by the wheel's build hook. Nothing is compiled again while
sources and PySpark are the same.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "src"
PACKAGE = HERE.parent / "src"
DEFAULT = PACKAGE / "weft" / "runtime" / "weft-kernel.jar"
RELEASE = 17
STAMP = "META-INF/weft-sources.sha256"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the oldest time a zip entry can have: equal sources give equal jars


class BuildError(Exception):
    """The kernel cannot be compiled here; the message is one sentence."""


def build(dest: Path = DEFAULT) -> Path:
    """Compile the kernel into `dest`, unless the jar there was made from the same sources."""
    spark_jars = _find_spark_jars()
    stamp = _hash_sources(spark_jars)
    if dest.exists() and _read_stamp(dest) == stamp:
        return dest
    javac = _find_javac()
    class_path = [str(spark_jars / "*"), *_find_libraries()]
    with tempfile.TemporaryDirectory(prefix="weft-kernel-") as scratch:
        classes = Path(scratch) / "classes"
        _compile(javac, class_path, classes)
        dest.parent.mkdir(parents=True, exist_ok=True)
        # A process that loads the old jar keeps its file: the new one takes its name in one step.
        packed = dest.with_name(f".{dest.name}.{os.getpid()}")
        try:
            _pack(classes, packed, stamp)
            packed.replace(dest)
        finally:
            packed.unlink(missing_ok=True)
    return dest


def _find_spark_jars() -> Path:
    """The folder of PySpark's jars, found without importing it."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise BuildError(
            "The kernel is compiled against PySpark's jars, and PySpark is not installed."
        )
    return Path(spec.origin).parent / "jars"


def _find_libraries() -> list[str]:
    """The jars beside PySpark's that a worker has on its class path, by the package's own lock file."""
    script = "from weft.runtime import jars; print(*jars.find('kafka'), sep='\\n')"
    answer = subprocess.run(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
    )
    if answer.returncode != 0:
        raise BuildError(
            "The kernel needs Kafka's client, and its jar could not be had: see above."
        )
    return answer.stdout.splitlines()


def _find_javac() -> Path:
    """JAVA_HOME's `javac`, else the one on the PATH, of version 17 or newer."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("javac", path=str(Path(home) / "bin") if home else None)
    if found is None:
        raise BuildError(
            f"The kernel needs a JDK {RELEASE} or newer and there is no javac in "
            f"{f'JAVA_HOME ({home})' if home else 'the PATH'}; install one, for instance with "
            "`sudo apt-get install openjdk-17-jdk-headless`."
        )
    answer = subprocess.run([found, "-version"], capture_output=True, text=True, check=False)
    match = re.search(r"javac (?:1\.)?(\d+)", answer.stdout + answer.stderr)
    if match is None or int(match[1]) < RELEASE:
        version = match[1] if match else "unknown"
        raise BuildError(
            f"The kernel needs a JDK {RELEASE} or newer and {found} is version {version}; "
            "install a newer one or set JAVA_HOME to it."
        )
    return Path(found)


def _source_files() -> list[Path]:
    return sorted(path for path in SOURCES.rglob("*") if path.is_file())


def _hash_sources(spark_jars: Path) -> str:
    """One hash of what the jar is made from: this script, the sources, and the jars beside them."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for path in _source_files():
        digest.update(str(path.relative_to(SOURCES)).encode() + b"\0" + path.read_bytes() + b"\0")
    for jar in sorted(spark_jars.glob("spark-*.jar")):
        digest.update(jar.name.encode() + b"\0")
    digest.update((PACKAGE / "weft" / "runtime" / "jars.lock").read_bytes())
    return digest.hexdigest()


def _read_stamp(jar: Path) -> str | None:
    """The hash of the sources that a jar was made from, or None when it says none."""
    try:
        with zipfile.ZipFile(jar) as packed:
            return packed.read(STAMP).decode()
    except (KeyError, zipfile.BadZipFile):
        return None


def _compile(javac: Path, class_path: list[str], classes: Path) -> None:
    """Compile every source file into `classes` and copy the service files beside them."""
    classes.mkdir()
    sources = [str(path) for path in _source_files() if path.suffix == ".java"]
    options = [
        "-proc:none",
        "-Xlint:all,-processing,-classfile,-serial",
        "-encoding",
        "UTF-8",
        "-g",
    ]
    command = [str(javac), "--release", str(RELEASE), *options]
    command += ["-cp", os.pathsep.join(class_path), "-d", str(classes), *sources]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    sys.stderr.write(_without_foreign_warnings(answer.stderr))
    if answer.returncode != 0:
        raise BuildError("The kernel does not compile: see javac's messages above.")
    for path in _source_files():
        if path.suffix != ".java":
            target = classes / path.relative_to(SOURCES)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())


def _without_foreign_warnings(text: str) -> str:
    """javac's messages without those about manifests and annotations inside PySpark's jars."""
    ours = [
        line
        for line in text.splitlines()
        if not line.startswith("warning: [path]") and not re.fullmatch(r"\d+ warnings?", line)
    ]
    return "\n".join(ours) + "\n" if ours else ""


def _pack(classes: Path, dest: Path, stamp: str) -> None:
    """Write the jar, sorted and with one fixed time: equal sources give equal bytes."""
    entries = {
        str(path.relative_to(classes)): path.read_bytes()
        for path in classes.rglob("*")
        if path.is_file()
    }
    entries[STAMP] = stamp.encode()
    entries["META-INF/MANIFEST.MF"] = b"Manifest-Version: 1.0\r\nCreated-By: weft\r\n\r\n"
    with zipfile.ZipFile(dest, "w", zipfile.ZIP_DEFLATED) as jar:
        for name in sorted(entries, key=lambda name: (name != "META-INF/MANIFEST.MF", name)):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            jar.writestr(entry, entries[name])


def main(arguments: list[str]) -> int:
    """Build where told, or into the package; what is wrong is one line and exit status 1."""
    try:
        build(Path(arguments[0]) if arguments else DEFAULT)
    except BuildError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
