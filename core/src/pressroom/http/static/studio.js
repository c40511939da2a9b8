// Helpers for a tool's page: request samples, file names, design links and swatches.

function element(name, ...content) {
  const node = document.createElement(name);
  node.append(...content);
  return node;
}

// Request samples in several languages, by the same rules as the server's `code_samples`.

const ENCODERS = {
  shell: (values) => `'${JSON.stringify(values).replaceAll("'", `'"'"'`)}'`,
  json: (values) => JSON.stringify(values, null, 2),
  python: (values) => pythonLiteral(values),
};

function pythonLiteral(value, indent = "    ") {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map((item) => pythonLiteral(item, indent)).join(", ")}]`;
  if (typeof value !== "object" || !Object.keys(value).length) return JSON.stringify(value);
  const inner = `${indent}    `;
  const members = Object.entries(value).map(([name, member]) => `${inner}${JSON.stringify(name)}: ${pythonLiteral(member, inner)},\n`);
  return `{\n${members.join("")}${indent}}`;
}

function fillSamples(values) {
  for (const place of $$("[data-encoding]")) {
    const { lead, tail, encoding } = place.dataset;
    place.textContent = lead + ENCODERS[encoding](values) + tail;
  }
}

// Returns a file name for a title, by the same rules as the server's `file_stem`.

function fileStem(title) {
  const stem = title.trim().replace(/\.[A-Za-z0-9]{1,5}$/, "").normalize("NFC").toLowerCase();
  return (stem.match(/[\p{L}\p{N}]+/gu) ?? []).join("-").slice(0, 60).replace(/-+$/, "");
}

function extensionOf(response, fallback) {
  return /filename="[^"]*\.([A-Za-z0-9]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1] ?? fallback;
}

function save(blob, name) {
  const link = element("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

async function asPng(blob) {
  if (blob.type === "image/png") return blob;
  const image = new Image();
  image.src = URL.createObjectURL(blob);
  await image.decode();
  const canvas = element("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  canvas.getContext("2d").drawImage(image, 0, 0);
  URL.revokeObjectURL(image.src);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

function words(name) {
  const text = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/[_-]+/g, " ").toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// Returns a message with a capital letter, by the same rules as the server's `capitalised`.

function capitalised(text) {
  return /^(?:[a-z]+(?:_[a-z]+)+: |\S*[./:@]\S)/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

function jsonIn(text, fallback) {
  try {
    return JSON.parse(text ?? "") ?? fallback;
  } catch {
    return fallback;
  }
}

// Places a help popover below the button that opened it, or above it near the bottom of the window.

function placeBesideButton({ target: help, newState }) {
  if (newState !== "open") return;
  const button = $(`[popovertarget="${CSS.escape(help.id)}"]`).getBoundingClientRect();
  help.classList.add("is-placed");
  const { width, height } = help.getBoundingClientRect();
  const below = button.bottom + 6;
  help.style.left = `${Math.max(8, Math.min(button.right - width, innerWidth - width - 8))}px`;
  help.style.top = `${below + height > innerHeight ? Math.max(8, button.top - height - 6) : below}px`;
}

function waitingTime(seconds) {
  const [count, unit] = seconds < 90 ? [Math.max(1, Math.ceil(seconds)), "second"] : [Math.ceil(seconds / 60), "minute"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

// Design links: the form's values in the query, which the server reads, or in the fragment if the query would be too long.

const MAX_QUERY = 1800;
const MAX_FRAGMENT = 30_000;
const FRAGMENT = "#design=";

function designUrl(page, texts) {
  const url = new URL(page, location.href);
  url.search = new URLSearchParams(texts);
  url.hash = "";
  if (url.search.length <= MAX_QUERY) return url.href;
  url.search = "";
  const bytes = new TextEncoder().encode(JSON.stringify(texts));
  url.hash = FRAGMENT + btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_");
  return url.href.length <= MAX_FRAGMENT ? url.href : undefined;
}

function designIn(fragment) {
  if (!fragment.startsWith(FRAGMENT)) return undefined;
  try {
    const text = atob(fragment.slice(FRAGMENT.length).replaceAll("-", "+").replaceAll("_", "/"));
    const values = JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (character) => character.charCodeAt(0))));
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
  } catch {
    return undefined;
  }
}

// Snippets with a permanent URL, such as Markdown and HTML, by the same rules as the server's `permanent_texts`.

function escapeHtml(text) {
  return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#x27;");
}

function permanentText(id, template, data, title) {
  if (id === "permanent-url" || id === "permanent-markdown") {
    return template.replaceAll("{alt}", () => title.replace(/[[\]]/g, "")).replaceAll("{url}", () => data.url);
  }
  const [width, height] = "width" in data ? [data.width, data.height] : [data.size, data.size];
  const sized = Number.isInteger(width) && Number.isInteger(height);
  const members = { ...data, alt: title };
  return template
    .replaceAll("{dimensions}", sized ? ` width="${width}" height="${height}"` : "")
    .replace(/\{(\w+)\}/g, (whole, name) => (name in members ? escapeHtml(members[name]) : whole));
}

// Swatches below fields for colours and backgrounds.

const COLOURS = ["#1d1a17", "#ffffff", "#b9502a", "#d4a017", "#2f6f62", "#1f5a86", "#6d3f73", "#a8261c"];
const BACKGROUNDS = [
  "linear-gradient(135deg, #5b6ee1, #b05bd6)",
  "linear-gradient(135deg, #ffd3a5, #fd6585)",
  "linear-gradient(135deg, #0f766e, #7dd3a8)",
  "linear-gradient(135deg, #1e293b, #475569)",
  "linear-gradient(135deg, #f6d365, #fda085)",
  "linear-gradient(135deg, #e0eafc, #cfdef3)",
  "#1d1a17",
  "#ffffff",
];

function swatchesFor(field) {
  const { control, spec } = field;
  const isGround = /background$/i.test(spec.name) && String(spec.default ?? "").includes("gradient(");
  const values = isGround ? BACKGROUNDS : $(".swatch", field.box) ? COLOURS : [];
  if (!values.length) return;
  const row = element("div", ...values.map((value) => {
    const button = element("button");
    button.type = "button";
    button.className = "swatch-button";
    button.style.background = value;
    button.setAttribute("aria-label", `Set ${$("label", field.box).textContent.trim()} to ${value}`);
    button.title = value;
    button.addEventListener("click", () => (field.text = value));
    return button;
  }));
  row.className = "swatches";
  (control.closest(".pair") ?? control).after(row);
}
