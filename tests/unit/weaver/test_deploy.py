"""What a version of the project that an operation installs finds in the catalog."""

from __future__ import annotations

from tests.unit.weaver.chain import PROJECT, make_weaver, tie
from weft.loading.load import load
from weft.weaver.deploy import install


def test_a_pipeline_that_was_removed_is_declared_again_by_the_version_that_is_installed() -> None:
    weaver = make_weaver()
    tie(weaver, "orders")
    tie(weaver, "clean", consumed={"orders": 1})
    without, _ = weaver.catalog.deploy(load({**PROJECT, "pipelines": {}}))
    weaver.store.apply(without)
    assert [one.name for one in weaver.catalog.pipelines()] == ["orders"]
    install(weaver, load(PROJECT).hash)
    assert [one.name for one in weaver.catalog.pipelines()] == ["clean", "orders"]
    assert weaver.catalog.stream("clean").pipeline == "clean"
    assert not weaver.catalog.stream("clean").dropped
