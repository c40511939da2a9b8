"""Operator overrides: templates, a style sheet and files that replace the server's own, valid or broken."""

from __future__ import annotations

import json
import os
from pathlib import Path

import httpx
import pytest
from pressroom.config.models import BrandingSettings
from pressroom.plugins.template_folder import TemplateFolder
from pressroom.testing import RunningHost, settings_for_test
from structlog.testing import capture_logs
from support.commands import run_command
from support.server import serving

HEADED = '{% extends "builtin/base.html" %}{% block own_head %}<meta name="shop" content="7">{% endblock %}'


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    folder = tmp_path / "templates"
    folder.mkdir()
    return folder


def config_of(templates: Path, more: str = "") -> str:
    return f'[branding]\ntemplates = "{templates}"\n{more}'


def put(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def warnings_of_doctor(tmp_path: Path, templates: Path) -> list[tuple[str, str]]:
    put(tmp_path, "pressroom.toml", config_of(templates) + f'[storage]\npath = "{tmp_path / "data"}"\n')
    result = run_command(["doctor", "--json"], cwd=tmp_path, env=dict(os.environ))
    checks = json.loads(result.stdout)["checks"]
    return [(check["message"], check["hint"]) for check in checks if check["check"] == "templates"]


def test_an_operators_template_style_sheet_and_files_are_served(tmp_path: Path, templates: Path) -> None:
    put(templates, "base.html", HEADED)
    put(templates, "error.html", '{% extends "base.html" %}{% block main %}<p class="lost">Gone</p>{% endblock %}')
    put(templates, "static/ground.svg", "<svg/>")
    put(tmp_path, "shop.css", "main { background: url(ground.svg) }")
    config = config_of(templates, f'stylesheet = "{tmp_path / "shop.css"}"\n')
    with serving(tmp_path / "server", config) as server, httpx.Client(base_url=server.url) as http:
        page = http.get("/tools")
        assert '<meta name="shop" content="7">' in page.text
        assert "style-src 'self'" in page.headers["content-security-policy"]
        href = page.text.split("/tools/static/own.css?v=")[1].split('"')[0]
        assert page.text.index("pressroom.css") < page.text.index("own.css")
        style = http.get(f"/tools/static/own.css?v={href}")
        assert (style.text, style.headers["content-type"]) == (
            "main { background: url(ground.svg) }",
            "text/css; charset=utf-8",
        )
        assert "immutable" in style.headers["cache-control"]
        assert http.get("/tools/static/ground.svg").headers["content-type"] == "image/svg+xml"
        missing = http.get("/nothing", headers={"Accept": "text/html"})
        assert (missing.status_code, '<p class="lost">Gone</p>' in missing.text) == (404, True)
        assert '<meta name="shop" content="7">' in missing.text
    assert "a file of the operator's templates" not in server.log


def test_a_plugins_template_is_replaced_by_plugin_id(templates: Path, tmp_path: Path) -> None:
    put(templates, "content/overview.html", '<h2>Shop</h2>{% include "builtin/overview.html" %}')
    settings = settings_for_test({"branding": {"templates": templates}}, tmp_path / "data")
    with RunningHost(settings) as host, host.account().browser() as browser:
        assert "<h2>Shop</h2>" in browser.get("/dashboard").text


@pytest.mark.parametrize(
    ("source", "line", "reason", "tried"),
    [
        ("<p>\n\n{{ 1 / 0 }}</p>", 3, "division by zero", 2),
        ("\n{{ nobody.knows }}", 2, "'nobody' is undefined", 2),
        ("{% for one in range(99999) %}{{ range(99999)|sum }}{% endfor %}", 0, "takes more than", 1),
        ("{{ 'x' * 9000000 }}", 0, "more than 8000000 characters", 1),
        ('{% include "error.html" %}', 1, "recursion", 2),
        ("{{ ''.__class__.__mro__ }}", 1, "unsafe", 2),
        ("{{ range(999999999)|list }}", 1, "Range too big", 2),
        ("{{ brand.__init__.__globals__ }}", 1, "unsafe", 2),
        ("{% set all = [1] %}{{ all.clear() }}", 1, "unsafe", 2),
    ],
)
def test_a_failing_template_is_logged_and_counted_and_the_page_still_served(
    templates: Path, tmp_path: Path, source: str, line: int, reason: str, tried: int
) -> None:
    put(templates, "error.html", source)
    settings = settings_for_test(
        {"branding": {"templates": templates}, "metrics": {"token": "t"}, "builtin_plugins": False}, tmp_path / "data"
    )
    with capture_logs() as log, RunningHost(settings) as host, httpx.Client(base_url=host.url, timeout=30) as http:
        responses = [http.get("/nothing", headers={"Accept": "text/html"}) for _ in range(2)]
        metrics = http.get("/metrics", headers={"Authorization": "Bearer t"}).text
    assert [(response.status_code, "<h1" in response.text) for response in responses] == [(404, True)] * 2
    failures = [event for event in log if event["event"] == "a template of the operator failed"]
    assert len(failures) == 1
    assert failures[0]["template"] == "error.html"
    assert reason in failures[0]["error"]
    if line:
        assert (failures[0]["file"], failures[0]["line"]) == (str(templates / "error.html"), line)
    assert [line for line in metrics.splitlines() if "template_failures_total{" in line] == [
        f'pressroom_template_failures_total{{template="error.html"}} {tried}.0'
    ]


# An alarm raised in a garbage collector callback is swallowed there, and fires again.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    "source",
    [
        "\n{% for one in range(99999) %}{% for other in range(99999) %}{% endfor %}{% endfor %}",
        "{% macro twice(n) %}\n{% if n %}{{ twice(n - 1) }}{{ twice(n - 1) }}{% endif %}{% endmacro %}{{ twice(60) }}",
        "\n{% for one in range(99999) recursive %}{{ loop(range(99999)) if loop.depth < 4 }}{% endfor %}",
        "{% set all %}\n{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}{% endset %}",
        "\n{% for one in range(99999) if one == range(99999)|sum %}{% endfor %}",
    ],
    ids=["nested loops", "recursive macro", "recursive loop", "block that is kept", "filter of a loop"],
)
def test_an_endless_template_without_output_is_interrupted(templates: Path, tmp_path: Path, source: str) -> None:
    originals = tmp_path / "originals"
    put(originals, "page.html", "the original")
    put(templates, "shop/page.html", source)
    put(templates, "shop/other.html", "still {{ word }}")
    put(originals, "other.html", "")
    folder = TemplateFolder(BrandingSettings(templates=templates))
    pages = folder.of_plugin("shop", [originals])
    assert folder.problems == []
    with capture_logs() as log:
        assert pages.render("page.html") == "the original"
    (failed,) = log
    assert (failed["file"], failed["line"]) == (str(templates / "shop" / "page.html"), 2)
    assert failed["error"] == "TemplateTooLong: it takes more than 2 s"
    assert folder.failures == {"shop/page.html": 1}
    assert pages.render("other.html", word="here") == "still here"


