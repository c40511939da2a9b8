"""Whether a plugin keeps the contract, as far as a machine can tell."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import httpx

from pressroom.config import Settings
from pressroom.host import Compiled
from pressroom.plugins.records import PluginRecord
from pressroom.sdk import Generator, McpTool
from pressroom.testing.plugin import settings_for_test
from pressroom.testing.running import RunningHost

HEAVY_MODULES: Final = ("PIL", "numpy", "httpx", "s3fs", "segno", "pygments", "requests", "pandas", "uharfbuzz")
"""Modules that discovery must not import: the server starts with every plugin's module."""

UNKNOWN_FIELD: Final = "no_such_field_here"


def assert_plugin_conforms(plugin_id: str, config: dict[str, Any] | None = None) -> None:
    """Check one installed plugin against the contract. Fails with everything that is wrong with it.

    It must load; its module must not import heavy libraries; each tool needs texts that people and models can use; a
    generator must have an example, run it, answer it from the cache the second time, and refuse an unknown field. A
    host is started for it. `config` is the plugin's own configuration.

    Raises:
        AssertionError: the plugin breaks the contract; the message lists how.
    """
    with tempfile.TemporaryDirectory(prefix="pressroom-") as folder:
        plugins = {plugin_id: {"enabled": True, "config": config or {}}}
        settings = settings_for_test({"plugins": plugins}, Path(folder))
        problems = _problems(plugin_id, settings)
    if problems:
        raise AssertionError(f"{plugin_id} does not conform:\n" + "\n".join(f"- {problem}" for problem in problems))


def _problems(plugin_id: str, settings: Settings) -> list[str]:
    compiled = Compiled(settings)
    record = next((one for one in compiled.plugins.records if one.id == plugin_id), None)
    if record is None or record.status != "active":
        return [_why_not_active(record)]
    problems = _heavy_imports(record.module)
    contributions = compiled.plugins.contributions
    generators = [one.record for one in contributions.of(Generator) if one.plugin == plugin_id]
    tools = [one.record for one in contributions.of(McpTool) if one.plugin == plugin_id]
    for tool in tools:
        problems += _text_problems(tool.name, {"title": tool.title, "description": tool.description})
    for generator in generators:
        problems += _generator_problems(generator)
    if not problems and generators:
        with RunningHost(settings) as host, httpx.Client(base_url=host.url, timeout=60) as http:
            for generator in generators:
                problems += _behaviour_problems(generator, http)
    return problems


def _why_not_active(record: PluginRecord | None) -> str:
    if record is None:
        return "no installed distribution offers it in the entry-point group pressroom.plugins"
    return f"it is {record.status} (phase {record.phase}): {record.error} — {record.hint}"


def _heavy_imports(module: str) -> list[str]:
    code = (
        "import importlib, json, sys; before = set(sys.modules); "
        f"importlib.import_module({module.partition(':')[0]!r}); "
        "print(json.dumps(sorted({name.partition('.')[0] for name in set(sys.modules) - before})))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - ours
    heavy = sorted(set(json.loads(run.stdout)) & set(HEAVY_MODULES))
    return [f"its module imports {', '.join(heavy)} at discovery; import it inside a function"] if heavy else []


def _text_problems(name: str, texts: dict[str, str]) -> list[str]:
    return [f"{name}: {field} is too short to be useful" for field, text in texts.items() if len(text.split()) < 2]


def _generator_problems(generator: Generator) -> list[str]:
    problems = _text_problems(generator.slug, {"summary": generator.summary, "description": generator.description})
    if not generator.examples:
        problems.append(f"{generator.slug}: give at least one example; it is shown on the page and run here")
    return problems


def _behaviour_problems(generator: Generator, http: httpx.Client) -> list[str]:
    path = f"/tools/{generator.slug}/api/generate"
    problems: list[str] = []

    def check(what: str, holds: bool, response: httpx.Response) -> None:
        if not holds:
            problems.append(f"{generator.slug}: {what}; got {response.status_code} {response.text[:200]}")

    for example in generator.examples:
        answer = http.post(path, json=dict(example.params))
        check(f"the example {example.title!r} must succeed", answer.status_code == 200, answer)
    if problems:
        return problems
    body = dict(generator.examples[0].params)
    again = http.post(path, json=dict(reversed(body.items())))
    check("the same request again must come from the cache", '"cached":true' in again.text, again)
    binary = http.post(path, json={**body, "response": "binary"})
    media_type = binary.headers["content-type"].partition(";")[0]
    check("binary must be one of the declared media types", media_type in generator.produces, binary)
    wrong = http.post(path, json={**body, UNKNOWN_FIELD: 1})
    refused = wrong.status_code == 400 and UNKNOWN_FIELD in wrong.text
    check("an unknown field must be refused by name", refused, wrong)
    return problems
