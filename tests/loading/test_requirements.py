"""Requirements between plugins, and hooks they offer to each other."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from support.compiling import Compile, record_of, statuses
from support.plugin_distributions import BROKEN, Distribution, healthy
from support.plugin_source import SOUND, install_plugin, needing

FIX_FIRST: Final = "fix {0} first: `pressroom plugins show {0}` says what is wrong with it"


def test_requirements_cascade_and_each_record_lists_what_is_missing(tmp_path: Path, compile_with: Compile) -> None:
    installed = [
        needing(tmp_path, "top", "middle"),
        needing(tmp_path, "middle", "bottom", "healthy"),
        needing(tmp_path, "bottom", "absent"),
        needing(tmp_path, "beside", "healthy"),
        healthy(tmp_path),
    ]
    compiled = compile_with(*installed)
    assert statuses(compiled) == {
        "top": "broken",
        "middle": "broken",
        "bottom": "broken",
        "beside": "active",
        "healthy": "active",
    }
    problems = {
        id_: (record_of(compiled, id_).error, record_of(compiled, id_).hint) for id_ in ("top", "middle", "bottom")
    }
    assert problems == {
        "top": ("it needs middle, which is not active", FIX_FIRST.format("middle")),
        "middle": ("it needs bottom, which is not active", FIX_FIRST.format("bottom")),
        "bottom": (
            "it needs absent, which is not active",
            "install the package that offers absent, and add [plugins.absent] to the configuration",
        ),
    }


@pytest.mark.parametrize(
    ("table", "hint"),
    [
        (None, "add [plugins.healthy] to the configuration"),
        ({"enabled": False}, "set enabled = true in [plugins.healthy]"),
        ({"config": {"nothing": "there"}}, FIX_FIRST.format("healthy")),
        ({"distribution": "another"}, FIX_FIRST.format("healthy")),
    ],
)
def test_the_hint_explains_why_a_required_plugin_is_inactive(
    table: dict[str, object] | None, hint: str, tmp_path: Path, compile_with: Compile
) -> None:
    compiled = compile_with(needing(tmp_path, "needy", "healthy"), healthy(tmp_path), plugins={"healthy": table})
    record = record_of(compiled, "needy")
    assert (record.status, record.error, record.hint) == ("broken", "it needs healthy, which is not active", hint)


def test_two_plugins_may_require_each_other(tmp_path: Path, compile_with: Compile) -> None:
    installed = needing(tmp_path, "chicken", "egg"), needing(tmp_path, "egg", "chicken")
    assert statuses(compile_with(*installed)) == {"chicken": "active", "egg": "active"}


@pytest.mark.parametrize("fault", ["hook_raises", "bad_slug", "backend_of_host", "rate_limit_raises", "api_too_new"])
def test_a_required_plugin_that_fails_late_disables_its_dependants(
    fault: str, tmp_path: Path, compile_with: Compile
) -> None:
    compiled = compile_with(
        BROKEN[fault](tmp_path), needing(tmp_path, "needy", fault), needing(tmp_path, "needier", "needy")
    )
    assert statuses(compiled)["needy"] == statuses(compiled)["needier"] == "broken"
    assert record_of(compiled, "needier").error == "it needs needy, which is not active"
    assert list(compiled.catalog.tools) == ["qr-code-generator"]
    assert {contribution.plugin for contribution in compiled.plugins.contributions.of(object)} == {
        "pressroom",
        "qr_code_generator",
    }


def test_worker_processes_run_nothing_of_plugins_that_failed_late(tmp_path: Path, compile_with: Compile) -> None:
    workers = 'For tests.", worker_modules=("json",), worker_setup=("acme.work:ID",)'
    late, needy, fine = (
        install_plugin(tmp_path, id_, SOUND.replace('For tests."', workers.replace("ID", id_) + more) + route)
        for id_, more, route in (
            ("late", "", TAKEN_ROUTE),
            ("needy", ', requires=("late",)', ""),
            ("fine", "", ""),
        )
    )
    compiled = compile_with(late, needy, fine)
    assert statuses(compiled) == {"late": "broken", "needy": "broken", "fine": "active"}
    for_workers = (compiled.plugins.worker_modules, compiled.plugins.worker_setup)
    assert [{id_ for id_, names in by_plugin.items() if names} for by_plugin in for_workers] == [{"fine"}, {"fine"}]


TAKEN_ROUTE = """
async def index(request): ...

