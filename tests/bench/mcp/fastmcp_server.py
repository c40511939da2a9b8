"""FastMCP with twenty tools and one API key, for comparison in the benchmark. Arguments: port, key."""

# FastMCP is in a separate environment, which the type checker does not see.
# mypy: disable-error-code="import-not-found"
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

from fastmcp import FastMCP
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
from pydantic import BaseModel, Field


class Total(BaseModel):
    total: int = Field(description="Both together.")


def adding() -> Callable[[int, int], Total]:
    """Return the function of one tool."""

    def add(
        a: Annotated[int, Field(description="The first number.")],
        b: Annotated[int, Field(description="The second number.")],
    ) -> Total:
        """Adds two numbers. Use it where the sum of two whole numbers is wanted. Returns the total."""
        return Total(total=a + b)

    return add


def main(port: int, key: str) -> None:
    server = FastMCP("peer", auth=StaticTokenVerifier({key: {"client_id": "bench", "scopes": []}}))
    for number in range(1, 21):
        server.tool(adding(), name=f"add_{number}", title=f"Add, number {number}")
    server.run(
        transport="http",
        host="127.0.0.1",
        port=port,
        path="/mcp",
        json_response=True,
        stateless_http=True,
        show_banner=False,
        log_level="error",
        uvicorn_config={"access_log": False},
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
