"""Installation: from wheels, with pip from the repository, and with make in a bare clone."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.distributions import Built, Environment, clean_environment, copy_repository, projects
from support.needs import free_port, program
from support.plugin_names import plugins
from support.sizes import SOAK

STATUSES = dict.fromkeys((plugin.folder for plugin in plugins()), "active")
BASE_PYTHON = getattr(sys, "_base_executable", sys.executable)

MAX_INSTALL_SECONDS = 780.0
"""Seconds that `make serve` may take until its server responds: less than the test's own limit, to allow cleanup."""


pytestmark = pytest.mark.timeout(600)  # the first test installs everything with a cold cache


def check_the_server(url: str) -> None:
    """Make a QR code and favicons, one of them Japanese, and load a page with its style sheet."""
    body = {"text": "https://example.com/", "size": 300}
    with httpx.Client(base_url=url, timeout=30) as http:
        qr_code = called(http, "/tools/qr-code-generator/api/generate", body)
        assert http.get(qr_code["url"]).content.startswith(b"\x89PNG\r\n\x1a\n")
        for content in ("P", "日"):
            favicon = called(http, "/tools/favicon-generator/api/generate", {"content": content})
            assert http.get(favicon["url"]).content.startswith(b"PK")
        page = http.get("/tools/qr-code-generator").text
        styles = re.findall(r'href="([^"]+\.css[^"]*)"', page)
        assert styles
        assert [http.get(style).status_code for style in styles] == [200] * len(styles)


def called(http: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a tool's response.

    The first call triggers imports that have never been compiled. If that exceeds the tool's time limit, as on a busy
    machine, the server responds with 503, and this function retries.
    """
    response = http.post(path, json=body)
    for _ in range(9):
        if response.status_code != httpx.codes.SERVICE_UNAVAILABLE:
            break
        response = http.post(path, json=body)
    assert response.status_code == 200, response.text
    data: dict[str, Any] = response.json()["data"]
    return data


def required_to_build(repository: Path) -> set[str]:
    """Return the build requirements that all packages of the repository declare."""
    pyprojects = [
        tomllib.loads((repository / project / "pyproject.toml").read_text()) for project in projects(repository)
    ]
    (required,) = {tuple(pyproject["build-system"]["requires"]) for pyproject in pyprojects}
    return set(required)


def statuses(environment: Environment) -> dict[str, str]:
    listed = json.loads(environment.pressroom("plugins", "list", "--json").stdout)
    return {record["id"]: record["status"] for record in listed}


def stop(process: subprocess.Popen[str]) -> None:
    """Stop make and its server with SIGINT to both, as Ctrl-C in a terminal does. Kill them if they do not exit."""
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise


def test_the_wheels_make_a_server_that_works(installed: Environment) -> None:
    assert re.fullmatch(r"pressroom \d+\.\d+\.\d+\n", installed.pressroom("--version").stdout)
    assert statuses(installed) == STATUSES
    assert installed.pressroom("doctor", check=False).returncode == 0
    with installed.serving() as url:
        check_the_server(url)


def test_the_installed_host_makes_plugins(installed: Environment, tmp_path: Path) -> None:
    installed.pressroom("new", "my-tool", "--into", tmp_path)
    assert (tmp_path / "pressroom-my-tool/src/pressroom_my_tool/plugin.py").is_file()


def test_the_host_alone_says_what_it_lacks(built: Built, tmp_path: Path) -> None:
    environment = Environment(tmp_path / "alone")
    environment.install(built.wheels["core"])
    assert statuses(environment) == {}
    refused = environment.pressroom("new", "my-tool", "--into", tmp_path, check=False)
    assert refused.returncode == 1
    assert refused.stderr == (
        "Error: making a plugin needs cookiecutter, which is not installed\n"
        "run: python -m pip install 'pressroom[template]'\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["alone"]


@pytest.mark.timeout(900)
def test_pip_installs_the_host_and_all_built_in_plugins_from_the_repository(repository: Path, tmp_path: Path) -> None:
    environment = Environment(tmp_path / "pip", with_pip=True)
    options = ["--quiet", "--no-compile"]
    if not SOAK:
        # pip would create an environment with the build requirements of each package. They are all the same, so one is
        # enough. Runtime dependencies are already installed as locked.
        environment.install(*required_to_build(repository), "-r", repository / ".lock" / "runtime.txt")
        options += ["--no-build-isolation", "--check-build-dependencies"]
    environment.run_tool(environment.bin / "python", "-m", "pip", "install", *options, repository, timeout=600)
    assert statuses(environment) == STATUSES
    with environment.serving() as url:
        check_the_server(url)


@pytest.mark.timeout(900)
def test_make_serve_works_in_a_bare_clone(tmp_path: Path) -> None:
    clone = copy_repository(tmp_path / "clone")
    port = free_port()
    variables = clean_environment(
        PRESSROOM_STORAGE__PATH=str(tmp_path / "data"),
        PRESSROOM_SERVER__PORT=str(port),
        PIP_NO_COMPILE="1",  # Python compiles only what the server imports, a quarter of what is installed
    )
    log_file = tmp_path / "make.log"
    with (
        log_file.open("w") as log,
        subprocess.Popen(
            [program("make"), "serve", f"PYTHON={BASE_PYTHON}"],
            cwd=clone,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        assert process.stdout is not None
        bound = threading.Timer(MAX_INSTALL_SECONDS, os.killpg, (process.pid, signal.SIGKILL))  # ends the output below
        bound.start()
        try:
            output = ""
            for line in process.stdout:
                output += line
                if f"http://127.0.0.1:{port}/tools" in line:  # printed once the server responds
                    break
            else:
                pytest.fail(f"the server did not start:\n{output}{log_file.read_text()}")
            check_the_server(f"http://127.0.0.1:{port}")
        finally:
            bound.cancel()
            stop(process)
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/readyz")
