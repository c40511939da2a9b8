"""Hooks for observers, checks and commands: their effects, and containment of their failures."""

import json
from pathlib import Path

import httpx
import pytest
import structlog
from support.commands import run_forked
from support.polling import wait_until
from support.shared_hooks import SHOUT, Plugins, Start, command, shout


def test_hook_observers(plugins: Plugins) -> None:
    source = """
async def watch(record):
    SEEN.append(record)

async def broken(record):
    raise RuntimeError("the secret ingredient is nutmeg")

@hookimpl
def pressroom_observers():
    return [Observer("broken", broken), Observer("watch", watch)]
"""
    host = plugins.start(source, metrics={"token": "abcdef"})
    responses = [
        shout(host),
        shout(host),
        httpx.post(host.url + SHOUT, json={}),
        httpx.post(f"{host.url}/tools/x/api/generate"),
    ]
    metrics = httpx.get(f"{host.url}/metrics", headers={"authorization": "Bearer abcdef"}).text
    host.__exit__(None, None, None)

    records = [record for record in plugins.module.SEEN if not isinstance(record, str)]
    assert [(record.tool, record.code, record.cached) for record in records] == [
        ("shout", "ok", False),
        ("shout", "ok", True),
        ("shout", "validation_error", False),
        ("", "not_found", False),
    ]
    assert [record.request_id for record in records] == [response.headers["x-request-id"] for response in responses]
    assert all(record.duration > 0 for record in records)
    assert [record.run_duration is not None for record in records] == [True, False, False, False]
    assert 'observer="broken"} 4.0' in metrics


def test_an_observer_can_be_a_plain_function(plugins: Plugins) -> None:
    source = """
def note(record):
    SEEN.append(record.code)

def broken(record):
    raise RuntimeError("the secret ingredient is nutmeg")

@hookimpl
def pressroom_observers():
    return [Observer("broken", broken), Observer("note", note)]
"""
    host = plugins.start(source, metrics={"token": "abcdef"})
    with structlog.testing.capture_logs() as logs:
        assert shout(host).status_code == 200
        assert httpx.post(host.url + SHOUT, json={}).status_code == 400
        assert [code for code in plugins.module.SEEN if code in {"ok", "validation_error"}] == [
            "ok",
            "validation_error",
        ]
        metrics = httpx.get(f"{host.url}/metrics", headers={"authorization": "Bearer abcdef"}).text

    assert 'observer="broken"} 2.0' in metrics
    assert 'observer="note"' not in metrics
    failures = [line for line in logs if line["event"] == "a plugin failed"]
    assert [(line["point"], line["name"], line["error"]) for line in failures] == [
        ("observer", "broken", "RuntimeError: the secret ingredient is nutmeg")
    ]


@pytest.mark.timeout(20)
def test_an_observer_that_hangs_delays_neither_responses_nor_the_shutdown(plugins: Plugins) -> None:
    source = """
async def hang(record):
    await asyncio.Event().wait()

@hookimpl
def pressroom_observers():
    return [Observer("hang", hang)]
"""
    host = plugins.start(source, server={"shutdown_timeout": 0.2})

    assert [shout(host, text).status_code for text in "abc"] == [200] * 3
    host.__exit__(None, None, None)


@pytest.mark.timeout(15)
def test_an_abandoned_run_ends_at_the_operators_time_limit(start: Start, tmp_path: Path) -> None:
    host = start(server={"shutdown_timeout": 0.2})
    body = {"gate": str(tmp_path / "gate"), "log": str(tmp_path / "log")}
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{host.url}/tools/gate/api/generate", json=body, timeout=httpx.Timeout(5, read=1))
    wait_until((tmp_path / "log").exists)
    host.__exit__(None, None, None)


def test_hook_checks(plugins: Plugins, tmp_path: Path) -> None:
    plugins.write("""
async def fonts():
    return CheckResult("warning", "no CJK font", hint="install the extra")

async def broken():
    raise RuntimeError("no")

async def nothing():
    pass

@hookimpl
def pressroom_checks():
    return [Check("fonts", fonts), Check("broken", broken), Check("nothing", nothing)]
""")
    completed = command(plugins, tmp_path, "doctor", "--json")

    assert completed.returncode == 1, completed.stderr
    rows = {row["check"]: row for row in json.loads(completed.stdout)["checks"]}
    assert rows[f"{plugins.id}: fonts"]["message"] == "no CJK font"
    assert "RuntimeError: no" in rows[f"{plugins.id}: broken"]["message"]
    assert "NoneType" in rows[f"{plugins.id}: nothing"]["message"]


def test_doctor_names_a_failing_backend_and_brander(plugins: Plugins, tmp_path: Path) -> None:
    plugins.write("""
@hookimpl
def pressroom_backends():
    return [Backend("cache", "odd", lambda settings: 1 / 0)]

@hookimpl
def pressroom_branding():
    return [Brander("odd", lambda branding: 1 / 0)]
""")
    config = "[cache]\nbackend = 'odd'\n[branding]\nbrander = 'odd'\n[auth]\nauthenticators = ['nobody']\n"
    completed = command(plugins, tmp_path, "doctor", "--json", config=config)

    assert completed.returncode == 1, completed.stderr
    rows = {row["check"]: row for row in json.loads(completed.stdout)["checks"]}
    assert "ZeroDivisionError" in rows["branding"]["message"]
    assert "the cache backend 'odd' failed" in rows["stores"]["message"]
    assert "nobody" in rows["authentication"]["message"]
    assert "Traceback" not in completed.stderr


def test_hook_commands(plugins: Plugins, tmp_path: Path) -> None:
    plugins.write("""
import click

@click.command()
@click.argument("text")
def whisper(text):
    click.echo(text.lower())

@hookimpl
def pressroom_commands():
    return [whisper]
""")
    completed = command(plugins, tmp_path, "x", plugins.id, "whisper", "QUIET", run=run_forked)

    assert (completed.returncode, completed.stdout) == (0, "quiet\n")


def test_a_command_that_uses_services_of_the_server_gets_a_clear_error(plugins: Plugins, tmp_path: Path) -> None:
    plugins.write("""
import click

@hookimpl
def pressroom_commands(plugin):
    @click.command()
    def tidy():
        plugin.services.database
    return [tidy]
""")
    completed = command(plugins, tmp_path, "x", plugins.id, "tidy", run=run_forked)

    assert completed.returncode != 0
    assert "the services of the server can be used once it starts" in completed.stderr
    assert "hooks and commands run without a server" in completed.stderr
    assert "Traceback" not in completed.stderr
