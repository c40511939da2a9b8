"""Third-party plugins that use the host's shared hooks, each with a tool that writes a text in capitals."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from pressroom.testing import RunningHost

from support import third_party
from support.commands import Done, run_command
from support.server import command_environment

SHOUT = "/tools/shout/api/generate"

Start = Callable[..., RunningHost]

HEAD = (
    third_party.HEAD
    + '''
import asyncio
from contextlib import asynccontextmanager

SEEN = []


@generator(
    slug="shout", name="Shout", summary="Text in capitals.", rate_limit=per_hour(100), produces=("text/plain",),
    executor="async", tags=("loud",), examples=(Example("Hello", {"text": "hello"}),),
)
async def shout(params: ShoutParams, call: Call) -> Artifact:
    """Writes a text in capitals."""
    SEEN.append(params.text)
    return Artifact(f"{params.text.upper()} for {call.caller.subject or 'all'}".encode(), "text/plain")


@hookimpl
def pressroom_generators():
    return [shout]
'''
)

AUTHENTICATOR = """
async def badge(credentials):
    if not credentials.bearer.startswith("badge_"):
        return None
    if credentials.bearer == "badge_void":
        raise Rejected("this badge is no longer valid")
    if credentials.bearer == "badge_broken":
        raise RuntimeError("the secret ingredient is nutmeg")
    return Identity(credentials.bearer, "staff", disabled_tools={"shout"} & {credentials.bearer[6:]})

@hookimpl
def pressroom_authenticators():
    return [Authenticator("badge", badge)]
"""


class Plugins:
    """Writes plugins into a folder on the import path, and keeps the ID of the last one."""

    def __init__(self, folder: Path, start: Start) -> None:
        self.folder = folder
        self._start = start
        self.id = ""

    def write(self, source: str) -> str:
        self.id = third_party.write_plugin(self.folder, HEAD + source)
        return self.id

    def start(self, source: str, **config: Any) -> RunningHost:
        plugins = {self.write(source): {}, **config.pop("plugins", {})}
        return self._start(plugins=plugins, **config)

    @property
    def module(self) -> Any:
        return importlib.import_module(f"{self.id}_module")


def shout(host: RunningHost, text: str = "hello", bearer: str = "", **params: Any) -> httpx.Response:
    headers = {"authorization": f"Bearer {bearer}"} if bearer else {}
    return httpx.post(host.url + SHOUT, json={"text": text, **params}, headers=headers, timeout=30)


def code(response: httpx.Response) -> tuple[int, str]:
    """Return the status and error code of a response, which must be an envelope without secrets."""
    body = response.json()
    assert set(body) == {"ok", "error", "meta", "pressroom"}
    assert response.headers["x-request-id"]
    assert "nutmeg" not in response.text
    return response.status_code, body["error"]["code"]


def status_of(host: RunningHost, plugin: str) -> tuple[str, str, str]:
    (record,) = (record for record in host.host.compiled.plugins.records if record.id == plugin)
    return record.status, record.phase, record.error


def command(
    plugins: Plugins, tmp_path: Path, *arguments: str, config: str = "", run: Callable[..., Done] = run_command
) -> Done:
    (tmp_path / "pressroom.toml").write_text(f"[plugins.{plugins.id}]\n{config}")
    environment = command_environment(tmp_path / "command")
    environment["PYTHONPATH"] += f":{plugins.folder}"
    return run(["--config", str(tmp_path / "pressroom.toml"), *arguments], cwd=tmp_path, env=environment)
