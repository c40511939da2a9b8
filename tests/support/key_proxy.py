"""A reverse proxy that sets the `Authorization` header of every request, for clients that cannot."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

_HOP_BY_HOP = ("connection", "keep-alive", "transfer-encoding", "content-length")


@contextmanager
def adding_authorization(target: str, authorization: str) -> Iterator[str]:
    """Yield the URL of a proxy to the server at `target`.

    In request headers, such as `Host` and `Origin`, the proxy's host and port are replaced by the server's. Bodies and
    response headers are not rewritten.
    """
    upstream = urlsplit(target).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            proxy_host = f"127.0.0.1:{proxy.server_port}"
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            connection = http.client.HTTPConnection(upstream, timeout=30)
            with closing(connection):
                self.exchange(connection, body, proxy_host)

        def exchange(self, connection: http.client.HTTPConnection, body: bytes, proxy_host: str) -> None:
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in (*_HOP_BY_HOP, "authorization"):
                    connection.putheader(name, value.replace(proxy_host, upstream))
            connection.putheader("Authorization", authorization)
            connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            content = response.read()
            self.send_response_only(response.status, response.reason)
            for name, value in response.getheaders():
                if name.lower() not in _HOP_BY_HOP:
                    self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = do_OPTIONS = pass_on  # noqa: N815 - the names that the base class looks for

        def log_message(self, *_arguments: Any) -> None:
            pass

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    proxy.daemon_threads = True
    thread = threading.Thread(target=proxy.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{proxy.server_port}"
    finally:
        proxy.shutdown()
        proxy.server_close()
        thread.join()
