// Image uploads to the media library, from its own page and from the article editor.

// Sends a POST request and returns the response's text. `progress` is called with the fraction that was sent.

function post(url, body, headers, progress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", url);
    request.setRequestHeader("Accept", "text/plain");
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) => progress?.(event.loaded / event.total));
    request.addEventListener("load", () => {
      const text = request.getResponseHeader("Content-Type")?.startsWith("text/plain") ? request.responseText.trim() : "";
      if (text && request.status < 300) resolve(text);
      else reject(new Error((request.status < 500 && text) || problemOf(request.status)));
    });
    request.addEventListener("error", () => reject(new Error(NOT_SENT)));
    request.send(body);
  });
}

const NOT_SENT = "The upload failed. Check your connection, then try again.";

// Describes a response that isn't text: a page, such as the sign-in page once the session has ended, or a server error.

function problemOf(status) {
  if (status >= 500) return `Unexpected response from the server (status ${status}). Try again later.`;
  return "The upload was refused. Reload this page, then try again.";
}

// Requests an upload link, uploads an image to it, and returns the image's URL.

async function uploadImage(library, csrf, file, progress) {
  // Chromium reads nothing from some files that were moved, instead of failing.
  const beginning = await file.slice(0, 1).arrayBuffer().catch(() => new ArrayBuffer(0));
  if (!beginning.byteLength) throw new Error("That file cannot be read. It may be empty or a folder, or have been moved.");
  const form = new URLSearchParams({ do: "upload", csrf });
  const link = await post(library, form.toString(), { "Content-Type": "application/x-www-form-urlencoded" });
  const body = new FormData();
  body.append("file", file);
  return (await post(link, body, {}, progress)).split(" ")[1];
}

// Adds new images to the page's list. Reloading the page would end other uploads, and discard messages and unsaved texts.

async function showAdded() {
  const page = await freshPage(location.href).catch(() => null);
  const fresh = page && $("[data-library] .rows", page);
  if (!fresh) return;
  const shown = $("[data-library] .rows");
  if (shown) shown.prepend(...[...fresh.children].filter(({ id }) => !document.getElementById(id)));
  else $("[data-library] .blank").replaceWith(...$$("[data-library] :is(.rows, .pager)", page));
}

// The drop zone of the media library: uploads dropped or chosen files one after the other.

const drop = $("[data-drop]");
if (drop) {
  const list = $("[data-drop-list]", drop);
  const input = $("input[type=file]", drop);
  const send = async (file) => {
    const row = document.createElement("li");
    const [name, note] = ["bdi", "span"].map((tag) => document.createElement(tag));
    name.className = "file-name";
    note.className = "row-note";
    note.textContent = "waiting";
    name.textContent = file.name;
    row.append(name, note);
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
        note.textContent = error.message;
        return false;
      }
    };
  };
  const take = async (files) => {
    const tasks = await Promise.all([...files].map(send));
    input.value = "";
    let added = 0;
    for (const task of tasks) added += (await task()) ? 1 : 0;
    if (added) await showAdded();
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
