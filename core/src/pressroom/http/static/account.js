// What the pages for people with an account do with JavaScript. Each works without it.

// Switches in sets: a filter by text, which opens the sets where it finds something, and all on or off at once.

for (const box of $$("[data-switches]")) {
  const rows = $$("[data-switch]", box);
  const shown = () => rows.filter((row) => !row.hidden);
  const filter = $("[data-filter]", box);
  const count = $("[data-count]", box);
  const tally = () => {
    const on = rows.filter((row) => $("input[type=checkbox]", row).checked).length;
    count.textContent = `${on} of ${rows.length} tools on`;
  };
  filter?.addEventListener("input", () => {
    const wanted = filter.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    for (const set of $$("[data-set]", box)) {
      const found = $$("[data-switch]", set).some((row) => !row.hidden);
      set.hidden = wanted !== "" && !found;
      $("details", set).open = wanted !== "" && found;
    }
    $("[data-none]", box).hidden = shown().length > 0;
  });
  filter?.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
  for (const button of $$("[data-all]", box)) {
    button.addEventListener("click", () => {
      for (const row of shown()) $("input[type=checkbox]", row).checked = button.dataset.all === "on";
      tally();
    });
  }
  box.addEventListener("change", tally);
  for (const hidden of $$("[data-needs-script]", box)) hidden.hidden = false;
}

// A form that is under way is not sent twice.

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sent) event.preventDefault();
  else if (form.method === "post") form.dataset.sent = "yes";
});
addEventListener("pageshow", () => {
  for (const form of $$("form[data-sent]")) delete form.dataset.sent;
});

// Where nobody has said which time zone a page is in, it is the browser's.

const guessed = $("[data-guessed-zone]");
const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (guessed && ownZone && ownZone !== guessed.value) {
  const url = new URL(location.href);
  url.searchParams.set(guessed.name, ownZone);
  location.replace(url);
}

// On a phone the dashboard's navigation is one row that scrolls.

$(".account-nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
