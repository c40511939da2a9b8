"""Keyboard navigation: Tab reaches every control on every page, in order and in view, and Escape closes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from playwright.async_api import Browser, Page, expect
from pressroom.accounts.records import User
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.axe import violations
from support.content_client import client_of
from support.members import invite
from support.oauth import Flow
from support.people import EMAIL, BrowserWithoutScreen, add_person

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

TOOLS: Final = ("image-generator", "qr-code-generator", "favicon-generator", "code-to-image")
SIZES: Final = ((1280, 800), (390, 844))
PLATFORMS: Final = ("wordpress", "ghost", "devto", "git", "webhook")
MAX_PRESSES: Final = 400
BODY: Final = (
    "An engine weaves numbers.\n\n## Parts\n\n| Part | Does |\n|---|---|\n| Mill | adds |\n\n```python\nprint(1)\n```\n"
)

# Records the focusable elements, and what each looks like and does when focused.
WATCH: Final = """(backwards) => {
    const kinds = "a[href], button, input, select, textarea, summary, [tabindex]";
    const used = (element) => {
        const box = element.getBoundingClientRect();
        if (!element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true })) return false;
        if (!box.width || !box.height || element.tabIndex < 0 || element.matches(":disabled, [inert] *")) return false;
        if (element.type !== "radio") return true;
        const group = [...document.getElementsByName(element.name)].filter((one) => one.form === element.form);
        return element === (group.find((one) => one.checked) ?? group[0]);
    };
    const around = (element) => {
        const boxes = [element.closest("label"), element.closest(".code-editor")];
        return [element, element.parentElement, element.nextElementSibling, ...boxes].filter((one) => one);
    };
    const look = (element) => JSON.stringify(around(element).map((one) => {
        const style = getComputedStyle(one);
        const ring = style.outlineStyle !== "none" && [style.outlineStyle, style.outlineWidth, style.outlineColor];
        return [ring, style.boxShadow, style.backgroundColor, style.borderColor, style.top, style.clipPath];
    }));
    const name = (element) => {
        const text = element.getAttribute("aria-label") || element.textContent || element.name || "";
        return `${element.tagName.toLowerCase()}#${element.id} “${text.replace(/\\s+/g, " ").trim().slice(0, 40)}”`;
    };
    // Tab begins at the start, even where a field has the focus at first.
    const start = Object.assign(document.createElement("span"), { tabIndex: -1 });
    document.body[backwards ? "append" : "prepend"](start);
    start.focus();
    start.remove();
    const elements = [...document.querySelectorAll(kinds)].filter(used);
    const skip = elements[0].getAttribute("href") ?? "";
    const idle = new Map(elements.map((element) => [element, look(element)]));
    const seen = window.tabbed = { elements, order: [], faults: [], ended: false };
    const skips = skip.length > 1 && document.querySelector(`main${skip}[tabindex="-1"]`);
    if (!skips) seen.faults.push("nothing skips the header");
    if (backwards) elements.reverse();
    seen.faults.push(...elements.filter((one) => one.tabIndex > 0).map((one) => `${name(one)} is out of order`));
    document.addEventListener("focusin", ({ target }) => {
        if (seen.order.includes(target)) return void (seen.ended = true);
        seen.order.push(target);
        if (target.matches("iframe")) return;
        if (idle.has(target) && look(target) === idle.get(target)) seen.faults.push(`${name(target)} shows no focus`);
        const box = around(target).map((one) => one.getBoundingClientRect()).find((one) => one.width > 1);
        const hit = document.elementFromPoint(box.left + box.width / 2, box.top + Math.min(box.height / 2, 20));
        if (!hit) seen.faults.push(`${name(target)} is out of sight`);
        else if (!around(target).some((one) => one.contains(hit) || hit.contains(one)))
            seen.faults.push(`${name(target)} is below ${name(hit)}`);
    });
    seen.report = () => {
        const place = new Map(elements.map((element, index) => [element, index]));
        const reached = seen.order.filter((one) => place.has(one)).map((one) => place.get(one));
        const backwards = reached.filter((index, at) => at && index < reached[at - 1]).map((index) => elements[index]);
        // A script that comes after the page may have hidden what it replaces.
        const missed = elements.filter((one) => used(one) && !seen.order.includes(one));
        return [
            ...seen.faults,
            ...missed.map((one) => `${name(one)} is not reached`),
            ...backwards.map((one) => `${name(one)} comes too late`),
            ...(seen.ended ? [] : ["the end is not reached"]),
        ];
    };
    return elements.length;
}"""

# Lists faults in how a page reports errors: where the focus is, and which fields the errors belong to.
ERRORS: Final = """() => {
    const shown = (element) => element.checkVisibility({ visibilityProperty: true }) && element.textContent.trim();
    const name = (element) => element.outerHTML.slice(0, 120);
    const describing = (element) => (element.getAttribute("aria-describedby") ?? "").split(" ").filter(Boolean);
    const all = (selector) => [...document.querySelectorAll(selector)];
    const described = (id) => all("[aria-describedby]").filter((one) => describing(one).includes(id));
    const notices = all(".notice.wrong, [data-refused], [data-failure], [aria-labelledby=found]").filter(shown);
    const told = all(".field-error").filter(shown);
    const wrong = all("[aria-invalid=true]");
    const at = document.activeElement;
    const faults = [];
    if (!notices.length && !told.length) faults.push("nothing says what is wrong");
    const first = wrong.find((one) => one.checkVisibility());
    const summary = notices.find((one) => one === at || (at.matches("[tabindex='-1']") && at.contains(one)));
    const group = at.matches("fieldset") && told.some((one) => at.contains(one));
    if (at !== first && !summary && !group) faults.push(`the focus is at ${name(at)}`);
    for (const error of told) {
        const fields = described(error.id);
        if (!error.id || !fields.length) faults.push(`no field is described by ${name(error)}`);
        for (const field of fields)
            if (!field.matches("fieldset, [aria-invalid=true]")) faults.push(`${name(field)} is not marked as invalid`);
    }
    for (const field of wrong) {
        const texts = describing(field).map((id) => document.getElementById(id));
        if (!texts.length || texts.some((one) => !one || !one.textContent.trim()))
            faults.push(`${name(field)} does not say what is wrong`);
    }
    const box = at.getBoundingClientRect();
    if (box.bottom < 0 || box.top > innerHeight) faults.push(`${name(at)} has the focus, and is out of sight`);
    return faults;
}"""


@dataclass(frozen=True, slots=True)
class WrongForm:
    """A form that is filled in wrongly: its fields with the values typed into them, and its submit button."""

    path: str
    button: str
    typed: tuple[tuple[str, str], ...] = ()
    opens: str = ""  # the disclosure that contains it
    by_person: bool = True


@dataclass(frozen=True, slots=True)
class Pages:
    """A host and the paths of its pages."""

    host: RunningHost
    person: User
    public: tuple[str, ...]
    own: tuple[str, ...]
    wrong: tuple[WrongForm, ...]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a host with all built-in plugins."""
    config: dict[str, Any] = {"accounts": {"sign_up": True, "operators": [EMAIL]}, "logging": {"requests": False}}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as running:
        yield running


