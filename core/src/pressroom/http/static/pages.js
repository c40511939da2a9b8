// The page of a tool: the canvas shows a live preview of the form. Without JavaScript, the form is posted to the page and
// the server renders the result.

const PAUSE_MS = 80;
const STALE_MS = 400;
const SHOWN = ["width", "height", "size", "scale", "format"];
// The page shows why next to the field, or as a failure.
const NOT_COPIED = "Not copied";
const PAGE = Math.random().toString(36).slice(2, 14);

class Tool {
  constructor(form) {
    this.form = form;
    this.all = $$("[data-field]", form).map((box) => new Field(box));
    this.groups = $$("[data-group]", form).map((box) => new Group(box));
    this.editors = this.all.map((field) => field.editor).filter(Boolean);
    this.panel = $("#result");
    this.images = $$("[data-canvas]", form);
    this.failure = $("[data-failure]", form);
    this.pausedUntil = 0;
    form.noValidate = true;
    this.connect();
    this.showTools();
    const design = designIn(location.hash);
    if (design) this.fill(design);
    else this.followRestored();
    // Browsers restore earlier input without events, and Chromium only after the page has loaded.
    const isNew = performance.getEntriesByType("navigation")[0]?.type === "navigate";
    if (!isNew) addEventListener("pageshow", () => this.followRestored(), { once: true });
  }

