import io
import json
import logging
import os
import pty
import subprocess
import sys
import textwrap
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st
from pressroom.config.models import LoggingSettings
from pressroom.observability.logs import configure_logging, request_log
from pydantic import SecretStr
from sanic.log import access_logger, error_logger


class Log:
    """A log whose output can be read back."""

    def __init__(self, **settings: Any) -> None:
        self._bytes = io.BytesIO()
        self._stream = io.TextIOWrapper(self._bytes, "utf-8")
        configure_logging(LoggingSettings(**settings), stream=self._stream)

    @property
    def text(self) -> str:
        return self._bytes.getvalue().decode()

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


def test_an_event_is_a_json_line_with_time_level_and_fields() -> None:
    log = Log()
    structlog.get_logger().warning("old files could not be removed", files=3, ratio=0.5, names=["a", "b"], none=None)
    (event,) = log.events
    assert event.pop("timestamp").endswith("Z")
    assert event == {
        "level": "warning",
        "event": "old files could not be removed",
        "files": 3,
        "ratio": 0.5,
        "names": ["a", "b"],
        "none": None,
    }


def test_events_below_the_level_are_not_logged() -> None:
    log = Log(level="warning")
    structlog.get_logger().info("no")
    logging.getLogger("sanic.root").info("no")
    structlog.get_logger().error("yes")
    logging.getLogger("sanic.root").warning("yes")
    assert [event["event"] for event in log.events] == ["yes", "yes"]


def test_each_request_is_a_separate_line() -> None:
    log = Log()
    request_log(
        method="POST",
        path="/tools/qr-code-generator/api/generate",
        status=200,
        duration=0.01234567,
        size=1024,
        client_ip="203.0.113.7",
        request_id="0" * 32,
        tool="qr-code-generator",
    )
    (event,) = log.events
    del event["timestamp"]
    assert event == {
        "level": "info",
        "event": "request",
        "method": "POST",
        "path": "/tools/qr-code-generator/api/generate",
        "status": 200,
        "duration_ms": 12.346,
        "size": 1024,
        "client_ip": "203.0.113.7",
        "request_id": "0" * 32,
        "tool": "qr-code-generator",
    }


def test_a_bound_request_id_is_in_every_line() -> None:
    log = Log()
    with structlog.contextvars.bound_contextvars(request_id="abcdefgh"):
        structlog.get_logger().info("one")
        logging.getLogger("asyncio").warning("two")
    structlog.get_logger().info("three")
    assert [event.get("request_id") for event in log.events] == ["abcdefgh", "abcdefgh", None]


def test_records_of_libraries_use_the_same_format() -> None:
    log = Log()
    error_logger.error("Exception occurred while handling uri: %r", "http://h/files/x?signature=abc")
    access_logger.info("")
    logging.getLogger("asyncio").warning("slow callback")
    assert [(event["logger"], event["level"], event["event"]) for event in log.events] == [
        ("sanic.error", "error", "Exception occurred while handling uri: 'http://h/files/x?signature=***'"),
        ("sanic.access", "info", ""),
        ("asyncio", "warning", "slow callback"),
    ]


def test_python_warnings_are_logged() -> None:
    log = Log()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=True)
        warnings.warn("this is old", DeprecationWarning, stacklevel=1)
        logging.captureWarnings(capture=False)
    assert "this is old" in log.events[0]["event"]


def test_libraries_that_log_what_they_send_are_silenced() -> None:
    log = Log(level="debug")
    logging.getLogger("httpx").info("HTTP Request")
    logging.getLogger("botocore").debug("Authorization")
    logging.getLogger("botocore.auth").debug("Authorization")
    assert log.text == ""


def test_a_record_with_mismatched_arguments_is_still_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # pytest's own handlers would raise
    log = Log()
    logging.getLogger("careless").error("%d files", "many")
    assert log.events[0]["event"] == "%d files"
    assert log.events[0]["problem"].startswith("TypeError: ")


@dataclass
class Account:
    name: str
    password: str


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_secrets_are_masked_wherever_they_appear() -> None:
    log = Log()
    try:
        raise ValueError("cannot reach https://user:hunter2@host/?token=hunter2")  # noqa: TRY301 - the traceback is meant
    except ValueError:
        structlog.get_logger().exception(
            "failed for password='hunter2'",
            password="hunter2",
            account=Account("a", "hunter2"),
            accounts=[Account("a", "hunter2")],
            headers={"authorization": "Bearer hunter2"},
            sealed=SecretStr("hunter2"),
            cause=ValueError("api_key=hunter2"),
            raw=b"token=hunter2",
        )
        logging.getLogger("lib").exception("failed with %s", "secret=hunter2")
    assert len(log.events) == 2
    assert "ValueError: cannot reach https://***@host/?token=***" in log.events[0]["exception"]
    assert "hunter2" not in log.text


LINES = st.text(st.characters(), max_size=60) | st.sampled_from(
    ["\r\n", "\x1b[2J", "\x9b31m", "\u2028x", "\u202e", "\ud800"]
)
ACTIVE = {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, 0x202E, 0xFEFF)} - {"\n"}


@given(LINES, LINES, LINES)
def test_no_input_can_forge_a_line_or_reach_the_terminal(event: str, key: str, value: str) -> None:
    for style in ("json", "text"):
        log = Log(format=style)
        fields = {key: value} if key not in ("event", "exc_info", "stack_info") else {}
        structlog.get_logger().info(event, **fields, field=value, nested=[{key: value}])
        assert log.text.count("\n") == 1
        assert not ACTIVE & set(log.text)


