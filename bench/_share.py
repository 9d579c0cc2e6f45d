"""Which keys a rule with a share takes, computed without Spark: its xxhash64 over the rule's id and the key."""

from __future__ import annotations

from weft.weaving.weave import SHARES

_ONE = 0x9E3779B185EBCA87
_TWO = 0xC2B2AE3D27D4EB4F
_THREE = 0x165667B19E3779F9
_FOUR = 0x85EBCA77C2B2AE63
_FIVE = 0x27D4EB2F165667C5
_MASK = 2**64 - 1
_SEED = 42


def share_of(rule: str, key: int) -> int:
    """Where a key lies in the shares of a rule, from 0 to 9,999."""
    hashed = _xxh64(key.to_bytes(8, "little", signed=True), _xxh64(rule.encode(), _SEED))
    return (hashed - 2**64 if hashed >= 2**63 else hashed) % SHARES


def is_taken(rule: str, percent: float, key: int) -> bool:
    """Whether a rule for a share of the keys is for this one."""
    return share_of(rule, key) < round(percent * SHARES / 100)


def _xxh64(data: bytes, seed: int) -> int:
    """XXH64 of fewer than 32 bytes."""
    assert len(data) < 32
    value = (seed + _FIVE + len(data)) & _MASK
    while len(data) >= 8:
        value ^= _round(int.from_bytes(data[:8], "little"))
        value = (_rotated(value, 27) * _ONE + _FOUR) & _MASK
        data = data[8:]
    if len(data) >= 4:
        value ^= int.from_bytes(data[:4], "little") * _ONE & _MASK
        value = (_rotated(value, 23) * _TWO + _THREE) & _MASK
        data = data[4:]
    for byte in data:
        value ^= byte * _FIVE & _MASK
        value = _rotated(value, 11) * _ONE & _MASK
    value = (value ^ value >> 33) * _TWO & _MASK
    value = (value ^ value >> 29) * _THREE & _MASK
    return value ^ value >> 32


def _round(lane: int) -> int:
    return _rotated(lane * _TWO & _MASK, 31) * _ONE & _MASK


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) & _MASK
