// What the pages of tools do with JavaScript. Without it the form posts to the page, and the server answers with the same result.

// The form

const SETTLED_MS = 800;
const LIVE = "preview-while-i-type";

// A browser may forbid a page to keep anything; then nothing is remembered.

function remembered(name) {
  try {
    return localStorage.getItem(name) === "true";
  } catch {
    return false;
  }
}

function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // It holds until the page is left.
  }
}

class Tool {
  constructor(form) {
    this.form = form;
    this.all = $$("[data-field]", form).map((box) => new Field(box));
    this.groups = $$("[data-group]", form).map((box) => new Group(box));
    this.editors = this.all.map((field) => field.editor).filter(Boolean);
    this.button = $("button[type=submit]", form);
    this.live = $("[data-live]", form);
    if (this.live) {
      this.live.parentElement.hidden = false;
      this.live.checked = remembered(LIVE);
      this.live.addEventListener("change", () => {
        remember(LIVE, this.live.checked);
        this.follow();
      });
    }
    this.panel = $("#result");
    this.body = $("#result-body");
    form.noValidate = true;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.run();
    });
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit(this.button);
    });
    form.addEventListener("input", (event) => this.edited(event.target));
    for (const link of $$("[data-example]")) this.connectLink(link, () => this.choose(link));
    for (const link of $$("[data-reset]", form)) this.connectLink(link, () => this.fill(JSON.parse(form.dataset.start ?? "{}")));
    for (const { box, control } of this.all) {
      const [slider, swatch, counter] = [$(".range", box), $(".swatch", box), $("[data-count]", box)];
      if (slider) connectSlider(control, slider);
      if (swatch) connectSwatch(control, swatch);
      if (counter) connectCounter(control, counter);
    }
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

  // The fields that count: those of the chosen mode, and those that belong to none.
  get fields() {
    const mode = this.mode?.value;
    return this.all.filter((field) => field.mode === undefined || field.mode === mode);
  }

  get mode() {
    return $("[name=_mode]:checked", this.form);
  }

  choose(link) {
    this.fill(JSON.parse(link.dataset.example));
    if (!link.dataset.picture) return;
    $("#try").scrollIntoView({ block: "nearest" });
    this.run({ quiet: true });
  }

  fill(texts) {
    const mode = $(`[name=_mode][value="${texts._mode ?? 0}"]`, this.form);
    if (mode) mode.checked = true;
    for (const field of this.all) {
      if (field.spec.name in texts) field.text = texts[field.spec.name];
      else field.reset();
    }
    this.announce("The form is filled in.");
  }

  edited(control) {
    this.all.find((field) => field.box.contains(control))?.show("");
    for (const group of this.groups) if (group.target.contains(control)) group.show("");
    try {
      const body = JSON.stringify(this.input()).replaceAll("'", `'"'"'`);
      $("#curl").textContent = `${this.form.dataset.curl}'${body}'`;
    } catch {
      // A half-typed object: the command stays as it was.
    }
    this.follow();
  }

  input() {
    const found = {};
    for (const field of this.fields) {
      const { value } = field;
      if (value === undefined) continue;
      const [outer, inner] = field.spec.path ?? [];
      if (inner) (found[outer] ??= {})[inner] = value;
      else found[field.spec.name] = value;
    }
    return found;
  }

  // Runs the tool once the form rests, where that was switched on.
  follow() {
    clearTimeout(this.pause);
    if (!this.live?.checked) return;
    this.pause = setTimeout(() => {
      if (this.isBusy) this.follow();
      else if (this.fields.every((field) => field.controls.every((control) => control.validity.valid))) this.run({ quiet: true });
    }, SETTLED_MS);
  }

  // Shows what the browser itself finds wrong, and returns whether there is nothing.
  check() {
    const wrong = this.fields.filter((field) => {
      const control = field.controls.find((each) => !each.checkValidity());
      field.show(control?.validationMessage ?? "");
      return control;
    });
    wrong[0]?.target.focus();
    return wrong.length === 0;
  }

  // A quiet run leaves the focus where it is.
  async run({ quiet = false } = {}) {
    clearTimeout(this.pause);
    if (this.isBusy || !(quiet || this.check())) return;
    this.quiet = quiet;
    let input;
    try {
      input = this.input();
    } catch (error) {
      if (!(error instanceof BadField)) throw error;
      if (quiet) return;
      error.field.show(error.message);
      error.field.target.focus();
      return;
    }
    this.busy(true);
    try {
      const response = await fetch(this.form.dataset.endpoint, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(input),
      });
      this.answered(response.status, await response.json().catch(() => null), previewOf(response));
    } catch {
      this.fail("The server could not be reached. Check the connection, then try again.");
    } finally {
      this.busy(false);
    }
  }

  get isBusy() {
    return this.button.ariaDisabled === "true";
  }

  busy(on) {
    this.button.setAttribute("aria-disabled", on);
    this.button.textContent = on ? "Generating…" : "Generate";
    this.panel.setAttribute("aria-busy", on);
  }

  answered(status, answer, preview) {
    if (typeof answer?.ok !== "boolean") {
      this.fail(`The server gave no answer that this page understands (status ${status}). Try again later.`);
      return;
    }
    $("#response").textContent = JSON.stringify(answer, null, 2);
    const rate = answer.meta?.rateLimit;
    if (rate) $("#quota").textContent = `${rate.remaining.toLocaleString("en")} of ${rate.limit.toLocaleString("en")} requests left`;
    if (answer.ok) this.succeed(answer.data, preview);
    else this.refused(answer.error);
  }

  succeed(data, preview) {
    for (const field of this.all) if (field.editor) field.show("");
    this.body.replaceChildren(renderResult(data, this.form.dataset.tool, preview, this.editors));
    fillSnippets(data);
    const facts = resultView(data, this.form.dataset.tool).facts.map(([, value]) => value);
    this.announce(`Your result is ready: ${facts.slice(0, 2).join(", ")}.`);
    if (!this.quiet) this.body.scrollIntoView({ block: "nearest" });
  }

  refused(error) {
    if (error.retryAfter && this.live) this.live.checked = false;
    const [, name, path, problem] = /^([^:.[\s]+)([^:\s]*): (.*)$/s.exec(error.message) ?? [];
    const whole = this.fields.find((each) => each.spec.name === name + path);
    const field = whole ?? this.fields.find((each) => each.spec.name === name) ?? this.groups.find((each) => each.name === name);
    if (field) {
      const inside = whole ? "" : path.replace(/^\./, "");
      field.show(inside ? `${inside}: ${problem}` : problem.charAt(0).toUpperCase() + problem.slice(1));
      if (!this.quiet) field.target.focus();
    }
    this.fail(error.message, error.retryAfter ? `Try again in ${waitingTime(error.retryAfter)}.` : "");
    if (!field && !this.quiet) this.body.scrollIntoView({ block: "nearest" });
  }

  fail(message, advice = "") {
    this.body.replaceChildren(renderFailure(message, advice));
    this.announce(`That did not work: ${message} ${advice}`);
  }

  announce(text) {
    $("#announcer").textContent = text;
  }
}

const form = $("form[data-endpoint]");
if (form) new Tool(form);