def test_text_that_looks_like_fields_is_quoted() -> None:
    log = Log(format="text")
    structlog.get_logger().info("request", path="/a status=200", agent="x\n2026-01-01 [error] forged")
    assert "path='/a status=200'" in log.text
    assert log.text.count("\n") == 1


def test_a_traceback_in_text_format_is_indented_below_its_line() -> None:
    log = Log(format="text")
    try:
        raise ValueError("first\n2026-01-01T00:00:00Z [info     ] forged\x1b[2J")  # noqa: TRY301 - the traceback is meant
    except ValueError:
        structlog.get_logger().exception("failed")
    first, *other_lines = log.text.splitlines()
    assert "failed" in first
    assert any("forged\\u001b[2J" in line for line in other_lines)
    assert all(line.startswith("    ") for line in other_lines)


@pytest.mark.parametrize(
    ("value", "logged"),
    [
        (2**70, 2**70),
        (float("nan"), None),
        ("\ud800", "\\ud800"),
        ({1: {None: b"x"}}, {"1": {"null": "b'x'"}}),
        (Broken(), "<Broken without a repr: RuntimeError>"),
    ],
)
def test_values_that_json_cannot_express_are_logged_as_text(value: object, logged: object) -> None:
    log = Log()
    structlog.get_logger().info("odd", value=value)
    assert log.events[0]["value"] == logged


def test_a_self_referencing_value_is_logged() -> None:
    log = Log()
    loop: dict[str, Any] = {}
    loop["loop"] = loop
    structlog.get_logger().info("odd", value=loop)
    assert log.events[0]["event"] == "odd"


def test_a_very_long_value_is_truncated() -> None:
    log = Log()
    structlog.get_logger().info("long", value="x" * 1_000_000)
    assert len(log.text) < 10_000


def test_a_field_cannot_overwrite_time_level_or_event() -> None:
    log = Log()
    structlog.get_logger().info("real", level="critical", timestamp="1970")
    (event,) = log.events
    assert (event["level"], event["event"]) == ("info", "real")
    assert event["timestamp"] != "1970"


def test_an_unwritable_log_does_not_fail_calls() -> None:
    reader, writer = os.pipe()
    stream = os.fdopen(writer, "w")
    configure_logging(LoggingSettings(), stream=stream)
    os.close(reader)
    structlog.get_logger().error("nobody reads this")
    with pytest.raises(OSError, match="pipe"):
        stream.close()
    structlog.get_logger().error("nobody can")
    logging.getLogger("sanic.error").error("nobody can")


def test_changed_settings_apply_to_existing_loggers() -> None:
    logger = structlog.get_logger()
    first = Log(level="error")
    logger.info("one")
    logger.error("two")
    second = Log(level="info")
    logger.info("three")
    logging.getLogger("lib").info("four")
    assert [event["event"] for event in first.events] == ["two"]
    assert [event["event"] for event in second.events] == ["three", "four"]


def test_lines_of_concurrent_threads_are_not_interleaved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # pytest's own handlers would keep every line
    log = Log()

    def write(number: int) -> None:
        for _ in range(200):
            structlog.get_logger().info("structlog", number=number, filler="x" * 500)
            logging.getLogger("lib").info("stdlib %d", number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(log.events) == 8 * 200 * 2


@pytest.fixture
def terminal() -> Iterator[tuple[Any, Callable[[], str]]]:
    master, slave = pty.openpty()
    stream = os.fdopen(slave, "w")
    yield stream, lambda: os.read(master, 65_536).decode()
    stream.close()
    os.close(master)


def test_text_on_a_terminal_is_coloured(
    terminal: tuple[Any, Callable[[], str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, read = terminal
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    configure_logging(LoggingSettings(), stream=stream)
    structlog.get_logger().info("hello", size=1)
    text = read()
    assert "hello" in text
    assert "\x1b[" in text
    assert "{" not in text


def test_text_on_a_terminal_without_colours_is_plain(
    terminal: tuple[Any, Callable[[], str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, read = terminal
    monkeypatch.setenv("NO_COLOR", "1")
    configure_logging(LoggingSettings(), stream=stream)
    structlog.get_logger().info("hello", size=1)
    text = read()
    assert "hello size=1" in text
    assert "\x1b" not in text


def test_programs_that_read_a_terminal_may_request_json(terminal: tuple[Any, Callable[[], str]]) -> None:
    stream, read = terminal
    configure_logging(LoggingSettings(format="json"), stream=stream)
    structlog.get_logger().info("hello")
    assert json.loads(read())["event"] == "hello"


def test_only_the_log_of_a_server_process_goes_to_stderr() -> None:
    script = """
        import logging, warnings, structlog
        from sanic import Sanic
        from pressroom.config.models import LoggingSettings
        from pressroom.observability.logs import configure_logging
        configure_logging(LoggingSettings())
        app = Sanic("one", configure_logging=False)
        structlog.get_logger().info("one")
        logging.getLogger("sanic.root").info("two")
        warnings.warn("three")
    """
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    assert result.stdout == ""
    events = [json.loads(line)["event"] for line in result.stderr.splitlines()]
    assert events[:2] == ["one", "two"]
    assert "three" in events[2]
