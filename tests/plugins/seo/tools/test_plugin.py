"""The plugin's declaration, and the reference page generated from its checks."""

from __future__ import annotations

import subprocess
import sys

from pressroom_seo.plugin import PLUGIN, pressroom_mcp_tools

from .checks_page import PAGE, checks_page

HEAVY = ("selectolax", "ada_url", "icu4py", "py3langid", "pressroom_seo.crawler", "pressroom_seo.scoring")


def test_the_reference_lists_every_check() -> None:
    assert PAGE.read_text() == checks_page(), "write it anew: python tests/plugins/seo/tools/checks_page.py"


def test_every_tool_is_valid() -> None:
    tools = list(pressroom_mcp_tools())
    assert [tool.name for tool in tools] == [
        "check_blog_seo",
        "get_seo_report",
        "set_seo_issue_status",
        "check_page_seo",
        "generate_structured_data",
    ]
    assert [problem for tool in tools for problem in tool.problems()] == []


def test_the_parsers_load_with_the_first_call() -> None:
    script = (
        "import sys; from pressroom_seo.plugin import PLUGIN, pressroom_mcp_tools as tools, pressroom_article_scorers; "
        f"tools(); heavy = {HEAVY!r}; print([one for one in heavy if one in sys.modules])"
    )
    completed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert completed.stdout.strip() == "[]"
    assert PLUGIN.requires == ("content",)
