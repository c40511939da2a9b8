// Enhancements of the dashboard and the sign-in pages. Every page works without JavaScript.

// Groups of switches: a text filter, which expands groups with matches, and buttons to turn all shown ones on or off.

for (const box of $$("[data-switches]")) {
  const rows = $$("[data-switch]", box);
  const visible = () => rows.filter((row) => !row.hidden);
  const filter = $("[data-filter]", box);
  const count = $("[data-count]", box);
  const tally = () => {
    const on = rows.filter((row) => $("input[type=checkbox]", row).checked).length;
    count.textContent = `${on} of ${rows.length} tools on`;
  };
  filter?.addEventListener("input", () => {
    const query = filter.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(query);
    for (const set of $$("[data-set]", box)) {
      const matches = $$("[data-switch]", set).some((row) => !row.hidden);
      set.hidden = query !== "" && !matches;
      $("details", set).open = query !== "" && matches;
    }
    $("[data-none]", box).hidden = visible().length > 0;
  });
  filter?.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
  for (const button of $$("[data-all]", box)) {
    button.addEventListener("click", () => {
      for (const row of visible()) $("input[type=checkbox]", row).checked = button.dataset.all === "on";
      tally();
    });
  }
  box.addEventListener("change", tally);
  for (const hidden of $$("[data-needs-script]", box)) hidden.hidden = false;
}

// Prevents forms from being posted twice.

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented) return;
  if (form.dataset.sent) event.preventDefault();
  else if (form.method === "post") form.dataset.sent = "yes";
});
addEventListener("pageshow", () => {
  for (const form of $$("form[data-sent]")) delete form.dataset.sent;
});

// Uses the browser's time zone if the page only guessed one.

const guessed = $("[data-guessed-zone]");
const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (guessed && ownZone && ownZone !== guessed.value) {
  const url = new URL(location.href);
  url.searchParams.set(guessed.name, ownZone);
  location.replace(url);
}

// Shows times in the browser's time zone; the server renders them in UTC.

for (const time of $$("time[data-local]")) {
  const at = new Date(time.dateTime);
  const isToday = at.toDateString() === new Date().toDateString();
  time.textContent = at.toLocaleString([], isToday ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" });
}

// Colour pickers beside text fields for colours.

for (const picker of $$("[data-picks]")) {
  const field = document.getElementById(picker.dataset.picks);
  const unset = picker.value;
  const follow = () => {
    const digits = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(field.value.trim())?.[1];
    if (digits) picker.value = `#${digits.length === 3 ? digits.replace(/./g, "$&$&") : digits}`;
    else if (!field.value.trim()) picker.value = unset;
  };
  picker.hidden = false;
  picker.addEventListener("input", () => {
    field.value = picker.value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  field.addEventListener("input", follow);
  follow();
}

// Links to the page of a site on which to create a credential. The site's URL is typed in the same form.

for (const line of $$("[data-site-page]")) {
  const field = $("[name=url]", line.closest("form"));
  const show = () => {
    const typed = field.value.trim();
    const url = URL.canParse(typed) ? typed : `https://${typed}`;
    const site = URL.canParse(url) ? new URL(url) : null;
    line.hidden = !site?.hostname.includes(".") || !["http:", "https:"].includes(site.protocol);
    if (line.hidden) return;
    $("a", line).href = `${site.origin}${site.pathname.replace(/\/$/, "")}/${line.dataset.sitePage}`;
    $("a", line).textContent = "Open that page of your site";
  };
  field?.addEventListener("input", show);
}

// The navigation scrolls: as a row on phones, and as a column in short windows. Brings the current link
// into view without scrolling the page.

const current = $(".account-nav [aria-current]");
if (current) {
  const row = current.closest("nav");
  const column = row.parentElement;
  const place = current.getBoundingClientRect();
  const bounds = column.getBoundingClientRect();
  row.scrollLeft += place.left - row.getBoundingClientRect().left - (row.clientWidth - place.width) / 2;
  // Browsers may leave the focused link partly cut off at the edge of the row.
  row.addEventListener("focusin", ({ target }) => target.scrollIntoView({ block: "nearest", inline: "nearest" }));
  if (place.bottom > Math.min(bounds.bottom, innerHeight)) column.scrollTop += place.top - bounds.top - (column.clientHeight - place.height) / 2;
}

// The article editor, publications, the calendar, the media library and sortable lists need writing.js.

const frame = $("[data-writing-script]");
if (frame && $("[data-writing], [data-draft-saved], [data-follow], [data-move], [data-drop], [data-rows]", frame)) import(frame.dataset.writingScript);
