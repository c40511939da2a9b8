// Helpers for every page, and copy buttons. The server puts this file at the beginning of pages.js, account.js and
// writing.js.

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

// Copying

async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (!copied) throw new Error("the browser refused to copy");
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy], [data-copy-text]");
  if (!button) return;
  const label = (button.dataset.label ??= button.textContent);
  try {
    await copy(button.dataset.copyText ?? document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select the text and copy it yourself";
  }
  setTimeout(() => (button.textContent = label), 2000);
});

for (const button of $$("[data-copy], [data-copy-text]")) button.hidden = false;
