"""Generate the reference page of the site checks from the checks themselves. Run this module to rewrite the page."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from pressroom_seo.site_checks.model import CAPS, LOSS, SEVERITIES
from pressroom_seo.site_checks.report import CRAWL_CHECKS

PAGE = Path(__file__).parents[4] / "docs/reference/site-checks.md"

_HEAD = """# Site checks

This page lists what `get_seo_report` checks on a website, and `check_page_seo` on a single page. Every URL starts
with 1, and loses {loss}.
[How a site is crawled](../explanation/crawling.md#what-the-score-means) explains how this becomes a score.
"""


def checks_page() -> str:
    """Return the page as Markdown."""
    worst, *others = (f"{LOSS[severity]:g} for each {severity}" for severity in SEVERITIES)
    lines = [_HEAD.format(loss=f"{worst} check that finds something there, {' and '.join(others)}")]
    for group, checks in groupby(
        sorted(CRAWL_CHECKS.values(), key=lambda check: check.group), key=lambda check: check.group
    ):
        title = group.replace("_", " ").capitalize().replace("Urls", "URLs")
        lines += [f"## {title}", "", "| Check | Severity | What is wrong | What to do |"]
        lines.append("|---|---|---|---|")
        for check in sorted(checks, key=lambda check: (SEVERITIES.index(check.severity), check.id)):
            cap = f"; the score is at most {CAPS[check.id]}" if check.id in CAPS else ""
            cells = (f"`{check.id}`", f"{check.severity}{cap}", _cell(check.message), _cell(check.fix))
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;")


if __name__ == "__main__":
    PAGE.write_text(checks_page())
