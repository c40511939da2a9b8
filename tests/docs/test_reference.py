"""The generated reference matches the code."""

import os
import re

import pytest
from pressroom import sdk
from pressroom.config import Settings
from pressroom.config.sections import fixed_keys
from pressroom.pipeline.chain import STAGE_NAMES
from pressroom.plugins.discovery import Phase, Status
from pressroom_content.contract import Capabilities, CredentialField, SiteConnector
from support.doc_examples import DOCS, ROOT
from support.reference_fields import fields_apart
from support.reference_text import PARTS, docstring, hook_functions


@pytest.mark.parametrize("name", PARTS)
def test_a_generated_part_is_up_to_date(name: str) -> None:
    page, render = PARTS[name]
    file = DOCS / page
    text = file.read_text()
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
    before, begin_marker, rest = text.partition(begin)
    part, end_marker, after = rest.partition(end)
    assert begin_marker, f"{page} has no {begin!r}"
    assert end_marker, f"{page} has no {end!r}"
    expected = f"\n{render().strip()}\n\n"
    if os.environ.get("PRESSROOM_TEST_UPDATE"):
        file.write_text(before + begin + expected + end + after)
    else:
        assert part == expected, f"{page}: render it anew with PRESSROOM_TEST_UPDATE=1"


@pytest.mark.parametrize("name", [name for name, _ in hook_functions()])
def test_a_hook_has_a_heading_its_signature_and_its_docstring(name: str) -> None:
    function = dict(hook_functions())[name]
    _, heading, section = (DOCS / "reference/hooks.md").read_text().partition(f"\n## {name}\n")
    section = section.partition("\n## ")[0]
    assert heading
    assert f"def {name}(plugin: PluginContext) -> Iterable[" in section
    assert docstring(function).partition("```")[0].strip() in section
    assert "@hookimpl" in section


def test_every_public_name_of_the_sdk_has_an_entry() -> None:
    headings = re.findall(r"^### (\S+)$", (DOCS / "reference/sdk.md").read_text(), re.MULTILINE)
    assert sorted(headings) == sorted(sdk.__all__)


def test_every_setting_is_in_a_table_with_a_default() -> None:
    text = (DOCS / "reference/configuration.md").read_text()
    for *table, name in fixed_keys(Settings):
        heading = f"## `[{'.'.join(table)}]`" if table else "## Top of the file"
        if name in ("plans", "tools", "plugins"):
            assert f"## `[{name}.<" in text
            continue
        section = text.partition(f"\n{heading}\n")[2].partition("\n## ")[0]
        rows = [line.split(" | ") for line in section.splitlines() if line.startswith(f"| `{name}` |")]
        assert [len(row) for row in rows] == [4], f"{heading} {name}"
        assert all(cell.strip(" |") for cell in rows[0])


def test_every_backend_in_the_metrics_is_documented() -> None:
    sources = (ROOT / "core" / "src").rglob("*.py")
    backends = {name for file in sources for name in re.findall(r'backend_failure\("(\w+)"\)', file.read_text())}
    assert len(backends) >= 4
    sentence = (DOCS / "reference/metrics.md").read_text().partition("\n`backend` is ")[2].partition(".")[0]
    assert set(re.findall(r"`(\w+)`", sentence)) == backends


def test_one_request_lists_the_stages_in_order() -> None:
    text = (DOCS / "explanation/one-request.md").read_text()
    assert tuple(re.findall(r"^## (\w+)$", text, re.MULTILINE)) == STAGE_NAMES


def test_every_status_and_every_phase_of_a_plugin_is_explained() -> None:
    text = (DOCS / "reference/plugins.md").read_text()
    documented = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert documented == [*Status.__args__, *Phase.__args__]  # type: ignore[attr-defined] # a Literal's values


@pytest.mark.parametrize(
    ("declared", "page"),
    [
        *(
            (record_type, "sdk")
            for record_type in (sdk.Generator, sdk.McpTool, sdk.Job, sdk.Route, sdk.Page, sdk.HostServices)
        ),
        *((record_type, "plugin-hooks") for record_type in (SiteConnector, CredentialField, Capabilities)),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_every_field_of_a_declaration_has_a_type_and_a_description(declared: type, page: str) -> None:
    text = (DOCS / f"reference/{page}.md").read_text()
    section = text.partition(f"\n### {declared.__name__}\n")[2].partition("\n### ")[0]
    for name in declared.__dataclass_fields__:  # type: ignore[attr-defined]
        assert re.search(rf"^    {name}: \S", section, re.MULTILINE), name
        assert f"`{name}`" in section, name


def test_documented_fields_are_listed_in_order() -> None:
    doc = """What is sold. `price` is never shown.

`size` is in grams; `name` is for people. It has no line breaks. With `sold`, it is left out. All times are in UTC.

`price` and `sold` are set by the shop, and `size` by its `maker`."""
    assert fields_apart(doc, ["price", "name", "size", "sold"]) == (
        "What is sold.\n\n- `price`: never shown.\n- `size`: in grams.\n- `name`: for people. It has no line breaks.\n"
        "- `sold`: with it, it is left out.\n\nAll times are in UTC.\n\n"
        "`price` and `sold` are set by the shop, and `size` by its `maker`."
    )
    assert fields_apart("Nothing of `size`.", ["size"]) == "Nothing of `size`."
