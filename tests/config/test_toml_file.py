"""Reading a TOML file, with the line number of each key."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.config.origins import ConfigProblem, InvalidConfig, KeyPath, leaves_and_tables
from pressroom.config.toml_file import MAX_BYTES, locate, read_toml

names = st.text(alphabet="abxyz-_", min_size=1, max_size=4) | st.sampled_from(
    ["a.b", "=", "# no", "[x]", "ü", '"""', ""]
)
texts = st.text(alphabet="ab\"'\\[]{}#=.,\n ", max_size=20)
scalars = st.one_of(st.integers(-5, 5), st.booleans(), texts)
values = st.one_of(scalars, st.lists(scalars, max_size=3), st.dictionaries(names, scalars, max_size=2))
tables: st.SearchStrategy[dict[str, Any]] = st.dictionaries(names, values, max_size=4)


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


class Writer:
    """Writes a document and records the line of each key."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.expected: dict[KeyPath, int] = {}

    def add(self, text: str) -> int:
        first = len(self.lines) + 1
        self.lines += text.split("\n")
        return first

    def filler(self) -> None:
        if self.draw(st.booleans()):
            self.add(self.draw(st.sampled_from(["", "# [not.a.table]", "   # key = 'value'", "\t"])))

    def assignments(self, path: KeyPath, table: dict[str, Any]) -> None:
        for name, value in table.items():
            self.filler()
            comment = self.draw(st.sampled_from(["", " # a = [", ' # """']))
            line = self.add(f"{quoted(name)} = {self.written(value)}{comment}")
            self.expected |= dict.fromkeys(leaves_and_tables((*path, name), value), line)

    def written(self, value: object) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str):
            if self.draw(st.booleans()):
                return '"""\n' + value.replace("\\", "\\\\").replace('"', '\\"') + '"""'
            return quoted(value)
        if isinstance(value, list):
            gap = self.draw(st.sampled_from([" ", "\n", "\n  # ], not the end\n"]))
            return f"[{gap}" + "".join(f"{self.written(item)},{gap}" for item in value) + "]"
        if isinstance(value, dict):
            members = (f"{quoted(name)} = {quoted(str(item))}" for name, item in value.items())
            return "{" + ", ".join(members) + "}"
        return str(value)


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[KeyPath, int]]:
    writer = Writer(draw)

    def open_table(path: KeyPath, line: int) -> None:
        for length in range(1, len(path) + 1):
            writer.expected.setdefault(path[:length], line)

    writer.assignments((), {f"top-{name}": value for name, value in draw(tables).items()})
    for number in range(draw(st.integers(0, 3))):
        path: KeyPath = (f"table {number}", *draw(st.lists(names, max_size=2)))
        writer.filler()
        open_table(path, writer.add(f" [ {' . '.join(quoted(str(part)) for part in path)} ]"))
        writer.assignments(path, draw(tables))
    for index in range(draw(st.integers(0, 3))):
        open_table(("sites", index), writer.add("[[sites]] # an array of tables"))
        writer.assignments(("sites", index), draw(tables))
        if draw(st.booleans()):
            open_table(("sites", index, "in it"), writer.add('[sites."in it"]'))
            writer.assignments(("sites", index, "in it"), draw(tables))
    return "\n".join(writer.lines), writer.expected


@given(document=documents())
def test_every_key_has_the_line_on_which_it_stands(document: tuple[str, dict[KeyPath, int]]) -> None:
    text, expected = document
    tomllib.loads(text)
    assert locate(text) == expected


def problem_in(content: str | bytes, folder: Path) -> ConfigProblem:
    path = folder / "pressroom.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InvalidConfig) as caught:
        read_toml(path)
    (problem,) = caught.value.problems
    return problem


@pytest.mark.parametrize(
    ("content", "line", "column", "says", "hints"),
    [
        ("[server]\nhost = localhost\n", 2, 8, "the value is not valid", "quotes"),
        ("[server]\nport = 1\nport = 2\n", 3, 9, "the same key is set twice", "Keep one"),
        ("[server]\nport = 1\nport = 2", 3, 0, "the same key is set twice", "Keep one"),
        ("[a]\n[b]\n[a]\n", 3, 3, "the same table is opened twice", "one heading"),
        ("[server\nport = 1\n", 1, 8, "Expected ']'", ""),
        ("a = 1\nb = [1,\n2,\n\n", 2, 0, "not valid", ""),
        ('a = 1\nb = """\nnever\nends\n', 2, 0, "", ""),
        ("a: 1\n", 1, 2, "Expected '='", ""),
    ],
)
def test_a_syntax_error_has_its_line_and_column(
    tmp_path: Path, content: str, line: int, column: int, says: str, hints: str
) -> None:
    problem = problem_in(content, tmp_path)
    assert (problem.origin.line, problem.origin.column) == (line, column)
    assert str(problem).startswith(f"{tmp_path}/pressroom.toml:{line}:")
    assert "not valid TOML: " in problem.problem
    assert says in problem.problem
    assert hints in problem.hint


@pytest.mark.parametrize("content", ["a = " + "[" * 100_000, "a = " + "9" * 5000, "\x00", "]" * 1000])
def test_a_pathological_file_is_reported(tmp_path: Path, content: str) -> None:
    assert problem_in(content, tmp_path).problem


@given(content=st.binary(max_size=200))
def test_any_bytes_are_toml_or_an_invalid_config(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "garbage.toml"
    path.write_bytes(content)
    refusal = ""
    try:
        read_toml(path)
    except InvalidConfig as error:
        refusal = str(error)
    assert not refusal or refusal.startswith(str(path))


def test_a_byte_order_mark_and_windows_line_endings_are_allowed(tmp_path: Path) -> None:
    path = tmp_path / "pressroom.toml"
    path.write_bytes(b"\xef\xbb\xbf# made on Windows\r\n[server]\r\nport = 1\r\n")
    parsed = read_toml(path)
    assert parsed.values == {"server": {"port": 1}}
    assert parsed.lines == {("server",): 2, ("server", "port"): 3}


def test_another_encoding_is_reported_with_its_line(tmp_path: Path) -> None:
    problem = problem_in("a = 1\nname = 'Zürich'\n".encode("latin-1"), tmp_path)
    assert problem.problem == "the file is not UTF-8"
    assert problem.origin.line == 2


def test_an_oversized_file_is_not_read(tmp_path: Path) -> None:
    assert "larger than 1 MiB" in problem_in(b"#" * (MAX_BYTES + 1), tmp_path).problem


def test_a_missing_file_and_a_folder_are_distinguished(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="there is no such file"):
        read_toml(tmp_path / "nowhere.toml")
    with pytest.raises(InvalidConfig, match="cannot be read: Is a directory"):
        read_toml(tmp_path)
    with pytest.raises(InvalidConfig, match="cannot be read"):
        read_toml(Path("a\0b"))


def test_a_read_error_is_reported() -> None:
    with pytest.raises(InvalidConfig, match="/proc/self/mem: the file cannot be read: Input/output error"):
        read_toml(Path("/proc/self/mem"))
