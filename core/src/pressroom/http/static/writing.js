// The article editor: a live preview beside the text, and drafts that survive closing the page. Without JavaScript, a
// button shows the preview.

const PAUSE_MS = 350;
const BUSY_MS = 3000;
// HTML with formatting. Code editors put only `div`, `span` and `pre` on the clipboard.
const FORMATTED = /<(?:h[1-6]|p|ul|ol|table|blockquote|a|b|strong|em|i)[\s>]/i;

// Trusted Types policy for this server's own HTML: previews, in a sandboxed iframe without scripts, and pages that are
// fetched again.
const ownPages = globalThis.trustedTypes?.createPolicy("own-pages", { createHTML: (html) => html });

class Writing {
  constructor(form) {
    this.form = form;
    this.place = new DraftPlace(form.dataset.writing);
    this.body = form.elements.body;
    this.maxBytes = Number(form.dataset.maxBytes);
    this.changes = 0;
    this.isAsking = false;
    this.places = new Set();
    this.finished = [];
    $("[data-plain-preview]", form).hidden = true;
    this.start = this.values();
    // After Back, browsers would fill in an older text, below the number of a newer version. Drafts do better.
    form.autocomplete = "off";
    const [isSaved, isRefused] = ["saved" in form.dataset, Boolean($("[data-refused]"))];
    const sent = takeSent(isSaved);
    // After a refused submission, the form contains the text that was sent, so the stored draft isn't restored.
    if (sent?.later && (isSaved || isRefused)) this.carryOver(sent);
    else if (!isRefused) this.restore();
    const caret = sent?.later?.caret ?? sent?.caret;
    if (caret && isSaved) this.returnTo(caret);
    this.offerOthers();
    for (const link of $$("[data-discard]")) {
      link.addEventListener("click", () => {
        drafts.remove(this.place.key);
        this.isForgotten = true;
      });
    }
    form.addEventListener("input", (event) => this.edited(event.target));
    form.addEventListener("change", (event) => this.edited(event.target));
    form.addEventListener("submit", (event) => this.send(event));
    if (form.dataset.media) this.takeImages();
    if (form.dataset.format === "Markdown") this.body.addEventListener("paste", ({ clipboardData }) => this.pasted(clipboardData));
    document.addEventListener("keydown", (event) => {
      if (event.key !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      form.requestSubmit($("[name=do]", form));
    });
    // `pagehide` can come after the next page has looked for its draft; some browsers have no `beforeunload`.
    for (const leaving of ["beforeunload", "pagehide"]) addEventListener(leaving, () => this.keep());
  }

  values() {
    const values = Object.fromEntries(new FormData(this.form));
    for (const name of ["csrf", "version", "request_id"]) delete values[name];
    for (const place of this.places) values.body = values.body.replace(place, "");
    return values;
  }

  get isChanged() {
    return this.isNews({ values: this.values() });
  }

  isNews({ values }) {
    return changedNames(values, this.start).length > 0;
  }

  // Restores this tab's draft if it belongs to the version that is shown. A draft of another version, or of an earlier
  // new article, is offered like the drafts of closed tabs.
  restore() {
    const draft = drafts.read(this.place.key);
    if (!draft?.values || !this.isNews(draft)) return;
    const version = this.form.elements.version.value;
    const isBegunAnew = !version && performance.getEntriesByType("navigation")[0]?.type === "navigate";
    if (isBegunAnew || draft.version !== version) this.place.renew();
    else this.putBack(draft);
  }

  // Continues with what the user typed while the previous page was being sent. If somebody else changed the same fields
  // in the meantime, it is offered like the drafts of closed tabs instead.
  carryOver({ key, values: sent, later }) {
    const names = changedNames(later.values, sent);
    // The server removes white space at the ends of fields.
    if (names.some((name) => this.start[name]?.trim() !== sent[name]?.trim())) {
      this.place.renew();
      return;
    }
    const values = { ...this.start, ...Object.fromEntries(names.map((name) => [name, later.values[name]])) };
    const draft = { at: later.at, version: this.form.elements.version.value, values };
    this.putBack(draft);
    if (drafts.write(this.place.key, draft) && key !== this.place.key) drafts.remove(key);
  }

  // The position of the caret, if it is in a field of the form.
  get caret() {
    const control = document.activeElement;
    if (!control.name || typeof control.selectionStart !== "number" || control.form !== this.form) return undefined;
    const { name, selectionStart: start, selectionEnd: end, scrollTop: scroll } = control;
    return { name, start, end, scroll, top: control.getBoundingClientRect().top };
  }

  // Puts the caret and the text where they were when the user saved.
  returnTo({ name, start, end, scroll, top }) {
    const control = this.form.elements[name];
    if (!control) return;
    control.focus({ preventScroll: true });
    control.setSelectionRange(start, end);
    control.scrollTop = scroll;
    scrollBy(0, control.getBoundingClientRect().top - top);
    // The notice at the top of the page may be outside the viewport.
    $("[data-kept]", this.form).textContent ||= $("p.notice[role=status]")?.textContent ?? "";
  }

  putBack(draft) {
    for (const [name, value] of Object.entries(draft.values)) {
      if (this.form.elements[name]) this.form.elements[name].value = value;
    }
    // Send the version that the draft is based on, so that the server reports a conflict instead of overwriting later
    // changes.
    if (draft.version) this.form.elements.version.value = draft.version;
    const notice = $("[data-restored]", this.form);
    const time = $("time", notice);
    time.dateTime = new Date(draft.at).toISOString();
    time.textContent = timeOf(draft);
    notice.hidden = false;
    $("[data-forget]", notice).addEventListener("click", () => {
      drafts.remove(this.place.key);
      this.isForgotten = true;
      location.assign(location.pathname);
    });
    this.edited(this.body);
  }

  // Offers the drafts that no open tab uses. The form only changes when the user picks one.
  async offerOthers() {
    const others = (await this.place.left()).filter(({ draft }) => this.isNews(draft));
    const notice = $("[data-offered]", this.form);
    const close = (item) => {
      item.remove();
      notice.hidden = !$("li", notice);
    };
    for (const { key, draft } of others) {
      const item = element("li", element("bdi", draftName(draft)), `, ${timeOf(draft)} `);
      const offer = (label, action) => {
        const button = element("button", label);
        button.setAttribute("aria-label", `${label}: ${draftName(draft)}`);
        button.type = "button";
        button.className = "button link";
        button.addEventListener("click", () => {
          action();
          close(item);
        });
        item.append(button, " ");
      };
      offer("Continue with it", () => this.take(key, draft));
      offer("Discard it", () => drafts.remove(key));
      $("ul", notice).append(item);
    }
    notice.hidden = !others.length;
  }

  // Continues with an earlier draft. Unsaved changes in the form become another draft.
  take(key, draft) {
    if (this.isChanged) {
      this.keep();
      this.place.renew();
    }
    this.putBack(draft);
    if (drafts.write(this.place.key, draft)) drafts.remove(key);
    this.body.focus();
  }

  edited(control) {
    if (control.name === "featured_media_id" && control.dataset.alt) this.form.elements.featured_alt.value = control.dataset.alt;
    // The page is still here after sending if the user stopped that, or came back to it.
    this.isSent = this.isForgotten = false;
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.keep(), PAUSE_MS);
    if (["body", "language", "featured_media_id", "featured_alt"].includes(control.name)) this.follow();
  }

