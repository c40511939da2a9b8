"""A server with a trivial endpoint and one that renders for 100 ms, on the event loop or in the process executor."""

from __future__ import annotations

import sys
from typing import Any

from pressroom.config.models import ExecutorsSettings
from pressroom.pipeline.executors.executors import Executors
from sanic import HTTPResponse, Request, Sanic, text
from support import executor_tools

PLACE, PORT = sys.argv[1], int(sys.argv[2])
RENDER = executor_tools.work(executor_tools.burn, number=100)

app = Sanic("bench", configure_logging=False)
executors = Executors(ExecutorsSettings(), preload=["support.executor_tools"])


@app.before_server_start
async def start(_: Any) -> None:
    await executors.start()
    await executors.ready()


@app.after_server_stop
async def stop(_: Any) -> None:
    await executors.close(0)


@app.get("/ping")
async def ping(_: Request) -> HTTPResponse:
    return text("pong")


@app.get("/render")
async def render(_: Request) -> HTTPResponse:
    if PLACE == "inline":
        return text(RENDER.function(RENDER.params, RENDER.call))
    return text(await executors.by_name["process"].run(RENDER))


if __name__ == "__main__":
    app.run(host="127.0.0.1", port=PORT, single_process=True, access_log=False, motd=False)
