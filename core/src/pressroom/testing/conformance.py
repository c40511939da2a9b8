"""Whether a plugin fulfils the contract, as far as a machine can tell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import httpx

from pressroom.catalog.tool import PlanTool
from pressroom.config import Settings
from pressroom.config.models import ToolSettings
from pressroom.host.loaded_app import LoadedApp
from pressroom.plugins.load import LoadedPlugins
from pressroom.sdk import Generator, McpTool
from pressroom.testing.running import RunningHost, settings_for_test

HEAVY_MODULES: Final = frozenset(
    {
        "PIL", "aiohttp", "bokeh", "boto3", "botocore", "cairosvg", "cv2", "fitz", "httpx", "jax", "lxml", "matplotlib",
        "numpy", "openai", "pandas", "playwright", "plotly", "polars", "pyarrow", "pygments", "redis", "reportlab",
        "requests", "resvg_py", "s3fs", "sanic", "scipy", "segno", "selenium", "skia", "sklearn", "sqlalchemy",
        "tensorflow", "thorvg_python", "torch", "transformers", "uharfbuzz", "weasyprint",
    }
)  # fmt: skip
"""Modules that discovery must not import, since the server starts only after it has imported every plugin."""

UNKNOWN_FIELD: Final = "no_such_field_here"
NO_LIMIT: Final = "100000000/hour"
IMPORT_SECONDS: Final = 60


def assert_plugin_conforms(
    plugin_id: str, config: Mapping[str, Any] | None = None, *, host_config: Mapping[str, Any] | None = None
) -> None:
    """Check one installed plugin against the contract. Fails with everything that is wrong with it.

    It must load and contribute something, state its plugin API and load without anything deprecated; its module must
    not import heavy libraries; each tool needs texts that people and models can use. A host is started, in which the
    plugin must start too. Each generator must have an example, run all of them, answer a request that it has seen
    before from the cache, deliver the same file by its URL and as bytes, refuse an unknown field and not fail at a
    value of a wrong type, and have a page.

    `config` is the plugin's own configuration. `host_config` is what else the TOML file would hold, such as the plugins
    that this one requires.

    Raises:
        AssertionError: the plugin breaks the contract; the message lists how.
    """
    given = dict(host_config or {})
    plugins = {**given.get("plugins", {}), plugin_id: {"enabled": True, "config": dict(config or {})}}
    with tempfile.TemporaryDirectory(prefix="pressroom-") as folder:
        settings = settings_for_test({**given, "plugins": plugins}, Path(folder))
        problems = list(_problems(plugin_id, settings))
    if problems:
        raise AssertionError(f"{plugin_id} does not conform:\n" + "\n".join(f"- {problem}" for problem in problems))


def _problems(plugin_id: str, settings: Settings) -> Iterator[str]:
    loaded = LoadedApp(settings).plugins
    if reason := _why_not_active(plugin_id, loaded):
        yield reason
        return
    (record,) = (one for one in loaded.records if one.id == plugin_id and one.status == "active")
    yield from record.warnings
    if not record.contributes:
        yield "it contributes nothing: no hook yields a record"
    yield from _heavy_imports(record.module)
    tools = [one.record for one in loaded.contributions.of(McpTool) if one.plugin == plugin_id]
    generators = [one.record for one in loaded.contributions.of(Generator) if one.plugin == plugin_id]
    for tool in tools:
        yield from _text_problems(tool.name, {"title": tool.title, "description": tool.description})
    for generator in generators:
        texts = {"name": generator.name, "summary": generator.summary, "description": generator.description}
        yield from _text_problems(generator.slug, texts)
        if not generator.examples:
            yield f"{generator.slug}: give at least one example; it is shown on the page and run here"
    yield from _running_problems(plugin_id, _without_limits(settings, generators))


def _why_not_active(plugin_id: str, loaded: LoadedPlugins) -> str:
    found = [record for record in loaded.records if record.id == plugin_id]
    if any(record.status == "active" for record in found):
        return ""
    return "; ".join(
        f"it is {record.status} (phase {record.phase}): {record.error} — {record.hint}" for record in found
    )


def _heavy_imports(module: str) -> Iterator[str]:
    code = (
        "import importlib, json, sys, pressroom.sdk; before = set(sys.modules); "
        f"importlib.import_module({module.partition(':')[0]!r}); "
        "print(json.dumps(sorted({name.partition('.')[0] for name in set(sys.modules) - before})))"
    )
    run = subprocess.run(  # noqa: S603 - the code above
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
        timeout=IMPORT_SECONDS,
    )
    if run.returncode != 0:
        yield f"its module cannot be imported by itself: {run.stderr.strip().rpartition(chr(10))[2]}"
        return
    heavy = sorted(HEAVY_MODULES.intersection(json.loads(run.stdout.splitlines()[-1])))
    if heavy:
        yield f"its module imports {', '.join(heavy)} at discovery; import it inside the function that needs it"


def _text_problems(name: str, texts: Mapping[str, str]) -> Iterator[str]:
    for field, text in texts.items():
        if field in ("name", "title"):
            if not text.strip():
                yield f"{name}: {field} is empty"
        elif len(text.split()) < 2:
            yield f"{name}: {field} is too short to be useful"


def _without_limits(settings: Settings, generators: list[Generator]) -> Settings:
    """Return the settings with the generators' limits out of the way of their examples."""
    tools = dict(settings.tools)
    for generator in generators:
        own = tools.get(generator.slug, ToolSettings())
        tools[generator.slug] = own.model_copy(update={"rate_limit": NO_LIMIT})
    return settings.model_copy(update={"tools": tools})


