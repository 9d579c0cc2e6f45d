"""The manifest of a RocksDB folder, checked record by record.

RocksDB takes a manifest that breaks off, or whose last record is damaged, for one that ends there: what the lost
records named is no longer part of the database, and its files are deleted at the next opening. So it is checked first.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

BLOCK = 32_768
HEADER = 7
_MASK = 0xA282EAD8
_POLYNOMIAL = 0x82F63B78


def _table() -> list[int]:
    found = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
        found.append(byte)
    return found


_CRC32C = _table()


def find_flaw(folder: Path) -> str | None:
    """What is wrong with the manifest of a database, or None."""
    current = folder / "CURRENT"
    if not current.exists():
        return None
    name = current.read_text(errors="replace").strip()
    path = folder / name
    if not name.startswith("MANIFEST-") or not path.is_file():
        return f"CURRENT names {name[:40]!r}, which is not there"
    return next(_flaws(path.read_bytes(), name), None)


def _flaws(data: bytes, name: str) -> Iterator[str]:
    place = 0
    while place < len(data):
        left = BLOCK - place % BLOCK
        if left < HEADER:
            place += left
            continue
        length = int.from_bytes(data[place + 4 : place + 6], "little")
        end = place + HEADER + length
        if end > len(data) or HEADER + length > left:
            yield f"{name} breaks off in the record at byte {place}"
            return
        if _masked(data[place + 6 : end]) != int.from_bytes(data[place : place + 4], "little"):
            yield f"{name} is damaged in the record at byte {place}"
            return
        place = end
    if not data:
        yield f"{name} is empty"


def _masked(data: bytes) -> int:
    """The checksum of a record as its header has it: CRC-32C of its type and content, rotated and offset."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC32C[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF
