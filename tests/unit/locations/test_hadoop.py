"""What Spark is told of a storage: nothing of a folder, and of a bucket what its own clients know."""

from __future__ import annotations

import pytest

from weft.locations.hadoop import settings_for


def test_a_folder_needs_nothing() -> None:
    assert settings_for("/data/shop") == settings_for("file:///data/shop") == {}


def test_another_server_is_asked_by_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000")
    monkeypatch.delenv("AWS_REGION", raising=False)
    found = settings_for("s3a://shop/weft")
    assert found["spark.hadoop.fs.s3a.endpoint"] == "http://127.0.0.1:9000"
    assert found["spark.hadoop.fs.s3a.path.style.access"] == "true"
    assert "spark.hadoop.fs.s3a.endpoint.region" in found


def test_executors_get_the_keys_of_their_driver_and_no_setting_of_hadoops_has_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    found = settings_for("s3a://shop/weft")
    assert [name for name, value in found.items() if value == "hush"] == [
        "spark.executorEnv.AWS_SECRET_ACCESS_KEY"
    ]