  // Uploads images that are dropped on the text or pasted into it to the media library, and inserts them there. Browsers
  // that don't know which character is at a point insert dropped images at the caret.
  takeImages() {
    $("[data-image-help]", this.form).hidden = false;
    this.body.addEventListener("dragover", (event) => {
      if (event.dataTransfer.types.includes("Files")) event.preventDefault();
    });
    const take = async (event, data) => {
      const files = [...data.files];
      const images = files.filter((file) => file.type.startsWith("image/"));
      // Word processors put an image of the copied text on the clipboard as well: paste the text instead.
      if (!files.length || data.types.includes("text/plain")) return;
      // The browser would open a dropped file instead of this page.
      event.preventDefault();
      const dropped = event.type === "drop" && document.caretPositionFromPoint?.(event.clientX, event.clientY);
      if (dropped?.offsetNode === this.body) this.body.setSelectionRange(dropped.offset, dropped.offset);
      this.showImageProblem("");
      for (const { name } of files.filter((file) => !images.includes(file))) this.showImageProblem(`${name}: Not added, because it is not an image.`);
      const places = images.map((image) => this.holdPlace(image));
      for (const [index, image] of images.entries()) await this.insertImage(image, places[index]);
    };
    this.body.addEventListener("drop", (event) => take(event, event.dataTransfer));
    this.body.addEventListener("paste", (event) => take(event, event.clipboardData));
    this.body.addEventListener("input", (event) => this.skipPlaces(event));
  }