@pytest.fixture(scope="module")
def pages(host: RunningHost) -> Pages:
    """Publish articles, connect a client, and return the paths of all pages."""
    person = add_person(host)
    client = client_of(host, person.email)
    site = client.data("connect_website", platform="builtin", name="Notes on engines")["website_id"]
    articles = [
        client.data("create_content", title=title, body=BODY, tags=["engines"], website_id=site)["content_id"]
        for title in ("The engine that was never built", "A mill for numbers", "Cards for a loom")
    ]
    posts = [
        client.data("publish_content", content_id=content_id, website_id=site)["url"] for content_id in articles[:2]
    ]
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    client.data("publish_content", content_id=articles[2], website_id=site, mode="schedule", publish_at=later)
    client.data("save_content_idea", title="A letter to a student")
    with httpx.Client(base_url=host.url) as http:
        flow = Flow(host.url, http, http)
        flow.register(client_name="An editor")
        consent = f"/oauth/authorize?{flow.query()}"
    connecting = [
        client.data("connect_website", platform=platform)["connect_url"].removeprefix(host.url)
        for platform in PLATFORMS
    ]
    with BrowserWithoutScreen(host) as operator:
        operator.enter(host, person)
        fields = operator.get("/dashboard/users").fields("/dashboard/users")
        page = operator.post("/dashboard/users", fields | {"email": "new@example.net", "name": "", "plan": "free"})
        password = page.one("#sign-in-link").removeprefix(host.url)
    invitation = invite(host, person, "editor")
    invited = invite(host, add_person(host, "charles@example.org"), "editor")
    post = posts[0].removeprefix(host.url)
    blog = re.match(r"/sites/[^/]+", post)[0]  # type: ignore[index]  # every post has this
    article = f"/dashboard/articles/{articles[0]}"
    website = f"/dashboard/websites/{site}"
    connection = f"/dashboard/connections/{client.connection.id}"
    own_pages: tuple[str, ...] = (
        "",
        "/connections",
        "/account",
        "/activity",
        "/members",
        "/users",
        f"/users/{person.id}",
        "/articles",
    )
    own_pages += ("/articles/new/edit", "/calendar", "/websites", "/media", "/search", "/performance")
    return Pages(
        host=host,
        person=person,
        public=(
            *("/tools", *(f"/tools/{slug}" for slug in TOOLS), "/sign-in", "/sign-up"),
            *(password, invitation),
            *(blog, post, f"{blog}/search?q=engine", f"{blog}/archive", f"{blog}/tags/engines"),
        ),
        own=(
            *(f"/dashboard{path}" for path in own_pages),
            *(article + part for part in ("", "/edit", "/seo", "/versions", "/publications", f"/publications/{site}")),
            *(website, f"/dashboard/search/{site}", connection, consent),
            *(*connecting, invited),
        ),
        wrong=(
            WrongForm("/sign-in", "Sign in", (("E-mail", EMAIL), ("Password", "not this one")), by_person=False),
            WrongForm(
                "/sign-up",
                "Create account",
                (("E-mail", "new@example.com"), ("Your name", "A"), ("Password", "short")),
                by_person=False,
            ),
            WrongForm(password, "Save and sign in", (("Password", "short"),), by_person=False),
            WrongForm(
                invitation,
                "Create account and accept",
                (("E-mail", EMAIL), ("Password", "violet harbour lantern moss")),
                by_person=False,
            ),
            WrongForm("/tools/qr-code-generator", "Download", (("Background", "none"),), "Colours", by_person=False),
            WrongForm(
                "/dashboard/account", "Change password", (("Current password", "wrong"), ("New password", "short"))
            ),
            WrongForm("/dashboard/users", "Create account", (("E-mail address", EMAIL),)),
            WrongForm("/dashboard/activity?day=never", "", ()),
            WrongForm("/dashboard/calendar?tz=Nowhere", "", ()),
            WrongForm("/dashboard/calendar", "Save the idea", (("Topic", " "),)),
            WrongForm(f"{article}/edit", "Save", (("Title", " "), ("Slug", "not a slug /"), ("Language", "??"))),
            WrongForm(
                f"/dashboard/articles/{articles[2]}/publications/{site}",
                "Reschedule",
                (("Day and time (UTC)", "01012020"),),
            ),
            WrongForm(website, "Save", (("Time zone", "Nowhere"),)),
            WrongForm(website, "Save the domain", (("Domain", "no domain"),)),
            WrongForm(website, "Save the appearance", (("Accent colour", "red"),)),
            WrongForm(website, "Save the appearance", (("Label of link 1", "About"),)),
            WrongForm(f"/dashboard/search/{site}", "Connect", opens="Connect"),
            *(WrongForm(path, "Check and connect") for path in connecting),
        ),
    )


