"""A server with a trivial address and one that renders for 100 ms, on the event loop or in the process lane."""

from __future__ import annotations

import sys
from typing import Any

from pressroom.config.models import LanesSettings
from pressroom.lanes.lanes import Lanes
from sanic import HTTPResponse, Request, Sanic, text
from support import lane_tools

PLACE, PORT = sys.argv[1], int(sys.argv[2])
RENDER = lane_tools.work(lane_tools.burn, number=100)

app = Sanic("bench", configure_logging=False)
lanes = Lanes(LanesSettings(), preload=["support.lane_tools"])


@app.before_server_start
async def start(_: Any) -> None:
    await lanes.start()
    await lanes.ready()


@app.after_server_stop
async def stop(_: Any) -> None:
    await lanes.close(0)


@app.get("/ping")
async def ping(_: Request) -> HTTPResponse:
    return text("pong")


@app.get("/render")
async def render(_: Request) -> HTTPResponse:
    if PLACE == "inline":
        return text(RENDER.function(RENDER.params, RENDER.call))
    return text(await lanes.run("process", RENDER))


if __name__ == "__main__":
    app.run(host="127.0.0.1", port=PORT, single_process=True, access_log=False, motd=False)
