"""The baseline of the host's benchmark: a Sanic handler that returns given bytes. Arguments: port, file, media type."""

import sys
from pathlib import Path

from sanic import HTTPResponse, Request, Sanic

app = Sanic("bare", configure_logging=False)
BODY = Path(sys.argv[2]).read_bytes()
MEDIA_TYPE = sys.argv[3]


@app.post("/")
async def respond(_request: Request) -> HTTPResponse:
    return HTTPResponse(BODY, content_type=MEDIA_TYPE)


if __name__ == "__main__":
    app.run("127.0.0.1", int(sys.argv[1]), single_process=True, access_log=False, motd=False)