async def faults(page: Page, url: str, key: str = "Tab") -> list[str]:
    """Open a page, press a key until the focus reaches its end, and return the faults found."""
    response = await page.goto(url)
    assert response
    assert response.status == 200, url
    return await faults_of_walk(page, key)


async def faults_of_walk(page: Page, key: str = "Tab") -> list[str]:
    """Press a key until the focus reaches the end of the open page, and return the faults found."""
    # A field with `autofocus` is sure to have the focus only once the first frame is drawn.
    await page.evaluate("() => new Promise(requestAnimationFrame)")
    count = await page.evaluate(WATCH, key != "Tab")
    *modifiers, last = key.split("+")
    for modifier in modifiers:
        await page.keyboard.down(modifier)
    # A key that is held down repeats without waiting for the page to be drawn.
    await asyncio.gather(*(page.keyboard.down(last) for _ in range(count + 2)))
    for pressed in (last, *modifiers):
        await page.keyboard.up(pressed)
    presses = count + 2
    while presses < MAX_PRESSES and not await page.evaluate("window.tabbed.ended"):
        await page.keyboard.press(key)
        presses += 1
    return [f"{page.url}: {fault}" for fault in await page.evaluate("window.tabbed.report()")]


@pytest.mark.parametrize(("width", "height"), SIZES, ids=["desktop", "phone"])
async def test_tab_reaches_every_control_in_order_and_in_view(
    browser: Browser, pages: Pages, width: int, height: int
) -> None:
    token = pages.host.run(pages.host.host.accounts.sessions.start(pages.person.id))
    context = await browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce")
    page = await context.new_page()
    problems: list[str] = []
    for path in pages.public:
        problems += await faults(page, pages.host.url + path)
    # The image sticks to the top of a small screen: what gets the focus on the way up must not be behind it.
    problems += await faults(page, f"{pages.host.url}/tools/{TOOLS[0]}", "Shift+Tab")
    await context.add_cookies([{"name": "pressroom_session", "value": token, "url": pages.host.url}])
    for path in pages.own:
        problems += await faults(page, pages.host.url + path)
    await context.close()
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(("width", "height"), SIZES, ids=["desktop", "phone"])
async def test_the_first_account_is_created_with_the_keyboard(
    browser: Browser, tmp_path: Path, width: int, height: int
) -> None:
    with RunningHost(settings_for_test({"logging": {"requests": False}}, tmp_path)) as fresh:
        path = f"/setup?token={fresh.run(fresh.host.accounts.setup_links.create())}"
        page = await browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce")
        for target in (path, "/sign-in"):
            assert await faults(page, fresh.url + target) == []
        await page.goto(fresh.url + path)
        for text in (EMAIL, "Ada", "a long enough password"):
            await page.keyboard.type(text)
            await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/dashboard**")
        await page.close()


