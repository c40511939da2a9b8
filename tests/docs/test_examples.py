"""The examples on every page do what the page says."""

from pathlib import Path

import pytest
from support.doc_examples import DOCS, ROOT, PageExamples, blocks, commands, differences, pages

EXECUTED = ("bash", "console", "json", "python", "toml")
WITH_EXAMPLES = [
    page
    for page in pages()
    if any(block.language in EXECUTED and not block.skipped for block in blocks(page.read_text()))
]


@pytest.mark.timeout(600)  # a tutorial installs a package, runs its tests and starts several servers
@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_work_as_shown(page: Path, tmp_path: Path) -> None:
    with PageExamples(page, tmp_path) as examples:
        assert examples.run() > 0


def test_a_skipped_example_has_a_reason() -> None:
    silent = [
        f"{page.name}, line {block.line}"
        for page in pages()
        for block in blocks(page.read_text())
        if block.skipped and len(block.mark.split()) < 3
    ]
    assert silent == []


def test_every_part_of_the_documentation_has_examples_that_are_run() -> None:
    parts = {page.relative_to(DOCS).parts[0] for page in WITH_EXAMPLES if page.is_relative_to(DOCS)}
    assert parts >= {"tutorial", "how-to", "reference", "explanation"}


def test_a_console_block_is_divided_into_commands_and_outputs() -> None:
    text = "$ echo a \\\n    b\na b\n$ printf 'x\ny'\nx\ny\n"
    assert list(commands(text)) == [("echo a \\\n    b", "a b\n"), ("printf 'x\ny'", "x\ny\n")]


@pytest.mark.parametrize(
    ("shown", "actual"),
    [
        ("one\n...\nfour\n", "one\ntwo\nthree\nfour\n"),
        ("id 0123456789abcdef0123456789abcdef", "id ffffffffffffffffffffffffffffffff"),
        ("version …", "version 0.1.0\n"),
        ("a   b", "a b"),
    ],
)
def test_variable_parts_may_differ(shown: str, actual: str) -> None:
    assert differences(shown, actual) == ""


@pytest.mark.parametrize(("shown", "actual"), [("one", "two"), ("one", "one\ntwo"), ("", "one"), ("one\n...", "two")])
def test_nothing_else_may_differ(shown: str, actual: str) -> None:
    assert differences(shown, actual) != ""


def test_comments_define_how_a_block_is_used() -> None:
    page = (
        "<!-- setup bash\necho prepared > file\n-->\n\n"
        "1. An item:\n\n    <!-- example: file a.toml -->\n    ```toml\n    [a]\n    ```\n\n"
        "<!-- example: skip, it needs a cloud -->\n```bash\ntrue\n```\n\n```text\nshown\n```\n"
    )
    parsed = [(block.language, block.text, block.mark.partition(" ")[0], block.skipped) for block in blocks(page)]
    assert parsed == [
        ("bash", "echo prepared > file\n", "setup", False),
        ("toml", "[a]\n", "file", False),
        ("bash", "true\n", "skip,", True),
        ("text", "shown\n", "", False),
    ]


def test_wrong_output_is_detected(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- setup bash\nword=hello; export word\n-->\n\n```console\n$ echo $word\nhello\n$ echo one\ntwo\n```\n"
    )
    with PageExamples(page, tmp_path) as examples, pytest.raises(AssertionError, match="line 5: echo one"):
        examples.run()


@pytest.mark.parametrize(
    "block",
    ["```toml\nno_such_setting = 1\n```", "```json\n{,}\n```", "```python\nassert 1 == 2\n```", "```bash\nfalse\n```"],
)
def test_a_failing_example_is_detected(block: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"{block}\n")
    with PageExamples(page, tmp_path) as examples, pytest.raises(AssertionError, match="line 1"):
        examples.run()
