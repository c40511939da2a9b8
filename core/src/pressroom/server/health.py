"""Health checks and metrics."""

from __future__ import annotations

import hmac

import orjson
from sanic import HTTPResponse, Request

from pressroom.host.host import Host
from pressroom.observability.metrics import CONTENT_TYPE


class Health:
    """Handles `/healthz`, `/readyz` and `/metrics`."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def alive(self, _request: Request) -> HTTPResponse:
        """`GET /healthz`: the process responds."""
        return _json({"status": "ok"})

    async def ready(self, _request: Request) -> HTTPResponse:
        """`GET /readyz`: the host is ready for new requests.

        It is not ready while it is about to stop, while the database does not respond or has tables of another version,
        or while a required plugin does not work.
        """
        mismatches = self._host.compiled.schema_mismatches
        problems = [
            f"{record.id}: {record.error or record.status}"
            for record in self._host.compiled.plugins.records
            if record.required and record.status != "active" and record.id not in mismatches
        ]
        problems += [
            f"{plugin}: its tables are at revision {current}, this version needs {expected}"
            for plugin, (current, expected) in sorted(mismatches.items())
        ]
        if not await self._host.database_probe.responds():
            kind = "PostgreSQL" if self._host.database.dialect == "postgresql" else "SQLite"
            problems.append(f"the database ({kind}) does not respond")
        if self._host.leaving:
            problems.append("the server is shutting down")
        return _json({"status": "unready" if problems else "ready", "problems": problems}, 503 if problems else 200)

    async def metrics(self, request: Request) -> HTTPResponse:
        """`GET /metrics`: the metrics in Prometheus text format, for clients with the operator's token."""
        token = self._host.settings.metrics.token
        scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
        expected = token.get_secret_value().encode() if token and scheme.lower() == "bearer" else b""
        if not expected or not hmac.compare_digest(credentials.strip().encode(errors="surrogateescape"), expected):
            return _json({"error": "unauthorized"}, 401, {"WWW-Authenticate": "Bearer"})
        return HTTPResponse(self._host.services.metrics.render(), content_type=CONTENT_TYPE)


def _json(document: dict[str, object], status: int = 200, headers: dict[str, str] | None = None) -> HTTPResponse:
    return HTTPResponse(
        orjson.dumps(document),
        status=status,
        headers={"Cache-Control": "no-store", **(headers or {})},
        content_type="application/json",
    )