async def test_escape_closes_an_explanation_and_restores_focus(browser: Browser, pages: Pages) -> None:
    page = await browser.new_page()
    await page.goto(f"{pages.host.url}/tools/{TOOLS[1]}")
    opener = page.locator("button.tip").filter(visible=True).first
    explanation = page.locator(f"#{await opener.get_attribute('popovertarget')}")
    await opener.focus()
    await page.keyboard.press("Enter")
    await expect(explanation).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(explanation).to_be_hidden()
    await expect(opener).to_be_focused()
    await page.close()


async def send_wrongly(page: Page, url: str, form: WrongForm, *, scripts: bool) -> None:
    """Fill in a form with the keyboard alone, submit it, and wait for the outcome."""
    await page.goto(url + form.path)
    if not form.button:
        return
    if form.opens:
        closed = page.locator("details:not([open]) > summary", has_text=form.opens).filter(visible=True)
        if await closed.count():
            await closed.first.press("Enter")
    button = page.get_by_role("button", name=form.button, exact=True).filter(visible=True).first
    if tool := form.path.startswith("/tools/"):
        button = page.locator(":is([data-download], [data-generate])").filter(visible=True)
    sent_form = page.locator("form").filter(has=button)
    for label, text in form.typed:
        field = sent_form.get_by_label(label).filter(visible=True).first
        await field.focus()
        if await field.get_attribute("type") != "datetime-local":
            await page.keyboard.press("Control+A")
        await page.keyboard.type(text)
    missing = sent_form.locator(":is(input, textarea):required:invalid")
    while await missing.count():
        await missing.first.focus()
        await page.keyboard.type("wrong")
    await button.focus()
    if scripts and tool:
        await page.keyboard.press("Enter")
        await expect(page.locator(".field-error").filter(visible=True).first).to_be_visible()
        await expect(page.locator("[aria-invalid=true]").first).to_be_focused()
        return
    async with page.expect_navigation():
        await page.keyboard.press("Enter")


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
@pytest.mark.parametrize(("width", "height"), SIZES, ids=["desktop", "phone"])
async def test_form_errors_are_accessible_with_the_keyboard(
    browser: Browser, pages: Pages, width: int, height: int, scripts: bool
) -> None:
    token = pages.host.run(pages.host.host.accounts.sessions.start(pages.person.id))
    problems: list[str] = []
    for by_person in (False, True):
        # One page for all forms: opening another takes longer than most forms.
        context = await browser.new_context(
            viewport={"width": width, "height": height}, reduced_motion="reduce", java_script_enabled=scripts
        )
        if by_person:
            await context.add_cookies([{"name": "pressroom_session", "value": token, "url": pages.host.url}])
        page = await context.new_page()
        for form in pages.wrong:
            if form.by_person != by_person:
                continue
            if form.path.startswith("/tools/") and not scripts:
                continue  # the page opens at #result, which has the message; Chromium does not always focus it
            await send_wrongly(page, pages.host.url, form, scripts=scripts)
            # A field with `autofocus` gets the focus only with the first frame.
            await expect(page.locator(":focus"), f"{form.path} ({form.button})").not_to_have_count(0)
            problems += [f"{form.path} ({form.button}): {fault}" for fault in await page.evaluate(ERRORS)]
            if scripts:
                problems += [f"{form.path} ({form.button}): {fault}" for fault in await violations(page)]
                problems += await faults_of_walk(page)
        await context.close()
    assert not problems, "\n".join(problems)