  // Inserts a text in place of an image while it is uploaded, and returns it. Pasted images often have the same name.
  holdPlace(file) {
    const name = altOf(file);
    let place = `[Uploading ${name} …]`;
    for (let number = 2; this.places.has(place); number += 1) place = `[Uploading ${name} (${number}) …]`;
    this.places.add(place);
    this.replace(place, this.body.selectionStart, this.body.selectionEnd);
    return place;
  }

  // Replaces a part of the text, with the caret after it. Only commands can be undone; after other changes, Undo and Redo
  // of earlier ones would garble the text.
  replace(text, start, end) {
    const active = document.activeElement;
    this.body.focus({ preventScroll: true });
    this.body.setSelectionRange(start, end);
    if (!document.execCommand(text ? "insertText" : "delete", false, text)) this.body.setRangeText(text, start, end, "end");
    if (active !== this.body) active.focus({ preventScroll: true });
  }

  // Replaces a part of the text. The caret stays where it is, or after the new part if it was in the old one.
  exchange(text, start, end) {
    const caret = this.body.selectionEnd;
    this.replace(text, start, end);
    if (caret < start) this.body.setSelectionRange(caret, caret);
    if (caret > end) this.body.setSelectionRange(caret + start + text.length - end, caret + start + text.length - end);
  }

