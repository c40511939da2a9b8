"""How every construct of an article is rendered on a platform's page, compared with what its connector declares."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pressroom.sdk import PluginContext
from pressroom_content.articles.store import Articles
from pressroom_content.contract import SiteConnector
from pressroom_content.publishing.losses import all_losses, loss_messages
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.publish_requests import UNDER_WAY
from pressroom_content.publishing.structure_reading import structure_of
from pressroom_content.publishing.verifying import RECHECK_DELAYS, sent_body
from pressroom_content.records import Publication
from pressroom_content.websites.store import Websites

from support.fidelity_checks import Construct, ShownPage
from support.fidelity_constructs import BODY, CONSTRUCTS, EVERYTHING
from support.publishing_world import ADA, recheck, write


def judged(html: str, warned_before: Sequence[str], lost: Sequence[str]) -> dict[str, str]:
    """Return a note for each construct on a page that is not kept.

    `warned_before` are the warnings issued before publishing, `lost` the losses detected on the page.

    Raises:
        AssertionError: a construct is lost without a warning, or is kept despite a warning.
    """
    page, notes, problems = ShownPage(html), {}, []
    for construct in CONSTRUCTS:
        fate, warnings = (
            construct.fate(page),
            [warning for warning in (*warned_before, *lost) if construct.warning.search(warning)],
        )
        if fate == "lost" and not warnings:
            problems.append(f"{construct.name} is lost in silence: {_around(page, construct)}")
        if fate == "kept" and warnings:
            problems.append(f"{construct.name} is there, but: {'; '.join(warnings)}: {_around(page, construct)}")
        if fate == "converted":
            notes[construct.name] = f"converted: {construct.as_what}"
        elif fate == "lost":
            notes[construct.name] = "lost with a warning"
    assert not problems, "\n".join(problems)
    return notes


def _around(page: ShownPage, construct: Construct) -> str:
    node = page.find("*", construct.word)
    while node is not None and node.parent is not None and len(node.html or "") < 80:
        node = node.parent
    return (node.html or "")[:400] if node is not None else "not on the page"


async def publish_everything(
    plugin: PluginContext,
    platform: str,
    url: str,
    credential: Mapping[str, str],
    *,
    title: str = EVERYTHING,
    body: str = BODY,
) -> Publication:
    """Publish `body`, by default the complete article, on a platform; return the publication once published."""
    website = await Websites(plugin).add(ADA, platform, name="Fidelity", url=url, credential=credential)
    article = await write(
        plugin,
        title=title,
        body=body,
        author="",
        tags=(),
        categories=(),
        featured_media_id="",
        excerpt="",
        meta_title="",
    )
    publication = await Publications(plugin).publish(ADA, article, website.id)
    for _ in range(600):
        publication = await Publications(plugin).wait(publication, 0.1)
        if publication.status not in UNDER_WAY:
            break
    assert publication.status == "published", publication
    return publication


async def looked_at(plugin: PluginContext, publication: Publication) -> Publication:
    """Return a publication after its scheduled page checks; a site can take a while to show a new page."""
    for _ in RECHECK_DELAYS:
        if publication.due_at is None:
            break
        publication = await recheck(plugin, publication)
    return publication


async def notes_of(plugin: PluginContext, publication: Publication, html: str) -> dict[str, str]:
    """Return the notes of `judged`; check that the publication's warnings cover all losses. Raises like `judged`."""
    website = await Websites(plugin).get(ADA, publication.website_id)
    article = await Articles(plugin).get(ADA, publication.article_id)
    sent = await sent_body(plugin, publication, article, website, "")
    losses = all_losses(structure_of(sent, publication.url), structure_of(html, publication.url))
    assert set(loss_messages(losses)) <= set(publication.warnings), publication.warnings
    return judged(
        html,
        [warning for warning in publication.warnings if warning.startswith("removed")],
        [loss.message for loss in losses],
    )


def compare(notes: Mapping[str, str], connector: SiteConnector, module: str, generator: str = "") -> None:
    """Check that a connector's `FIDELITY` equals `notes`; with `PRESSROOM_TEST_UPDATE`, rewrite it instead.

    `module` is its file below the folder of plugins. `generator` is the static site generator of the page, if any.
    """
    file = Path(__file__).parents[2] / "plugins" / module
    if not os.environ.get("PRESSROOM_TEST_UPDATE"):
        declared = connector.fidelity_for({"generator": generator})
        assert dict(declared) == dict(notes), "write it anew with PRESSROOM_TEST_UPDATE=1"
        return
    text = file.read_text("utf-8")
    match = _FIDELITY.search(text)
    assert match is not None, f"{file} has no FIDELITY"
    if generator:
        by_generator = {**ast.literal_eval(match[2].strip()), generator: dict(notes)}
        rows = "".join(f'"{name}": {_shown(by_generator[name])},' for name in sorted(by_generator))
        written = f"{{{rows}}}"
    else:
        written = _shown(notes)
    file.write_text(f"{text[: match.start(2)]}{written}{text[match.end(2) :]}", "utf-8")
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", str(file)], check=True)


def _shown(notes: Mapping[str, str]) -> str:
    rows = "".join(f'"{name}": "{note}",' for name, note in notes.items())
    return f"{{{rows}}}"


_FIDELITY: Final = re.compile(r"^(FIDELITY: Final\[.*\] = MappingProxyType\()(.*?)^\)", re.DOTALL | re.MULTILINE)
"""The `FIDELITY` constant of a connector's module, which `compare` rewrites."""


def table(connectors: Sequence[SiteConnector]) -> str:
    """Return the Markdown table of constructs by platform and static site generator."""
    columns: dict[str, Mapping[str, str]] = {}
    for connector in connectors:
        generators = connector.fidelity_by.get("generator", {})
        columns |= {generator.title(): connector.fidelity_for({"generator": generator}) for generator in generators}
        if not generators:
            columns[connector.title] = connector.fidelity
    lines = [f"| Construct | Name | {' | '.join(columns)} |", f"|---|---|{'---|' * len(columns)}"]
    for construct in CONSTRUCTS:
        cells = [notes.get(construct.name, "kept") for notes in columns.values()]
        lines.append(f"| {construct.title} | `{construct.name}` | {' | '.join(cells)} |")
    return "\n".join(lines)