def _running_problems(plugin_id: str, settings: Settings) -> Iterator[str]:
    with RunningHost(settings) as running, httpx.Client(base_url=running.url, timeout=60) as http:
        compiled = running.host.compiled
        if reason := _why_not_active(plugin_id, compiled.plugins):
            yield reason
            return
        for entry in compiled.catalog.plan("anonymous").generators:
            if entry.tool.info.plugin == plugin_id:
                yield from _GeneratorChecks(entry, http, running.settings.public_url).problems()


class _GeneratorChecks:
    """What one generator does when it is called. Later checks rely on earlier ones."""

    def __init__(self, entry: PlanTool, http: httpx.Client, public_url: str) -> None:
        self._public_url = public_url
        self._slug = entry.tool.name
        self._cached = entry.cache.seconds > 0
        self._generator = entry.tool.declaration
        self._http = http

    def problems(self) -> Iterator[str]:
        """Yield a sentence for each thing that is wrong."""
        if not isinstance(self._generator, Generator) or not self._generator.examples:
            return
        page = self._http.get(f"/tools/{self._slug}")
        if page.status_code != 200:
            yield self._sentence("its page must be shown", page)
        failed = [(one, answer) for one in self._generator.examples if (answer := self._call(one.params)).is_error]
        for example, answer in failed:
            yield self._sentence(f"the example {example.title!r} must succeed", answer)
        if failed:
            return
        body = dict(self._generator.examples[0].params)
        yield from self._delivery_problems(body, self._generator.produces)
        yield from self._input_problems(body, self._generator.params.model_fields)

    def _delivery_problems(self, body: dict[str, Any], produces: tuple[str, ...]) -> Iterator[str]:
        again = self._call(dict(reversed(body.items())))
        if self._cached and not again.json()["data"]["cached"]:
            yield self._sentence("the same request again must come from the cache", again)
        binary = self._call({**body, "response": "binary"})
        if binary.is_error or _media_type(binary) not in produces:
            yield self._sentence("binary must be a file of a declared media type", binary)
        file = self._http.get(again.json()["data"]["url"].removeprefix(self._public_url))
        if file.is_error or (self._cached and file.content != binary.content):
            yield self._sentence("data.url must lead to the same file as binary", file)

    def _input_problems(self, body: Mapping[str, Any], fields: Mapping[str, Any]) -> Iterator[str]:
        unknown = self._call({**body, UNKNOWN_FIELD: 1})
        if unknown.status_code != 400 or UNKNOWN_FIELD not in unknown.text:
            yield self._sentence("an unknown field must be refused by name", unknown)
        for name, field in fields.items():
            wrong = self._call({**body, field.alias or name: [{UNKNOWN_FIELD: []}]})
            if wrong.status_code not in (200, 400):
                yield self._sentence(f"a value of a wrong type for {name} must be refused with 400", wrong)

    def _call(self, body: Mapping[str, Any]) -> httpx.Response:
        return self._http.post(f"/tools/{self._slug}/api/generate", json=dict(body))

    def _sentence(self, rule: str, answer: httpx.Response) -> str:
        told = answer.text[:200] if _media_type(answer).startswith(("text/", "application/json")) else "a file"
        return f"{self._slug}: {rule}; got {answer.status_code} {told}"


def _media_type(answer: httpx.Response) -> str:
    return str(answer.headers.get("content-type", "")).partition(";")[0]
