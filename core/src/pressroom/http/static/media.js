// Image uploads to the media library, from its own page and from the article editor.

// Sends a POST request and returns the response's text. `progress` is called with the fraction that was sent.

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

// Requests an upload link, uploads an image to it, and returns the image's URL.

async function uploadImage(library, csrf, file, progress) {
  const form = new URLSearchParams({ do: "upload", csrf });
  const link = await post(library, form.toString(), { "Content-Type": "application/x-www-form-urlencoded" });
  const body = new FormData();
  body.append("file", file);
  return (await post(link, body, {}, progress)).split(" ")[1];
}

const NOT_SENT = "The upload failed. Check your connection, then try again.";

// The drop zone of the media library: uploads dropped or chosen files one after the other.

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