def test_a_server_keeps_responding_after_a_template_that_never_ends(tmp_path: Path, templates: Path) -> None:
    put(templates, "error.html", "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}")
    with serving(tmp_path / "server", config_of(templates)) as server, httpx.Client(base_url=server.url) as http:
        missing = http.get("/nothing", headers={"Accept": "text/html"}, timeout=60)
        assert (missing.status_code, "site-header" in missing.text) == (404, True)
        assert http.get("/tools").status_code == 200
    assert "it takes more than 2 s" in server.log


def test_broken_files_are_logged_at_start_up_and_the_originals_used(tmp_path: Path, templates: Path) -> None:
    put(templates, "base.html", "<p>\n{% if %}")
    put(templates, "tool.html", '\n{% extends "bse.html" %}')
    put(templates, "access.html", "{{ title|nofilter }}")
    (templates / "error.html").symlink_to("/etc/passwd")
    (templates / "card.html").write_bytes(b"\xff\xfe")
    put(templates, "frame.html", "x" * 300_000)
    os.mkfifo(templates / "forms.html")
    (templates / "elsewhere").symlink_to("/etc")
    (templates / ".hidden.html").symlink_to("/etc/passwd")
    put(templates, "static/page.html", "<script>alert(1)</script>")
    put(templates, "static/pages.js", "alert(1)")
    put(templates, "content/a/b/c/read.html", "")
    put(templates, "content/a/b/c/d/deep.html", "")
    with serving(tmp_path / "server", config_of(templates)) as server, httpx.Client(base_url=server.url) as http:
        page, missing = http.get("/tools"), http.get("/no", headers={"Accept": "text/html"})
        assert (page.status_code, missing.status_code) == (200, 404)
        assert "site-header" in page.text
        assert "root:" not in missing.text
        assert http.get("/tools/static/page.html").status_code == 404
        assert http.get("/tools/static/pages.js").text != "alert(1)"
        for path in ("..%2f..%2fbase.html", "%2e%2e/base.html", "base.html"):
            assert http.get(f"/tools/static/{path}").status_code == 404
    for problem in (
        "base.html, line 2: Expected an expression",
        "tool.html, line 2: it names 'bse.html', which is not a template",
        "access.html, line 1: No filter named 'nofilter'",
        "error.html: it is a symbolic link that leads out of the folder",
        "card.html: it is not UTF-8",
        "frame.html: it is larger than 256 KiB",
        "forms.html: it is not a regular file",
        "elsewhere: a symbolic link to a folder is not followed",
        "static/page.html: it is not served",
        "static/pages.js: the server has a file of this name",
        "content/a/b/c/read.html: no template has this name",
        "content/a/b/c/d: folders deeper than 4 levels are not read",
    ):
        assert problem in server.log, problem
    assert ".hidden" not in server.log


