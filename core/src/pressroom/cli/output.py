"""Output of commands: tables and sentences for people, JSON for programs, both safe to print on a terminal.

Results are written to standard output, everything else to standard error. With `--json`, standard output always holds
one JSON document: the result, or `{"error": {"code", "message", "hint", …}}`.
"""

from __future__ import annotations

import json as json_module
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, Final, Protocol

import click

from pressroom.errors import PressroomError

_CONTROL = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and line feed, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks and overrides (Unicode TR 9)
    "\u2028\u2029\ufff9-\ufffb"  # separators that some terminals obey, interlinear annotation
    "\ud800-\udfff"  # lone surrogates: bytes of a name that are not UTF-8
    "]"
)


def safe(text: str) -> str:
    r"""Escape the characters of a text that could control a terminal or mislead readers.

    They are shown as escapes, such as `\x1b`. Values come from plugins and third-party files, in which an escape
    sequence could retitle the window, hide the rest of the text, or type a command. Line feeds stay.
    """
    return _CONTROL.sub(_escape, text.expandtabs(4))


def safe_cell(value: object) -> str:
    """Return a value as a single line of safe text, with line feeds escaped too."""
    return safe("" if value is None else str(value)).replace("\n", "\\n")


def safe_json(document: str) -> str:
    r"""Return an equivalent JSON document with the characters that `safe` replaces as `\u` escapes."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", document)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


FINE: Final = 0
EXIT_PROBLEMS: Final = 1
WRONG_USAGE: Final = 2
INTERRUPTED: Final = 130

_LAST_STREAM: Final = 2
"""The file descriptor of standard error."""


class Progress(Protocol):
    """Progress of a long operation."""

    def advance(self, steps: int = 1) -> None:
        """Report that this many more steps are done."""


def open_standard_streams() -> None:
    """Open the null device for standard streams that were closed, as by `>&-`. A database could get their numbers."""
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= _LAST_STREAM:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    sys.stdin = sys.stdin or open(0, closefd=False, encoding="utf-8")  # noqa: SIM115 - open as long as the process
    sys.stdout = sys.stdout or open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False, encoding="utf-8")  # noqa: SIM115


@dataclass(frozen=True, slots=True)
class Output:
    """Writes the results of one command."""

    json: bool = False

    def prepare(self) -> None:
        """Escape characters that the encoding of standard output lacks, instead of failing."""
        reconfigure = getattr(sys.stdout, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")

    def abandon(self) -> None:
        """Discard further standard output after its reader has gone, so that flushing at exit does not fail."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def failed(self) -> bool:
        """Return whether standard output cannot be written, such as to a file on a full disk."""
        try:
            sys.stdout.write("\n")
            sys.stdout.flush()
        except OSError:
            return True
        return False

    def line(self, text: str = "") -> None:
        """Write a line of the result for people. Nothing with `--json`."""
        if not self.json:
            click.echo(safe(text))

    def note(self, text: str) -> None:
        """Write a remark that is not part of the result to standard error. Nothing with `--json`."""
        if not self.json:
            click.echo(safe(text), err=True)

    def data(self, value: Any) -> None:
        """Write a JSON document. Values without a JSON type, such as paths, are converted to strings."""
        ascii_only = not (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf8")
        document = json_module.dumps(value, indent=2, ensure_ascii=ascii_only, allow_nan=False, default=str)
        click.echo(safe_json(document))

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Write a table; with `--json`, a list of objects keyed by the column names in snake_case.

        On a terminal, long values are wrapped. Elsewhere each row is one line of any length.
        """
        if self.json:
            names = [column.lower().replace(" ", "_") for column in columns]
            self.data([dict(zip(names, row, strict=True)) for row in rows])
            return
        cells = [[safe_cell(value) for value in row] for row in rows]
        if _is_terminal(sys.stdout):
            _rich_table(columns, cells)
        else:
            _plain_table([list(columns), *cells])

    def problem(self, message: str, *, hint: str = "", code: str = "error", details: Iterable[Any] = ()) -> None:
        """Write an error. Each of `details` has a text (`str`), a `hint`, and `as_data()` for `--json`."""
        problems = list(details)
        if self.json:
            error: dict[str, Any] = {"code": code, "message": message, "hint": hint}
            if problems:
                error["problems"] = [detail.as_data() for detail in problems]
            self.data({"error": error})
            return
        self._write_error(f"{message}:" if problems else message, hint)
        for detail in problems:
            click.echo(safe(f"  {detail}"), err=True)
            if detail.hint:
                click.echo(safe(f"      {detail.hint}"), err=True)

    def error(self, error: PressroomError) -> None:
        """Write an error of Pressroom, with all problems if it is an invalid configuration."""
        problems = getattr(error, "problems", ())
        if len(problems) > 1:
            summary = error.message.partition("\n")[0].removesuffix(":")
            self.problem(summary, hint=error.hint, code=error.code, details=problems)
        else:
            self.problem(error.message, hint=error.hint, code=error.code, details=problems if self.json else ())

    def wrong_usage(self, error: click.UsageError) -> None:
        """Report an invalid command line and show the usage."""
        if error.ctx is not None and not self.json:
            click.echo(error.ctx.get_usage(), err=True)
        hint = f"Try '{error.ctx.command_path} --help'." if error.ctx is not None else ""
        self.problem(error.format_message(), hint=hint, code="usage_error")

    @contextmanager
    def progress(self, description: str, total: int | None = None) -> Iterator[Progress]:
        """Show progress on standard error if it is a terminal and `--json` is off."""
        if self.json or not _is_terminal(sys.stderr):
            yield _NoProgress()
            return
        with _rich_progress(description, total) as progress:
            yield progress

    def _write_error(self, message: str, hint: str) -> None:
        label = click.style("Error:", fg="red", bold=True) if _takes_colour(sys.stderr) else "Error:"
        click.echo(f"{label} {safe(message)}", err=True)
        if hint:
            click.echo(safe(hint), err=True)


class _NoProgress:
    def advance(self, steps: int = 1) -> None:
        """Show nothing."""


def _is_terminal(stream: IO[str]) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _takes_colour(stream: IO[str]) -> bool:
    # https://no-color.org: the variable is set and not empty
    return _is_terminal(stream) and not os.environ.get("NO_COLOR")


def _plain_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _rich_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - not needed where the output is piped
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(Text(column), overflow="fold")
    for row in rows:
        # Text rather than str, since rich would obey markup such as [link=…] in a string.
        table.add_row(*map(Text, row))
    Console(file=sys.stdout, no_color=not _takes_colour(sys.stdout)).print(table)


@contextmanager
def _rich_progress(description: str, total: int | None) -> Iterator[Progress]:
    from rich.console import Console  # noqa: PLC0415 - not needed where the output is piped
    from rich.markup import escape  # noqa: PLC0415
    from rich.progress import Progress as Bars  # noqa: PLC0415

    with Bars(console=Console(file=sys.stderr, no_color=not _takes_colour(sys.stderr)), transient=True) as bars:
        task = bars.add_task(escape(safe_cell(description)), total=total)

        class _Bar:
            def advance(self, steps: int = 1) -> None:
                """Move the bar."""
                bars.advance(task, steps)

        yield _Bar()