  // Converts formatted text that is pasted to Markdown. The browser pastes it as plain text first, which Undo brings back.
  async pasted(data) {
    const [html, text] = [data.getData("text/html"), data.getData("text/plain").replace(/\r\n?/g, "\n")];
    const start = this.body.selectionStart;
    const isInCode = (this.body.value.slice(0, start).match(/^ {0,3}(?:```|~~~)/gm) ?? []).length % 2;
    if (!text || isInCode || !FORMATTED.test(html)) return;
    try {
      const fields = new URLSearchParams({ csrf: this.form.dataset.pasteToken, html });
      const response = await fetch(this.form.dataset.pasted, { method: "POST", body: fields });
      if (!response.ok) return;
      const markdown = (await response.json()).markdown.trim();
      const [before, after] = [this.body.value.slice(0, start), this.body.value.slice(start + text.length)];
      if (!markdown || markdown.replaceAll("\\", "") === text.trim() || this.body.value !== before + text + after) return;
      const isBlocks = /\n|^(?:#+ |- |1\. |> )/.test(markdown);
      const opening = isBlocks && before ? "\n".repeat(2 - Math.min(2, /\n*$/.exec(before)[0].length)) : "";
      const closing = isBlocks && after ? "\n".repeat(2 - Math.min(2, /^\n*/.exec(after)[0].length)) : "";
      this.exchange(opening + markdown + closing, start, start + text.length);
    } catch {
      // The plain text remains.
    }
  }

  // Undo and Redo don't stop where the text has the placeholder of an upload that has finished.
  skipPlaces({ inputType }) {
    const command = { historyUndo: "undo", historyRedo: "redo" }[inputType];
    if (!command || !this.finished.some((place) => this.body.value.includes(place))) return;
    setTimeout(() => document.execCommand(command));
  }

  async insertImage(file, place) {
    const { media, mediaToken, format } = this.form.dataset;
    const name = altOf(file);
    let markup = "";
    try {
      const url = await uploadImage(media, mediaToken, file);
      markup = format === "HTML" ? `<img src="${url}" alt="${name}">` : `![${name}](${url})`;
    } catch (error) {
      this.showImageProblem(`${file.name}: ${error.message}`);
      if (this.saveWith) $("[data-kept]", this.form).textContent = "";
      this.saveWith = null;
    }
    this.places.delete(place);
    this.finished.push(place);
    const start = this.body.value.indexOf(place);
    if (start >= 0) {
      this.exchange(markup, start, start + place.length);
    }
    this.edited(this.body);
    if (this.saveWith && !this.places.size) this.form.requestSubmit(this.saveWith);
  }

  // Adds a problem to those of other files that were dropped together; an empty text removes them.
  showImageProblem(text) {
    const problem = $("[data-image-problem]", this.form);
    if (!text) problem.replaceChildren();
    else problem.append(...(problem.hidden ? [text] : [element("br"), text]));
    problem.hidden = !text;
  }

  keep() {
    if (this.isForgotten || this.isSent || !this.isChanged) return;
    const version = this.form.elements.version.value;
    const stored = drafts.write(this.place.key, { at: Date.now(), version, values: this.values(), caret: this.caret });
    $("[data-kept]", this.form).textContent = stored ? "Unsaved, kept in this browser" : "Unsaved, and too large to be kept in this browser";
  }

  // Shows an error if the text is too long, and returns whether it is. UTF-8 needs at most three bytes for each UTF-16
  // code unit.
  checkLength() {
    const line = $("[data-too-long]", this.form);
    const units = this.body.value.length;
    const bytes = units * 3 > this.maxBytes ? new TextEncoder().encode(this.body.value).length : 0;
    const isTooLong = bytes > this.maxBytes;
    if (isTooLong) {
      const [has, most] = [bytes, this.maxBytes].map((count) => count.toLocaleString("en"));
      line.textContent = `The text has ${has} bytes; an article may have ${most}. It is still here: split it into several articles.`;
    }
    line.hidden = !isTooLong;
    $("[data-unsaveable]", this.form).hidden = !isTooLong;
    if (isTooLong) this.say("Not shown: the text is too long.");
    return isTooLong;
  }

  send(event) {
    if (this.checkLength()) {
      event.preventDefault();
      this.body.focus();
      return;
    }
    if (this.places.size) {
      event.preventDefault();
      this.saveWith = event.submitter;
      $("[data-kept]", this.form).textContent = "This will be saved when the images are uploaded";
      return;
    }
    this.saveWith = null;
    this.keep();
    if (!navigator.onLine) {
      // The browser would replace this page with an error page.
      event.preventDefault();
      $("[data-kept]", this.form).textContent = "Not saved: no connection. Your text is kept in this browser.";
      return;
    }
    this.isSent = true;
    try {
      sessionStorage.setItem(SENT, JSON.stringify({ key: this.place.key, values: this.values(), caret: this.caret }));
    } catch {
      // At worst, the saved text is offered as a draft again.
    }
  }

  follow(pause = PAUSE_MS) {
    this.changes += 1;
    clearTimeout(this.pause);
    this.pause = setTimeout(() => this.preview(), pause);
  }

  say(text) {
    $("[data-preview-state]", this.form).textContent = text;
  }

  // Sends one request at a time. If the text changes meanwhile, the response is dropped and another request follows.
  async preview() {
    if (this.isAsking || this.checkLength()) return;
    const changes = this.changes;
    this.isAsking = true;
    try {
      const fields = new URLSearchParams(new FormData(this.form));
      fields.set("csrf", this.form.dataset.previewToken);
      fields.set("at", String(this.body.selectionEnd / Math.max(1, this.body.value.length)));
      const response = await fetch(this.form.dataset.preview, { method: "POST", body: fields });
      if (response.status === 401 || response.status === 403) {
        this.say("You are signed out. Your text is kept: sign in in another tab, then save.");
      } else if (response.status === 404) {
        this.say("This article was deleted. Your text is kept in this browser.");
      } else if (response.status < 500 && !response.ok && ![408, 429].includes(response.status)) {
        this.say(`The server refused this preview (status ${response.status}). Your text is kept in this browser.`);
      } else if (!response.ok) {
        this.say("The preview will follow shortly.");
        this.follow(BUSY_MS);
      } else if (changes === this.changes) {
        this.show(await response.json());
      }
    } catch {
      this.say("No connection. Your text is kept in this browser.");
    } finally {
      this.isAsking = false;
      if (changes !== this.changes) this.follow(0);
    }
  }

  show({ document: html, notes }) {
    this.say("");
    const box = $("[data-preview-frame]", this.form);
    box.hidden = !html;
    if (html) this.showFrame(box, html);
    $("[data-preview-notes]", this.form).replaceChildren(...notes.map((note) => element("li", note)));
  }

  // Shows a document in a new frame: in the same frame, each would be an entry of the history, and Back would lead to it.
  // The previous frame covers the new one until that is loaded.
  showFrame(box, html) {
    let place = $(".foreign", box);
    if (!place) {
      place = element("div");
      place.className = "foreign";
      box.append(place);
    }
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-popups allow-popups-to-escape-sandbox";
    frame.srcdoc = ownPages ? ownPages.createHTML(html) : html;
    frame.addEventListener("load", () => {
      while (frame.nextElementSibling) frame.nextElementSibling.remove();
      frame.title = "Preview";
    });
    place.prepend(frame);
  }
}

function altOf(file) {
  return file.name.replace(/\.\w+$/, "").replace(/[^\p{L}\p{N}]+/gu, " ").trim();
}

function element(name, ...content) {
  const node = document.createElement(name);
  node.append(...content);
  return node;
}

for (const form of $$("[data-writing]")) new Writing(form);
if ($("[data-draft-saved]")) takeSent(true);

// Polls the steps of a publication in progress. Without JavaScript, the browser reloads the page.

const FOLLOW_MS = 1500;

// Returns the document of a page as the server renders it now.
async function freshPage(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`status ${response.status}`);
  const text = await response.text();
  return new DOMParser().parseFromString(ownPages ? ownPages.createHTML(text) : text, "text/html");
}

async function followSteps() {
  const box = $("[data-follow]");
  if (!box) return;
  try {
    const page = await freshPage(location.href);
    const [fresh, head, freshHead] = [$("#publications", page), $(".article-head"), $(".article-head", page)];
    if (head && freshHead && !head.contains(document.activeElement)) head.replaceWith(freshHead);
    // Don't replace a form that the user is filling in.
    if (fresh && !box.contains(document.activeElement)) {
      box.replaceChildren(...fresh.childNodes);
      if (!("follow" in fresh.dataset)) {
        delete box.dataset.follow;
        const started = $("[data-begun]");
        if (started) started.textContent = "Done. The status below is up to date.";
      }
    }
  } catch {
    // The next poll may succeed.
  }
  setTimeout(followSteps, FOLLOW_MS);
}

if ($("[data-follow]")) setTimeout(followSteps, FOLLOW_MS);

// The calendar: upcoming entries can be dragged to another day. Each has a form that does the same without a mouse.

let moving = null;

for (const entry of $$("[data-move]")) {
  entry.draggable = true;
  for (const link of $$("a", entry)) link.draggable = false;
  entry.addEventListener("dragstart", (event) => {
    if (event.target !== entry) return;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", $("a", entry).textContent);
    moving = entry;
    entry.classList.add("dragged");
  });
  entry.addEventListener("dragend", () => {
    moving = null;
    entry.classList.remove("dragged");
    for (const day of $$(".drop")) day.classList.remove("drop");
  });
}

for (const day of $$("[data-day]")) {
  day.addEventListener("dragover", (event) => {
    if (!moving || day.contains(moving)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "move";
    day.classList.add("drop");
  });
  day.addEventListener("dragleave", (event) => {
    if (!day.contains(event.relatedTarget)) day.classList.remove("drop");
  });
  day.addEventListener("drop", (event) => {
    if (!moving) return;
    event.preventDefault();
    const form = $("form", moving);
    form.elements.day.value = day.dataset.day;
    form.requestSubmit($("button", form));
  });
}

// Sortable rows of a form: users move them with buttons or a handle, without a page load, and save the order with the form.
// Pointer events also work on touch screens, unlike the calendar's drag and drop.

function renumber(list) {
  for (const [index, row] of [...list.children].entries()) {
    const number = (text) => text.replace(/\d+/, index + 1);
    for (const control of $$("[name]", row)) {
      if (control.dataset.way) control.value = number(control.value);
      else control.name = number(control.name);
    }
    for (const text of $$(".visually-hidden", row)) text.textContent = number(text.textContent);
    for (const way of $$("[data-way]", row)) way.disabled = way.dataset.way === "up" ? !index : !row.nextElementSibling;
  }
}

// Drags a row. It only moves when it's dropped; a line shows where. Escape or a lost pointer capture cancels.
function dragRow(list, row, event) {
  const handle = event.currentTarget;
  const ends = new AbortController();
  const listen = (target, type, action) => target.addEventListener(type, action, { signal: ends.signal });
  const middle = (child) => {
    const { top, height } = child.getBoundingClientRect();
    return top + height / 2;
  };
  // In rows with two lines, the handle is not at the vertical middle.
  const held = event.clientY - middle(row);
  let before = row;
  const mark = () => {
    for (const child of list.children) child.classList.remove("drop-before", "drop-after");
    if (before === row || before === row.nextElementSibling) return;
    (before ?? list.lastElementChild).classList.add(before ? "drop-before" : "drop-after");
  };
  const end = (moves) => {
    ends.abort();
    if (moves && before !== row) list.insertBefore(row, before);
    if (moves) renumber(list);
    before = row;
    mark();
    row.classList.remove("dragged");
  };
  event.preventDefault();
  handle.setPointerCapture(event.pointerId);
  row.classList.add("dragged");
  listen(handle, "pointermove", ({ clientY }) => {
    before = [...list.children].find((child) => clientY - held < middle(child)) ?? null;
    if (clientY < 40 || clientY > innerHeight - 40) scrollBy(0, clientY < 40 ? -12 : 12);
    mark();
  });
  listen(handle, "pointerup", () => end(true));
  listen(handle, "lostpointercapture", () => end(false));
  listen(document, "keydown", ({ key }) => key === "Escape" && end(false));
}

for (const list of $$("[data-rows]")) {
  for (const row of list.children) {
    const handle = $(".row-handle", row);
    handle.hidden = false;
    handle.addEventListener("pointerdown", (event) => event.isPrimary && !event.button && dragRow(list, row, event));
  }
  list.addEventListener("click", (event) => {
    const button = event.target.closest("[data-way]");
    if (!button) return;
    event.preventDefault();
    const row = button.closest("li");
    if (button.dataset.way === "up") row.previousElementSibling?.before(row);
    else row.nextElementSibling?.after(row);
    renumber(list);
    (button.disabled ? $("[data-way]:enabled", row) : button).focus();
  });
}