  connect() {
    const { form } = this;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.endpoint) this.refresh();
      else this.download();
    });
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
      event.preventDefault();
      this.download();
    });
    form.addEventListener("input", (event) => this.edited(event.target));
    this.connectCanvas();
    for (const link of $$("[data-example]", form)) this.connectLink(link, () => this.fill(JSON.parse(link.dataset.example)));
    for (const link of $$("[data-reset]", form)) this.connectLink(link, () => this.fill(JSON.parse(form.dataset.start ?? "{}")));
    for (const image of $$("img", form)) {
      const hide = () => (image.hidden = true);
      if (!this.images.includes(image)) {
        image.addEventListener("error", hide);
        if (image.complete && !image.naturalWidth && image.loading !== "lazy") hide();
      }
    }
    for (const field of this.all) {
      const [slider, swatch, counter] = [".range", ".swatch", "[data-count]"].map((selector) => $(selector, field.box));
      if (slider) connectSlider(field.control, slider);
      if (swatch) connectSwatch(field.control, swatch);
      if (counter) connectCounter(field.control, counter);
      swatchesFor(field);
    }
    const uploads = this.all.filter((field) => field.uploads);
    if (uploads.length) import(form.dataset.uploads).then((loaded) => loaded.connectUploads(uploads, $(".canvas", form)));
    for (const help of $$("[popover]", form)) help.addEventListener("toggle", placeBesideButton);
    this.relabel();
  }

  connectCanvas() {
    const canvas = $(".canvas", this.form);
    if (!canvas) return;
    this.place(jsonIn(canvas.dataset.editable));
    const first = () => this.fields.find(({ box }) => !this.panel.contains(box))?.control;
    canvas.addEventListener("click", ({ target }) => {
      const area = this.inPlace?.isOpen && this.inPlace.area;
      if (target !== area) (area || first())?.focus({ preventScroll: true });
    });
    // The server doesn't locate the text in the image of a design link, or of a sample that wasn't rendered before. A
    // preview does.
    if (location.search || canvas.classList.contains("is-unsized")) canvas.addEventListener("pointerenter", () => this.drawn || this.refresh(), { once: true });
  }

  // Enables typing in the image if the server located a parameter's text in it.
  async place(place, input = Object.fromEntries(this.all.map((field) => [field.spec.name, field.text]))) {
    if (place && !this.inPlace) {
      const canvas = $(".canvas", this.form);
      // If the module fails to load, users can still type in the form.
      const loaded = await import(canvas.dataset.inPlace).catch(() => undefined);
      if (loaded) this.inPlace ??= new loaded.InPlace(canvas, this.all);
    }
    this.inPlace?.place(place, input);
  }

  // Shows the buttons that need JavaScript, and hides what it replaces.
  showTools() {
    const { form } = this;
    const tools = {
      "[data-download]": () => this.download(),
      "[data-copy-image]": (button) => this.copying(button, () => this.copyImage()),
      "[data-copy-markup]": (button) => this.copying(button, () => this.copyMarkup()),
      "[data-copy-design]": (button) => this.copying(button, () => this.copyDesign()),
      "[data-make-link]": (button) => this.makeLink(button),
    };
    for (const [selector, action] of Object.entries(tools)) {
      const button = $(selector, form);
      button?.addEventListener("click", () => action(button));
    }
    for (const name of ["[data-generate]", "[data-made]"]) $(name, form)?.setAttribute("hidden", "");
    $("[data-download]", form).hidden = false;
    for (const name of ["[data-copy-design]", "[data-make-link]"]) $(name, form)?.removeAttribute("hidden");
    const copiesImages = $("[data-copy-image]", form);
    if (copiesImages) copiesImages.hidden = !(navigator.clipboard?.write && window.ClipboardItem);
    for (const button of $$("[data-coming]", form)) {
      if (button.matches("[data-copy-markup]")) button.hidden = false;
      button.removeAttribute("data-coming");
    }
    this.label();
  }

  connectLink(link, action) {
    link.setAttribute("role", "button");
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      action();
    });
    link.addEventListener("keydown", (event) => {
      if (event.key !== " ") return;
      event.preventDefault();
      action();
    });
  }

  get endpoint() {
    return this.form.dataset.preview;
  }

  followRestored() {
    if (!this.isRestored) return;
    this.filling = true;
    for (const field of this.all) field.text = field.text;
    this.filling = false;
    this.relabel();
  }

  // Whether the browser restored earlier input, for example after a reload.
  get isRestored() {
    return this.all.some(({ controls }) => controls.some((control) => {
      if ("checked" in control && /radio|checkbox/.test(control.type)) return control.checked !== control.defaultChecked;
      return "defaultValue" in control && control.value !== control.defaultValue;
    }));
  }

  // The fields that apply to the chosen mode and to the chosen value of the form's switch.
  get fields() {
    const mode = this.mode?.value;
    const number = this.caseNumber;
    return this.all.filter((field) => (field.mode === undefined || field.mode === mode) && (!field.cases || number === undefined || field.cases.includes(number)));
  }

  // The number of the chosen value of the form's switch.
  get caseNumber() {
    return $("[data-switch]:checked", this.form)?.dataset.switch;
  }

  relabel() {
    for (const field of this.all) field.relabel(this.caseNumber);
  }

  // Fills in the first example of a mode whose fields are still empty.
  beginMode() {
    const own = this.all.filter((field) => field.mode === this.mode.value);
    const example = $$("[data-example]", this.form).map((link) => jsonIn(link.dataset.example)).find(({ _mode }) => _mode === this.mode.value);
    if (!example || own.some((field) => field.value !== undefined)) return;
    for (const field of own) if (field.spec.name in example) field.text = example[field.spec.name];
  }

  // Handles another value of the switch: its samples fill the fields that the user hasn't edited.
  switched() {
    this.relabel();
    const samples = jsonIn(this.form.dataset.samples, {});
    const start = jsonIn(this.form.dataset.start, {});
    for (const [name, text] of Object.entries(samples[this.caseNumber] ?? {})) {
      const field = this.all.find(({ spec }) => spec.name === name);
      const known = [start[name], ...Object.values(samples).map((sample) => sample[name])];
      if (field && (!field.text || known.includes(field.text))) field.text = text;
    }
  }

  get mode() {
    return $("[name=_mode]:checked", this.form);
  }

  fill(texts) {
    const mode = $(`[name=_mode][value="${CSS.escape(texts._mode ?? 0)}"]`, this.form);
    if (mode) mode.checked = true;
    this.filling = true;
    for (const field of this.all) {
      if (field.spec.name in texts) field.text = texts[field.spec.name];
      else field.reset();
    }
    this.filling = false;
    this.relabel();
    this.announce("The form is filled in.");
  }

  edited(control) {
    this.all.find((field) => field.box.contains(control))?.show("");
    if (control.dataset.switch && !this.filling) this.switched();
    if (control === this.mode) this.beginMode();
    for (const group of this.groups) if (group.target.contains(control)) group.show("");
    this.changed();
  }

  changed() {
    this.label();
    this.inPlace?.follow();
    $("#permanent")?.setAttribute("hidden", "");
    try {
      fillSamples(this.input());
    } catch {
      // A half-typed JSON object: leave the samples unchanged.
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), this.pause ?? PAUSE_MS);
  }

  label() {
    const button = $("[data-download]", this.form);
    const format = this.all.find((field) => field.spec.name === "format")?.text || button.dataset.download;
    button.textContent = `Download ${format.toUpperCase()}`;
  }

  input() {
    const values = {};
    for (const field of this.fields) {
      const { value } = field;
      if (value === undefined) continue;
      const [outer, inner] = field.spec.path ?? [];
      if (inner) (values[outer] ??= {})[inner] = value;
      else values[field.spec.name] = value;
    }
    return values;
  }

  // Requests a preview, one request at a time. If the form changes meanwhile, another request follows, and a slow one is
  // aborted. Returns a promise that resolves once no request is left.
  async refresh() {
    clearTimeout(this.timer);
    if (!this.endpoint || Date.now() < this.pausedUntil) return;
    if (this.underWay) {
      this.again = true;
      if (performance.now() - this.began > STALE_MS) this.underWay.abort();
      await this.refreshed;
      return;
    }
    const body = this.body();
    if (body === undefined || body === this.drawn) return;
    this.refreshed = this.preview(body);
    await this.refreshed;
  }

  async preview(body) {
    this.again = false;
    this.underWay = new AbortController();
    this.began = performance.now();
    this.panel.setAttribute("aria-busy", "true");
    try {
      const response = await fetch(this.endpoint, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Preview-Page": PAGE },
        body,
        signal: this.underWay.signal,
      });
      await this.previewed(response, body);
    } catch (error) {
      if (error.name !== "AbortError") this.fail("The server could not be reached. Check your connection, then try again.");
    } finally {
      this.underWay = undefined;
      this.panel.setAttribute("aria-busy", "false");
    }
    if (this.again) await this.refresh();
  }

  // Returns the request's body, or undefined if the form is invalid.
  body() {
    if (this.fields.some((field) => field.controls.some((control) => !control.validity.valid))) return undefined;
    try {
      return JSON.stringify(this.input());
    } catch (error) {
      if (!(error instanceof BadField)) throw error;
      return undefined;
    }
  }

  async previewed(response, body) {
    if (!response.ok) {
      const envelope = await response.json().catch(() => null);
      this.drawn = this.markup = undefined;
      if (response.status === 503 && !this.again) this.timer = setTimeout(() => this.refresh(), 1000);
      else if (response.status === 429) this.pausePreviews(envelope?.error?.retryAfter ?? 60);
      else this.refused(response.status, envelope, { quiet: true });
      return;
    }
    const blob = await response.blob();
    await this.show(URL.createObjectURL(blob));
    this.drawn = body;
    this.place(jsonIn(response.headers.get("X-Editable-Text")), JSON.parse(body));
    this.succeed(jsonIn(response.headers.get("X-Details"), {}), jsonIn(response.headers.get("X-Warnings"), []));
    this.saveBudget(response);
  }

  // Debounces longer when less of the rate limit remains. Without a limit, 0 / 0 is NaN and no comparison is true.
  saveBudget({ headers }) {
    const left = Number(headers.get("RateLimit-Remaining")) / Number(headers.get("RateLimit-Limit"));
    this.pause = left <= 0.2 ? 10 * PAUSE_MS : left <= 0.5 ? 3 * PAUSE_MS : PAUSE_MS;
  }

  async show(url) {
    const loaded = new Image();
    loaded.src = url;
    await loaded.decode().catch(() => {});
    const before = this.images[0]?.src ?? "";
    $(".canvas-room", this.form)?.remove();
    $(".is-unsized", this.form)?.classList.remove("is-unsized");
    for (const image of this.images) {
      for (const name of ["width", "height", "sizes"]) image.removeAttribute(name);
      // Replace `srcset` instead of removing it, or Chromium keeps the scale of the old one.
      if (image.srcset) image.srcset = url;
      image.src = url;
      image.hidden = false;
    }
    if (before.startsWith("blob:")) URL.revokeObjectURL(before);
  }

  pausePreviews(seconds) {
    this.pausedUntil = Date.now() + seconds * 1000;
    this.fail(`Previews pause for ${waitingTime(seconds)}: your limit is used up. Large images that the server made smaller count as ten each. Downloads still work.`);
    setTimeout(() => this.refresh(), seconds * 1000);
  }

  succeed(data, warnings) {
    this.clearFailure();
    for (const field of this.all) if (field.editor) field.show("");
    const list = $("#warnings");
    list.replaceChildren(...warnings.map((warning) => element("li", this.withPlace(warning))));
    list.hidden = !warnings.length;
    const facts = this.facts(data);
    $("#facts").textContent = facts;
    this.markup = Object.values(data).find((value) => typeof value === "string" && /^\s*<[a-z!]/i.test(value));
    $("[data-copy-markup]", this.form).hidden = !this.markup;
    clearTimeout(this.telling);
    this.telling = setTimeout(() => this.announce(`Preview updated${facts ? `: ${facts}` : ""}.`), 1000);
  }

  facts(data) {
    const [width, height] = "width" in data ? [data.width, data.height] : [data.size, data.size];
    const scale = Number(this.all.find((field) => field.spec.name === "scale")?.text ?? 1) || 1;
    const facts = Number.isInteger(width) && Number.isInteger(height) ? [`${width * scale} × ${height * scale} px`] : [];
    for (const [name, value] of Object.entries(data)) {
      if (!SHOWN.includes(name) && !/^(object|undefined)$/.test(typeof value) && String(value).length < 40) facts.push(`${words(name)} ${value}`);
    }
    return facts.join(" · ");
  }

  // Returns a warning, with a button that selects the place in the code that it refers to, if any.
  withPlace(warning) {
    const link = this.editors.map((editor) => editor.point(warning, "doubtful")).find(Boolean);
    return link ? element("span", `${warning} `, link) : warning;
  }

  // Downloads: one API call each

  // Shows the browser's validation errors, and returns whether all fields are valid.
  check() {
    const wrong = this.fields.filter((field) => {
      const control = field.controls.find((each) => !each.checkValidity());
      field.show(control?.validationMessage ?? "");
      return control;
    });
    wrong[0]?.target.focus();
    return wrong.length === 0;
  }

  // Returns the response with the file. If the call fails, shows the error and returns undefined.
  async make(changes = {}, endpoint = this.form.dataset.endpoint) {
    this.clearFailure();
    if (!this.check()) return undefined;
    let input;
    try {
      input = { ...this.input(), ...changes, response: "binary" };
    } catch (error) {
      if (!(error instanceof BadField)) throw error;
      error.field.show(error.message);
      error.field.target.focus();
      return undefined;
    }
    try {
      const response = await fetch(endpoint, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(input),
      });
      const { headers } = response;
      const [left, limit] = ["Remaining", "Limit"].map((name) => Number(headers.get(`RateLimit-${name}`)));
      if (limit) $("#quota").textContent = `${left.toLocaleString("en")} of ${limit.toLocaleString("en")} downloads left`;
      if (response.ok) {
        this.clearFailure();
        return response;
      }
      this.refused(response.status, await response.json().catch(() => null));
    } catch {
      this.fail("The server could not be reached. Check your connection, then try again.");
    }
    return undefined;
  }

  async download() {
    const button = $("[data-download]", this.form);
    if (button.ariaDisabled === "true") return;
    button.setAttribute("aria-disabled", "true");
    try {
      const response = await this.make();
      if (!response) return;
      const name = `${this.stem()}.${extensionOf(response, button.dataset.download)}`;
      save(await response.blob(), name);
      this.announce(`Downloaded ${name}.`);
    } finally {
      button.removeAttribute("aria-disabled");
    }
  }

  stem() {
    const scale = Number(this.all.find((field) => field.spec.name === "scale")?.text ?? 1) || 1;
    return (fileStem(this.title()) || this.form.dataset.tool) + (scale > 1 ? `@${scale}x` : "");
  }

  // Runs an action that copies something, and shows the outcome on its button: the text that the action returns, if any.
  async copying(button, action) {
    const label = (button.dataset.label ??= button.textContent);
    let text = "Copied";
    try {
      text = (await action()) ?? text;
    } catch {
      text = "The browser refused to copy";
    }
    button.textContent = text;
    this.announce(text);
    setTimeout(() => (button.textContent = label), 2000);
  }

  async copyImage() {
    const format = this.all.find((field) => field.spec.name === "format");
    const changes = format?.spec.choices?.includes("png") ? { format: "png" } : {};
    const request = this.make(changes);
    const image = request.then(async (response) => {
      if (!response) throw new Error("refused");
      return asPng(await response.blob());
    });
    try {
      // Pass a promise: awaiting the image first would lose the permission that the click gave.
      await navigator.clipboard.write([new ClipboardItem({ "image/png": image })]);
    } catch (error) {
      if (await request) throw error;
      return NOT_COPIED;
    }
    return undefined;
  }

  // Copies the HTML that comes with the image. Before the first change, this takes a preview request.
  async copyMarkup() {
    if (!this.check()) return NOT_COPIED;
    await this.refresh();
    if (!this.markup || this.body() !== this.drawn) return NOT_COPIED;
    await copy(this.markup);
    return undefined;
  }

  async copyDesign() {
    const texts = {};
    for (const field of this.fields) if (field.value !== undefined) texts[field.spec.name] = field.text;
    if (this.mode) texts._mode = this.mode.value;
    const url = designUrl(this.form.getAttribute("action").replace(/#.*/, ""), texts);
    if (!url) return "Too long for a link";
    await copy(url);
    return undefined;
  }

  // Creates a permanent URL: one API call, which returns a signed URL.

  async makeLink(button) {
    if (button.ariaDisabled === "true") return;
    button.setAttribute("aria-disabled", "true");
    try {
      const response = await this.make({}, this.form.dataset.link);
      if (!response) return;
      const { data } = await response.json();
      const panel = $("#permanent");
      for (const place of $$("[data-permanent]", panel)) place.textContent = permanentText(place.id, place.dataset.permanent, data, this.title());
      panel.hidden = false;
      panel.focus();
      this.announce("The permanent link is ready to copy.");
    } finally {
      button.removeAttribute("aria-disabled");
    }
  }

  title() {
    return this.fields.find((field) => (field.spec.path ?? [field.spec.name]).at(-1) === "title")?.text ?? "";
  }

  refused(status, envelope, { quiet = false } = {}) {
    const error = envelope?.error;
    if (!error?.message) {
      this.fail(`Unexpected response from the server (status ${status}). Try again later.`);
      return;
    }
    const names = [...this.fields.map(({ spec }) => spec.name), ...this.groups.map(({ name }) => name)];
    const next = new RegExp(`([.?!]) (?=(?:${names.join("|").replaceAll(".", "\\.")})(?:[.[][^:\\s]*)?: )`, "g");
    // The message has a sentence for each invalid field.
    const messages = error.message.replace(next, "$1\n").split("\n");
    const wrong = messages.map((text) => this.tell(messages.length > 1 ? text.replace(/\.$/, "") : text)).find(Boolean);
    if (wrong && !quiet) wrong.target.focus();
    if (!error.retryAfter) this.fail(error.message);
    else this.fail(error.message.replace(/[;,.] try again .*/is, ""), `Try again in ${waitingTime(error.retryAfter)}.`);
  }

  // Shows an error message at the field that it names, and returns that field.
  tell(message) {
    const [, name, path, problem] = /^([^:.[\s]+)([^:\s]*): (.*)$/s.exec(message) ?? [];
    const named = `${name ?? ""}${path ?? ""}`;
    const holds = (own) => named === own || named.startsWith(`${own}.`) || named.startsWith(`${own}[`);
    const field = this.fields.find(({ spec }) => holds(spec.name)) ?? this.groups.find((group) => group.name === name);
    if (!field) return undefined;
    const inside = named.slice((field.spec ?? field).name.length).replace(/^\./, "").replace(/^\d+$/, (at) => `Item ${+at + 1}`);
    field.show(inside ? `${inside}: ${problem}` : capitalised(problem));
    return field;
  }

  fail(problem, advice = "") {
    // Don't capitalise the name of a parameter.
    const message = (/^[^:\s]+: /.test(problem) ? problem : capitalised(problem)) + (/[.!?…]$/.test(problem) ? "" : ".");
    const lines = [element("p", element("strong", "That didn't work."), ` ${message}`)];
    if (advice) lines.push(element("p", advice));
    this.failure.replaceChildren(...lines);
    this.failure.hidden = false;
    clearTimeout(this.telling);
    this.telling = setTimeout(() => this.announce(`That didn't work: ${message} ${advice}`), 500);
  }

  clearFailure() {
    this.failure.hidden = true;
  }

  announce(text) {
    $("#announcer").textContent = text;
  }
}

// Thumbnails load shortly before they scroll into view, and appear once they are decoded.

const approaching = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    approaching.unobserve(target);
    showThumbnail(target);
  }
}, { rootMargin: "200px" });
for (const place of $$("[data-thumbnail]")) approaching.observe(place);

async function showThumbnail(place) {
  const image = new Image();
  image.alt = "";
  image.src = place.dataset.thumbnail;
  const loaded = await image.decode().then(() => true, () => false);
  if (loaded) place.replaceChildren(image);
}

const form = $("form[data-endpoint]");
if (form) new Tool(form);
