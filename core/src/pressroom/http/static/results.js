// Results

function resultView(data, tool) {
  const suffix = new URL(data.url, location.href).pathname.split(".").pop().toLowerCase();
  const kind = String(data.format ?? suffix).toLowerCase();
  const [width, height] = "width" in data ? [data.width, data.height] : [data.size, data.size];
  const facts = [["Format", kind.toUpperCase()]];
  if (Number.isInteger(width) && Number.isInteger(height)) facts.push(["Size", `${width} × ${height} px`]);
  const own = ["id", "url", "expiresAt", "cached", "width", "height", "size", "format", "files", "warnings"];
  for (const [name, value] of Object.entries(data)) {
    if (!own.includes(name) && typeof value !== "object") facts.push([words(name), String(value)]);
  }
  if (data.cached) facts.push(["Served from", "the cache"]);
  return { kind, width, height, facts, image: /^(png|jpe?g|svg|webp|gif)$/.test(kind), filename: `${tool}.${suffix}` };
}

function words(name) {
  const text = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/[_-]+/g, " ").toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function element(name, ...content) {
  const made = document.createElement(name);
  made.append(...content);
  return made;
}

function renderResult(data, tool, preview, editors) {
  const view = resultView(data, tool);
  const made = $("#made").content.cloneNode(true);
  const slot = (name) => $(`[data-slot=${name}]`, made);
  const stage = slot("stage");
  for (const place of $$("[data-preview]", made)) {
    if (preview) place.append(picture(preview, ""));
  }
  const shown = preview || (view.image ? data.url : "");
  if (stage && shown) {
    const image = picture(shown, stage.dataset.alt);
    if (Number.isInteger(view.width) && Number.isInteger(view.height)) [image.width, image.height] = [view.width, view.height];
    stage.append(image);
  } else stage?.remove();
  fillList(slot("files"), data.files);
  fillList(slot("warnings"), data.warnings?.map((warning) => withPlace(warning, editors)));
  slot("download").href = data.url;
  slot("download").download = view.filename;
  slot("copy").dataset.copyText = data.url;
  for (const button of $$("[data-copy], [data-copy-text]", made)) button.hidden = false;
  slot("facts").replaceChildren(...view.facts.map(([name, value]) => element("div", element("dt", name), element("dd", value))));
  if (data.expiresAt) {
    const time = element("time", new Date(data.expiresAt).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
    time.dateTime = data.expiresAt;
    slot("facts").append(element("div", element("dt", "Link works until"), element("dd", time)));
  }
  return made;
}

function picture(address, alt) {
  const image = new Image();
  image.alt = alt;
  image.src = address;
  return image;
}

// The picture that stands for the file (RFC 6903).
function previewOf(response) {
  return /<([^>]*)>; rel="preview"/.exec(response.headers.get("Link") ?? "")?.[1] ?? "";
}

function fillList(list, items) {
  if (!items?.length) return;
  list.replaceChildren(...items.map((item) => element("li", item)));
  list.hidden = false;
}

// A warning, with a button that leads to its place in the code, if it tells of one.
function withPlace(warning, editors) {
  const link = editors.map((editor) => editor.point(warning, "doubtful")).find(Boolean);
  return link ? element("span", `${warning} `, link) : warning;
}

// The texts to copy, with what was made in place of `{name}`.
function fillSnippets(data) {
  for (const place of $$("[data-snippet]")) {
    place.textContent = place.dataset.snippet.replace(/\{([a-z_]\w*)\}/gi, (whole, name) => (name in data ? escaped(String(data[name])) : whole));
  }
}

function escaped(text) {
  const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" };
  return text.replace(/[&<>"']/g, (character) => entities[character]);
}

function renderFailure(message, advice) {
  const box = element("div", element("h3", "That did not work"), element("p", message));
  if (advice) box.append(element("p", advice));
  box.className = "failure";
  return box;
}

function waitingTime(seconds) {
  const [count, unit] = seconds < 90 ? [Math.max(1, Math.ceil(seconds)), "second"] : [Math.ceil(seconds / 60), "minute"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