@hookimpl
def pressroom_routes():
    return [Route("/tools", index)]
"""

OFFER = """
import pluggy

class Specs:
    @pluggy.HookspecMarker("pressroom")
    def NAME(self, plugin): ...

PLUGIN = Plugin(id="$id", title="Offers", summary="Offers a hook.", hookspecs=Specs)
"""
HOST = SOUND + OFFER.replace("NAME", "article_connectors")


def implementing(site: Path, id_: str, hook: str) -> Distribution:
    return install_plugin(site, id_, f"{SOUND}\n{hook}:\n    return []\n")


def test_a_plugin_may_implement_a_hook_of_another_plugin(tmp_path: Path, compile_with: Compile) -> None:
    hook = "@hookimpl\ndef article_connectors(plugin)"
    compiled = compile_with(install_plugin(tmp_path, "articles", HOST), implementing(tmp_path, "spectre", hook))
    assert statuses(compiled) == {"articles": "active", "spectre": "active"}


@pytest.mark.parametrize(
    ("hook", "error", "hint"),
    [
        (
            "@hookimpl\ndef article_connector()",
            "there is no hook article_connector",
            "did you mean article_connectors?",
        ),
        (
            "@hookimpl\ndef article_connectors(sites)",
            "article_connectors takes sites, which it is not given",
            "the hook takes `plugin`, or nothing",
        ),
        ("@hookimpl\nasync def article_connectors()", "article_connectors is async", "write `def`"),
    ],
)
def test_hooks_of_another_plugin_are_checked_like_the_hosts(
    hook: str, error: str, hint: str, tmp_path: Path, compile_with: Compile
) -> None:
    compiled = compile_with(install_plugin(tmp_path, "articles", HOST), implementing(tmp_path, "spectre", hook))
    record = record_of(compiled, "spectre")
    assert (record.status, record.phase, record.error) == ("broken", "register", error)
    assert hint in record.hint
    assert statuses(compiled)["articles"] == "active"


def test_a_hook_of_a_missing_plugin_is_unknown_unless_optional(tmp_path: Path, compile_with: Compile) -> None:
    compiled = compile_with(
        implementing(tmp_path, "strict", "@hookimpl\ndef article_connectors()"),
        implementing(tmp_path, "lenient", "@hookimpl(optionalhook=True)\ndef article_connectors()"),
        implementing(tmp_path, "misspelt", "@hookimpl(optionalhook=True)\ndef pressroom_chekcs()"),
    )
    assert statuses(compiled) == {"strict": "broken", "lenient": "active", "misspelt": "broken"}


def test_a_plugin_that_must_require_another_for_its_hook_is_reported(tmp_path: Path, compile_with: Compile) -> None:
    hook = "\n@hookimpl\ndef article_connectors():\n    return []\n"
    compiled = compile_with(
        install_plugin(tmp_path, "articles", f"raise ValueError\n{HOST}"),
        needing(tmp_path, "spectre", "articles", more=hook),
    )
    assert record_of(compiled, "spectre").error == "it needs articles, which is not active"


def test_two_plugins_that_offer_the_same_hook_are_both_unused(tmp_path: Path, compile_with: Compile) -> None:
    compiled = compile_with(
        install_plugin(tmp_path, "articles", HOST), install_plugin(tmp_path, "rival", HOST), healthy(tmp_path)
    )
    assert statuses(compiled) == {"articles": "conflict", "rival": "conflict", "healthy": "active"}
    assert record_of(compiled, "rival").error == "articles offers a hook of the same name"
