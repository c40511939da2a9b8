"""The interface contract lists only what the code has, and the code cites only existing sections of it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pressroom import errors
from pressroom.errors import OAuthError
from pressroom.http.errors import STATUS
from pressroom.interfaces.mcp import protocol
from support.doc_examples import DOCS, ROOT
from support.reference_interface import GENERATORS

PAGE = (DOCS / "reference/interface.md").read_text(encoding="utf-8")

SECTIONS = set(re.findall(r"^#{2,3} (\d+(?:\.\d+)?)\.? ", PAGE, re.MULTILINE))

CITATION = re.compile(r"interface contract\W+sections? ((?:\d+(?:\.\d+)?(?:, | and | to )?)+)")
OLD_CITATION = re.compile(r"interface specification", re.IGNORECASE)

HEADER = re.compile(r"(?:[A-Z][A-Za-z]*-)+[A-Z][A-Za-z]*|Allow|ETag|Link|Vary|Location|Pragma")
OTHER_NAMES = {
    "Accept-Encoding",  # request header
    "User-Agent",  # request header
    "License-Expression",  # package metadata
    "License-File",  # package metadata
    "Requires-Dist",  # package metadata
    "EXTERNALLY-MANAGED",  # a file of Python installations
    "X-Editable-Text",  # preview header
    "X-Details",  # preview header, sent only by the pages
    "Set-Cookie",  # header of browser pages, which are not part of the contract
    "Content-Security-Policy-Report-Only",
}

PROGRAMS = sorted(
    file
    for folder in [ROOT / "core" / "src", *(ROOT / "plugins").glob("*/src"), ROOT / "tests"]
    for file in folder.rglob("*.py")
    if file.name != Path(__file__).name
)


def text_of(file: Path) -> str:
    return " ".join(file.read_text(encoding="utf-8").split())


def test_every_cited_section_exists() -> None:
    cited = [
        (number, file.name)
        for file in PROGRAMS
        for numbers in CITATION.findall(text_of(file))
        for number in re.findall(r"\d+(?:\.\d+)?", numbers)
    ]
    assert len({number for number, _ in cited}) >= 8
    assert [(number, name) for number, name in cited if number not in SECTIONS] == []


def test_no_program_cites_an_unpublished_document() -> None:
    assert [str(file) for file in PROGRAMS if OLD_CITATION.search(text_of(file))] == []


def test_contract_tests_refer_to_existing_sections() -> None:
    text = (ROOT / "tests/tools_api/test_contract.py").read_text(encoding="utf-8")
    numbers = re.findall(r"def test_(\d+(?:_\d+)?)_", text)
    assert numbers
    assert {number.replace("_", ".") for number in numbers} <= SECTIONS


@pytest.mark.parametrize("slug", GENERATORS)
def test_every_generator_has_a_section(slug: str) -> None:
    assert re.search(rf"^### 4\.\d .*\n\n`POST /tools/{slug}/api/generate`", PAGE, re.MULTILINE)


@pytest.mark.parametrize("code", [*STATUS, *(kind.code for kind in OAuthError.__subclasses__())])
def test_every_error_code_is_on_the_page(code: str) -> None:
    assert f"| `{code}` |" in PAGE


@pytest.mark.parametrize("page", ["reference/interface.md", "reference/http-api.md"])
def test_the_table_of_error_codes_names_nothing_that_clients_do_not_get(page: str) -> None:
    table = (DOCS / page).read_text(encoding="utf-8").partition("| `error.code` | Status |")[2].partition("\n\n")[0]
    meanings = [line.split(" | ")[2] for line in table.splitlines()[2:]]
    assert len(meanings) == len(STATUS)
    assert {name for meaning in meanings for name in re.findall(r"`([^`]+)`", meaning)} == {"Content-Type"}


def test_every_tool_links_to_its_arguments() -> None:
    tools = PAGE.partition("<!-- begin interface-tools -->")[2].partition("<!-- end interface-tools -->")[0]
    rows = tools.strip().splitlines()[2:]
    assert len(rows) > len(GENERATORS)
    assert [row for row in rows if not re.match(r"\| \[`\w+`\]\(\S+\) \|", row)] == []


def test_every_json_rpc_code_is_on_the_page() -> None:
    codes = {value for value in vars(protocol).values() if isinstance(value, int) and value < 0}
    assert len(codes) == 6
    assert {code for code in codes if f"| {code} |" not in PAGE} == set()


def headers(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            value = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            if HEADER.fullmatch(value):
                yield value


def test_every_response_header_of_the_server_is_on_the_page() -> None:
    sources = Path(errors.__file__).parent.rglob("*.py")
    sent = {name for file in sources for name in headers(file)} - OTHER_NAMES
    assert len(sent) >= 25
    assert {name for name in sent if f"`{name}`" not in PAGE} == set()


def test_sections_are_numbered_without_a_gap() -> None:
    numbers = [
        tuple(map(int, heading.split(".")))
        for heading in re.findall(r"^#{2,3} (\d+(?:\.\d+)?)\.? ", PAGE, re.MULTILINE)
    ]
    assert numbers == sorted(numbers)
    for chapter in {number[0] for number in numbers}:
        parts = [number[1] for number in numbers if number[0] == chapter and len(number) == 2]
        assert parts == list(range(1, len(parts) + 1))