def test_symlinks_within_the_folder_are_followed_as_in_kubernetes(tmp_path: Path, templates: Path) -> None:
    put(templates, "..2026/base.html", HEADED)
    (templates / "..data").symlink_to("..2026")
    (templates / "base.html").symlink_to("..data/base.html")
    with serving(tmp_path / "server", config_of(templates)) as server:
        assert '<meta name="shop"' in httpx.get(f"{server.url}/tools").text


@pytest.mark.parametrize("made", [False, True])
def test_an_unreadable_folder_is_logged_and_ignored(tmp_path: Path, *, made: bool) -> None:
    folder = tmp_path / "templates"
    if made:
        folder.write_text("a file")
    with serving(tmp_path / "server", config_of(folder, 'stylesheet = "/nothing.css"\n')) as server:
        page = httpx.get(f"{server.url}/tools")
        assert (page.status_code, "own.css" in page.text) == (200, False)
    assert f"{folder}: cannot be read" in server.log
    assert "/nothing.css: No such file or directory" in server.log


def test_doctor_reports_files_that_replace_nothing(tmp_path: Path, templates: Path) -> None:
    put(templates, "bse.html", "x")
    put(templates, "contnt/post.html", "x")
    put(templates, "content/post.htm", "x")
    put(templates, "shop_footer.html", "x")
    put(
        templates,
        "card.html",
        '{% extends "builtin/card.html" %}{% block below %}{% include "shop_footer.html" %}{% endblock %}',
    )
    assert warnings_of_doctor(tmp_path, templates) == [
        (f"not used: {templates}/bse.html: no template has this name", "did you mean base.html?"),
        (f"not used: {templates}/content/post.htm: no template has this name", "did you mean post.html?"),
        (
            f"not used: {templates}/contnt: no plugin that is loaded has the id 'contnt' and templates",
            "did you mean content?",
        ),
    ]


def test_doctor_reports_when_the_original_of_a_copy_has_changed(tmp_path: Path, templates: Path) -> None:
    assert warnings_of_doctor(tmp_path, templates) == []
    first_copy = run_command(["templates", "copy", "content/post.html"], cwd=tmp_path, env=dict(os.environ))
    file = templates / "content" / "post.html"
    assert (first_copy.returncode, first_copy.stdout) == (
        0,
        f"Copied content/post.html to {file}. Restart the server once you have changed it.\n",
    )
    repeated = run_command(["templates", "copy", "content/post.html"], cwd=tmp_path, env=dict(os.environ))
    assert (repeated.returncode, "add --force to replace it" in repeated.stderr) == (1, True)
    file.write_text(f"{file.read_text()}<p>Shop</p>\n")
    assert warnings_of_doctor(tmp_path, templates) == []
    head, rest = file.read_text().split("\n", 1)
    file.write_text(f"{head[:-19]}{'0' * 16} #}}\n{rest}")
    assert warnings_of_doctor(tmp_path, templates) == [
        (
            f"{file} is a copy of content/post.html, which has changed since",
            "compare it with `pressroom templates show`",
        )
    ]
    listing = run_command(["templates", "list", "--json"], cwd=tmp_path, env=dict(os.environ))
    replaced = {copy["template"]: copy["replacedBy"] for copy in json.loads(listing.stdout)}
    assert replaced["content/post.html"] == str(file)
    assert replaced["base.html"] == ""
    result = run_command(["templates", "show", "content/post.html"], cwd=tmp_path, env=dict(os.environ))
    assert result.stdout.startswith('{% extends "base.html" %}')


def test_a_forced_copy_replaces_a_symlink_not_its_target(tmp_path: Path, templates: Path) -> None:
    put(tmp_path, "pressroom.toml", config_of(templates))
    put(tmp_path, "other.html", "mine")
    other = tmp_path / "other.html"
    (templates / "content").mkdir()
    target = templates / "content" / "post.html"
    target.symlink_to(other)
    refused = run_command(["templates", "copy", "content/post.html"], cwd=tmp_path, env=dict(os.environ))
    assert (refused.returncode, "add --force" in refused.stderr, target.is_symlink()) == (1, True, True)
    result = run_command(["templates", "copy", "content/post.html", "--force"], cwd=tmp_path, env=dict(os.environ))
    assert result.returncode == 0, result.stderr
    assert (target.is_symlink(), other.read_text()) == (False, "mine")
    assert target.read_text().startswith("{# Copied from content/post.html")
    assert list(target.parent.iterdir()) == [target]


def test_template_names_of_one_owner_are_unique(tmp_path: Path) -> None:
    """An operator's file could only replace both of them."""
    settings = settings_for_test({}, tmp_path)
    with RunningHost(settings) as host:
        paths = [path for _, path, _ in host.host.compiled.templates.originals()]
    folders = {path.parent for path in paths}
    assert len(paths) == sum(1 for folder in folders for _ in folder.glob("*.html"))
