"""Plugins that return or raise what the server cannot send or store: the error says so, and the log names them."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from pressroom.testing import ToolFailed
from support.faulty_host import WORDS, Faulty, call_generator, call_over_mcp, faulty_host, run_job


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faulty]:
    with faulty_host(tmp_path_factory.mktemp("gate")) as faulty:
        yield faulty


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ("none", "NoneType"),
        ("dict", "dict"),
        ("other", "FaultParams"),
        ("unwritable", "Nothing, which cannot be written as JSON"),
        ("no text", "NoneType as the text of its ToolResult"),
        ("surrogate", "str '\\ud800' as the text of its ToolResult"),
        ("text as image", "str 'text' as an image; it must be bytes"),
        ("no pair", "bytes b'image' as an image; it must be a pair such as"),
        ("no type", "tuple (3, b'image') as an image; it must be a pair such as"),
        ("no images", "NoneType as images; they must be a tuple"),
        ("dict as content", "dict {'type': 'text'} as content; it must be AudioContent"),
        (
            "one block",
            "AudioContent AudioContent(data=b'sound', media_type='audio/wav') as content; it must be a tuple",
        ),
        ("text as sound", "AudioContent with str 'sound' as its data; it must be bytes"),
        ("surrogate as document", "EmbeddedResource with str '\\ud800' as its content; it must be a str without"),
        (
            "number as document",
            "EmbeddedResource with int 7 as its content; it must be a str without surrogates or bytes",
        ),
        ("no link", "ResourceLink with an empty uri"),
    ],
)
def test_a_tool_that_returns_an_undeclared_type_is_reported(faulty: Faulty, returned: str, expected: str) -> None:
    before = faulty.failures("tool")
    with pytest.raises(ToolFailed, match="internal_error") as caught:
        faulty.host.call_tool("liar", {"fault": returned})
    assert f"liar returned {expected}" in str(caught.value.__cause__.__cause__)  # type: ignore[union-attr]
    assert faulty.failures("tool") == before + 1
    assert f"returned {expected}" in faulty.host.host.compiled.gate.latest["own"].error
    faulty.works()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("no message", "NotFound"),
        ("spaces", "NotFound"),
        ("null", "NotFound"),
        ("surrogate", "NotFound"),
        ("bare", "Bare"),
    ],
)
def test_a_refusal_without_a_text_is_named_and_gets_one(faulty: Faulty, name: str, kind: str) -> None:
    before = faulty.failures("tool")
    (block,) = call_over_mcp(faulty, fault=f"tool {name}").json()["result"]["content"]
    assert block["text"] == "victim refused this call without giving a reason."
    assert faulty.failures("tool") == before + 1
    assert faulty.host.host.compiled.gate.latest["own"].error == f"raised {kind} without a message that can be sent"


@pytest.mark.parametrize("where", ["validator", "counts"])
@pytest.mark.parametrize("name", ["panic", "exit", "interrupt"])
def test_code_of_a_tool_that_fails_before_the_run_is_named(faulty: Faulty, where: str, name: str) -> None:
    before = faulty.failures("tool")
    with pytest.raises(ToolFailed, match="internal_error"):
        faulty.host.call_tool("careless", {"fault": f"{where} {name}"})
    assert faulty.failures("tool") == before + 1
    assert WORDS[name] in faulty.host.host.compiled.gate.latest["own"].error
    faulty.works()


def test_a_refusal_that_is_too_long_is_cut(faulty: Faulty) -> None:
    (block,) = call_over_mcp(faulty, fault="tool essay").json()["result"]["content"]
    assert block["text"] == "a" * 9_999 + "…. b"


@pytest.mark.parametrize("parts", [("text",), ("sound",), ("data",), ("text", "sound", "data")])
def test_a_result_that_is_too_large_is_named_and_not_sent(faulty: Faulty, parts: tuple[str, ...]) -> None:
    before = faulty.failures("tool")
    faulty.host.call_tool("large", dict.fromkeys(parts, 15 // len(parts)))
    assert faulty.failures("tool") == before
    with pytest.raises(ToolFailed, match=r"large returned .* bytes; a result may have at most 16,777,216"):
        faulty.host.call_tool("large", dict.fromkeys(parts, -(-17 // len(parts))))
    assert faulty.failures("tool") == before + 1
    assert "at most 16,777,216: return less" in faulty.host.host.compiled.gate.latest["own"].error
    faulty.works()


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ("content", "made content of type str; it must be bytes"),
        ("preview", "made a preview with content of type str; it must be bytes"),
        ("no pair", "made the preview bytes b'fine'; it must be a pair such as ('image/png', b'…')"),
        ("nothing", "returned the warnings NoneType; they must be a tuple of str"),
        ("text", "returned the warnings str 'one'; they must be a tuple of str"),
        ("numbers", "returned the warnings tuple (1,); they must be a tuple of str"),
        ("details", "returned Nothing, which cannot be written as JSON"),
    ],
)
def test_a_generator_that_returns_something_unstorable_is_reported(
    faulty: Faulty, returned: str, expected: str
) -> None:
    before = faulty.failures("tool")
    for _ in range(2):  # nothing is stored for the second call either
        call_generator(faulty, returned)
    assert faulty.failures("tool") == before + 2
    assert expected in faulty.host.host.compiled.gate.latest["own"].error
    faulty.works()


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ("number", "a job returns a JSON object, Pause, Reschedule or None, not int 5"),
        ("object", "dict {'book': <object object>} cannot be stored as JSON: TypeError"),
        ("surrogate", "cannot be stored as JSON: UnicodeEncodeError"),
        ("naive", "Reschedule.at must be a datetime with a time zone, not datetime"),
        ("payload", "dict {'book': <object object>} cannot be stored as JSON: TypeError"),
        ("pause", "Pause.seconds must be a number, not str '5'"),
        ("past", "Pause.seconds must be 0 or more, not int -5"),
    ],
)
def test_a_job_that_returns_something_unstorable_is_reported(faulty: Faulty, returned: str, expected: str) -> None:
    before = faulty.failures("job")
    run_job(faulty, returned)
    assert faulty.failures("job") == before + 1
    assert expected in faulty.host.host.compiled.gate.latest["own"].error


@pytest.mark.parametrize(
    ("path", "returned", "expected"),
    [
        ("/own", "object", "the body of the HttpResponse must be bytes, not dict {'a': 1}"),
        ("/own", "status", "the status of the HttpResponse must be a number such as 200, not str '200'"),
        ("/titled", "text", "the body of the HttpResponse must be bytes, not str 'page'"),
        ("/dashboard/own", "text", "the body of the HttpResponse must be bytes, not str 'page'"),
        ("/dashboard/own", "status", "the status of the HttpResponse must be a number such as 200, not str '200'"),
        ("/dashboard/own", "type", "the media_type of the HttpResponse must be a str, not NoneType"),
        ("/dashboard/own", "headers", "the headers of the HttpResponse must be a mapping, not None"),
    ],
)
def test_a_route_that_returns_something_unsendable_is_reported(
    faulty: Faulty, path: str, returned: str, expected: str
) -> None:
    before = faulty.failures("route")
    cookies = faulty.host.account().session_cookies()
    response = httpx.get(f"{faulty.host.url}{path}?fault={returned}", cookies=cookies, timeout=30)
    assert response.status_code == 500
    assert faulty.failures("route") == before + 1
    assert expected in faulty.host.host.compiled.gate.latest["own"].error


@pytest.mark.parametrize("path", ["/own", "/titled", "/dashboard/own"])
def test_a_file_may_be_a_string(faulty: Faulty, path: str) -> None:
    cookies = faulty.host.account().session_cookies()
    assert httpx.get(f"{faulty.host.url}{path}?fault=csv", cookies=cookies, timeout=30).text == "a,b"


@pytest.mark.parametrize(
    ("name", "expected"), [("none", "not NoneType"), ("text", "not str '5'"), ("error", "ValueError: no way")]
)
def test_usage_is_shown_without_the_storage_a_plugin_fails_to_measure(faulty: Faulty, name: str, expected: str) -> None:
    account = faulty.host.account()

    def kinds() -> list[str]:
        stored = faulty.host.run(faulty.host.host.accounts.usage(account.id)).storage
        return [] if stored is None else [kind.name for kind in stored.kinds]

    assert kinds() == ["own"]
    faulty.fails("storage", name)
    before = faulty.failures("storage")
    assert kinds() == []
    assert faulty.failures("storage") == before + 1
    assert expected in faulty.host.host.compiled.gate.latest["own"].error
    faulty.works()
