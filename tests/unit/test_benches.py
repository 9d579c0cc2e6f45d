"""The benches are run by hand; that they still fit the code they measure is seen at once."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
MODULES = sorted(path.stem for path in BENCH.glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("module", MODULES)
def test_a_bench_finds_what_it_measures(module: str) -> None:
    assert importlib.import_module(f"bench.{module}")
