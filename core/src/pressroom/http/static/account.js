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
  if (event.defaultPrevented) return;
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

// Where a credential is made: a page of the site whose URL is typed in the same form.

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

// Sends an image to the media library, by a link of its own, and returns the image's URL. `progress` gets the share sent.

function post(url, body, headers, progress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", url);
    request.setRequestHeader("Accept", "text/plain");
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) => progress?.(event.loaded / event.total));
    const refuse = () => reject(new Error(request.status < 500 && request.responseText.length < 300 ? request.responseText.trim() : ""));
    request.addEventListener("load", () => (request.status < 300 ? resolve(request.responseText.trim()) : refuse()));
    request.addEventListener("error", refuse);
    request.send(body);
  });
}

async function uploadImage(library, csrf, file, progress) {
  const form = new URLSearchParams({ do: "upload", csrf });
  const link = await post(library, form.toString(), { "Content-Type": "application/x-www-form-urlencoded" });
  const body = new FormData();
  body.append("file", file);
  return (await post(link, body, {}, progress)).split(" ")[1];
}

const NOT_SENT = "It could not be sent. Check the connection, and try again.";

// Several files, dropped or chosen: each is sent by itself, one after the other.

const drop = $("[data-drop]");
if (drop) {
  const list = $("[data-drop-list]", drop);
  const input = $("input[type=file]", drop);
  const send = async (file) => {
    const row = document.createElement("li");
    const note = document.createElement("span");
    note.className = "row-note";
    note.textContent = "waiting";
    row.append(file.name, note);
    list.append(row);
    return async () => {
      try {
        const megabytes = (bytes) => `${(bytes / 1048576).toFixed(1)} MiB`;
        const most = Number(drop.dataset.maxBytes);
        if (file.size > most) throw new Error(`That file has ${megabytes(file.size)}; an image may have ${megabytes(most)}.`);
        await uploadImage(drop.dataset.action, drop.dataset.csrf, file, (share) => (note.textContent = `${Math.floor(share * 100)} %`));
        note.textContent = "done";
        return true;
      } catch (error) {
        note.className = "field-error";
        note.textContent = error.message || NOT_SENT;
        return false;
      }
    };
  };
  const take = async (files) => {
    const tasks = await Promise.all([...files].map(send));
    let failed = 0;
    for (const task of tasks) failed += (await task()) ? 0 : 1;
    input.value = "";
    if (tasks.length && !failed) location.reload();
  };
  drop.hidden = false;
  for (const button of $$("[data-without-drop]")) button.hidden = true;
  input.addEventListener("change", () => take(input.files));
  for (const name of ["dragenter", "dragover"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files);
  });
}

// The dashboard's navigation is one row that scrolls on a phone, and a column that scrolls in a low window: that alone,
// not the page around it.

const current = $(".account-nav [aria-current]");
if (current) {
  const row = current.closest("nav");
  const column = row.parentElement;
  const place = current.getBoundingClientRect();
  const bounds = column.getBoundingClientRect();
  row.scrollLeft += place.left - row.getBoundingClientRect().left - (row.clientWidth - place.width) / 2;
  if (place.bottom > Math.min(bounds.bottom, innerHeight)) column.scrollTop += place.top - bounds.top - (column.clientHeight - place.height) / 2;
}
