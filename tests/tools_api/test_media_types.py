"""Files of media types declared by plugins: in both interfaces, stored, cached, and never executed by a browser."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from pressroom.sdk import Artifact, Call, Generator, Mcp, Params, generator, per_hour
from pressroom.testing import RunningHost
from support import third_party
from support.mcp_peer import Peer, account

Start = Callable[..., RunningHost]

NEW = {"mcp_protocol_version": "2025-06-18", "x_mcp_toolsets": "all"}
OLD = {"mcp_protocol_version": "2025-03-26", "x_mcp_toolsets": "all"}

SOURCE = (
    third_party.HEAD
    + '''
FILES = {
    "text/csv": "name,städte\\nAda,1\\n".encode(),
    "text/calendar": b"BEGIN:VCALENDAR\\r\\nEND:VCALENDAR\\r\\n",
    "audio/mpeg": b"ID3 beep",
    "application/gpx+xml": b"<gpx/>",
    "application/pdf": b"%PDF-1.7",
}


class ExportParams(Params):
    kind: str = Field(description="The media type.")


@generator(
    slug="export", name="Export", summary="Exports.", rate_limit=per_hour(100), produces=tuple(FILES),
    extensions={
        "text/csv": "csv", "text/calendar": "ics", "audio/mpeg": "mp3", "application/gpx+xml": "gpx"
    },
    executor="thread", mcp=Mcp("export"), examples=(Example("A table", {"kind": "text/csv"}),),
)
def export(params: ExportParams, call: Call) -> Artifact:
    """Exports a file."""
    return Artifact(FILES[params.kind], params.kind)


@generator(
    slug="brief", name="Brief", summary="Exports.", rate_limit=per_hour(100), produces=tuple(FILES),
    extensions=export.extensions, executor="thread", mcp=Mcp("brief", embed=True),
    examples=(Example("A table", {"kind": "text/csv"}),),
)
def brief(params: ExportParams, call: Call) -> Artifact:
    """Exports a file for models."""
    return Artifact(FILES[params.kind], params.kind)


class Exported(BaseModel):
    name: str


@mcp_tool(name="link", title="Link", toolsets=("core",), result=Exported)
async def link(params: ExportParams, call: Call) -> ToolResult:
    """Links to a file."""
    return ToolResult(
        "There it is.",
        Exported(name="a"),
        content=(
            AudioContent(b"beep", "audio/wav"),
            ResourceLink("https://example.org/a.csv", "a.csv", "The table", "All rows", "text/csv", 12),
            ResourceLink("https://example.org/b", "b"),
        ),
    )

@hookimpl
def pressroom_generators():
    return [export, brief]


@hookimpl
def pressroom_mcp_tools():
    return [link]
'''
)

EXTENSIONS = {"text/csv": "csv", "text/calendar": "ics", "audio/mpeg": "mp3", "application/gpx+xml": "gpx"}


@pytest.fixture
def host(tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch) -> RunningHost:
    folder = tmp_path / "third parties"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return start(plugins={third_party.write_plugin(folder, SOURCE): {}})


def export(host: RunningHost, kind: str, **more: Any) -> httpx.Response:
    return httpx.post(f"{host.url}/tools/export/api/generate", json={"kind": kind, **more}, timeout=30)


@pytest.mark.parametrize(("media_type", "extension"), EXTENSIONS.items())
def test_a_file_of_a_declared_type_is_delivered_and_saved(host: RunningHost, media_type: str, extension: str) -> None:
    served = f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type
    for cached in (False, True):
        data = export(host, media_type).json()["data"]
        assert data["cached"] is cached
        file = httpx.get(data["url"])
        assert file.status_code == 200
        assert file.headers["content-type"] == served
        assert file.headers["content-disposition"] == f'attachment; filename="{data["id"]}.{extension}"'
        assert file.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in file.headers["content-security-policy"]

        binary = export(host, media_type, response="binary")
        assert binary.content == file.content
        assert binary.headers["content-type"] == served
        assert binary.headers["content-disposition"] == f'attachment; filename="export.{extension}"'
        assert binary.headers["x-content-type-options"] == "nosniff"


def test_a_known_type_beside_them_is_shown_inline(host: RunningHost) -> None:
    data = export(host, "application/pdf").json()["data"]
    assert httpx.get(data["url"]).headers["content-disposition"].startswith("inline;")


def test_catalog_openapi_and_page_name_the_types(host: RunningHost) -> None:
    descriptor = httpx.get(f"{host.url}/tools/export/api").json()["data"]
    types = [*EXTENSIONS, "application/pdf"]
    assert descriptor["endpoints"][0]["responseContentType"] == ["application/json", *types]
    openapi = httpx.get(f"{host.url}/openapi.json").json()
    content = openapi["paths"]["/tools/export/api/generate"]["post"]["responses"]["200"]["content"]
    assert set(types) <= set(content)
    page = httpx.get(f"{host.url}/tools/export")
    assert page.status_code == 200
    assert ".csv?expires=" in page.text


def test_an_audio_file_is_embedded_and_linked_over_mcp(host: RunningHost) -> None:
    peer = Peer(host, account(host))
    for _ in range(2):  # rendered, then served from the cache
        text, audio, link = peer.call("export", {"kind": "audio/mpeg"}, **NEW)["content"]
        assert audio == {"type": "audio", "mimeType": "audio/mpeg", "data": base64.b64encode(b"ID3 beep").decode()}
        assert (link["type"], link["name"], link["mimeType"]) == ("resource_link", "export.mp3", "audio/mpeg")
        assert link["uri"] in text["text"]
    assert [block["type"] for block in peer.call("export", {"kind": "audio/mpeg"}, **OLD)["content"]] == [
        "text",
        "audio",
    ]
    assert [block["type"] for block in peer.call("export", {"kind": "text/csv"}, **NEW)["content"]] == [
        "text",
        "resource_link",
    ]


def test_a_generator_may_embed_its_file_in_results_for_models(host: RunningHost) -> None:
    peer = Peer(host, account(host))
    _, table, link = peer.call("brief", {"kind": "text/csv"}, **NEW)["content"]
    assert table == {
        "type": "resource",
        "resource": {"uri": link["uri"], "mimeType": "text/csv", "text": "name,städte\nAda,1\n"},
    }
    _, pdf, _ = peer.call("brief", {"kind": "application/pdf"}, **NEW)["content"]
    assert base64.b64decode(pdf["resource"]["blob"]) == b"%PDF-1.7"
    assert [block["type"] for block in peer.call("brief", {"kind": "audio/mpeg"}, **NEW)["content"]] == [
        "text",
        "audio",
        "resource_link",
    ]


def test_a_tool_links_to_resources_if_the_client_supports_links(host: RunningHost) -> None:
    peer = Peer(host, account(host))
    text, _, first, second = peer.call("link", {"kind": "x"}, **NEW)["content"]
    assert text["text"] == "There it is."
    assert first == {
        "type": "resource_link",
        "uri": "https://example.org/a.csv",
        "name": "a.csv",
        "title": "The table",
        "description": "All rows",
        "mimeType": "text/csv",
        "size": 12,
    }
    assert second == {"type": "resource_link", "uri": "https://example.org/b", "name": "b"}

    text, audio = peer.call("link", {"kind": "x"}, **OLD)["content"]
    assert audio["type"] == "audio"
    assert text["text"].splitlines()[1:] == ["The table: https://example.org/a.csv", "b: https://example.org/b"]


class NoParams(Params):
    pass


def declared(produces: tuple[str, ...], extensions: Any) -> Generator:
    @generator(
        slug="x",
        name="X",
        summary="X.",
        rate_limit=per_hour(1),
        produces=produces,
        extensions=extensions,
        mcp=Mcp("x"),
    )
    def x(params: NoParams, call: Call) -> Artifact:
        return Artifact(b"", produces[0])

    return x


@pytest.mark.parametrize(
    ("media_type", "extension", "problem"),
    [
        ("text/csv; charset=utf-8", "csv", "is not a media type such as text/csv"),
        ("Text/CSV", "csv", "is not a media type"),
        ("csv", "csv", "is not a media type"),
        ("multipart/mixed", "eml", "is not a media type"),
        (f"text/{'x' * 64}", "x", "is not a media type"),
        ("text/csv", ".csv", "is not an extension"),
        ("text/csv", "CSV", "is not an extension"),
        ("text/csv", "../csv", "is not an extension"),
        ("text/csv", "", "is not an extension"),
        ("text/csv", "html", "'html' is the extension of 'text/html'"),
        ("text/csv", "js", "browsers run files that are called so"),
        ("text/csv", "xhtml", "browsers run files that are called so"),
        ("text/javascript", "txt2", "browsers would run it"),
        ("application/x-javascript", "x", "browsers would run it"),
        ("text/ecmascript", "x", "browsers would run it"),
        ("application/wasm", "x", "browsers would run it"),
        ("text/css", "x", "browsers would run it"),
        ("application/xhtml+xml", "x", "browsers would run it"),
        ("image/png", "image", "has the extension 'png' already"),
    ],
)
def test_a_type_or_an_extension_that_cannot_be_served_is_refused(media_type: str, extension: str, problem: str) -> None:
    (problem_text,) = declared((media_type,), {media_type: extension}).problems()
    assert problem in problem_text


def test_types_and_extensions_belong_together() -> None:
    assert declared(("text/csv", "audio/mpeg"), {"text/csv": "csv", "audio/mpeg": "mp3"}).problems() == []
    (missing,) = declared(("text/csv",), {}).problems()
    assert '{"text/csv": "csv"}' in missing
    assert declared(("text/plain",), {"text/csv": "csv"}).problems() == ["extensions: 'text/csv' is not in produces"]
    (duplicate,) = declared(("text/csv", "application/csv"), {"text/csv": "csv", "application/csv": "csv"}).problems()
    assert duplicate == "extensions: 'csv' is the extension of 'text/csv'"
