// What the pages do with JavaScript. Without it the form posts to the page, and the server answers with the same result.

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
    button.textContent = "Select it and copy by hand";
  }
  setTimeout(() => (button.textContent = label), 2000);
});

for (const button of $$("[data-copy], [data-copy-text]")) button.hidden = false;

// Fields: from texts to the values that the API takes, by the same rules as the server's `input_from_form`

class BadField extends Error {
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

class Field {
  constructor(box) {
    this.box = box;
    this.spec = JSON.parse(box.dataset.field);
    this.controls = $$("[name]:not([type=hidden])", box);
    this.control = this.controls[0];
    this.error = $(".field-error", box);
    this.target = box.id ? box : this.control;
  }

  get text() {
    if (this.control.type === "checkbox") return String(this.control.checked);
    if (this.control.type === "radio") return this.controls.find((radio) => radio.checked)?.value ?? "";
    return this.control.value;
  }

  set text(text) {
    if (this.control.type === "checkbox") this.control.checked = text === "true";
    else if (this.control.type === "radio") for (const radio of this.controls) radio.checked = radio.value === text;
    else this.control.value = text;
    this.control.dispatchEvent(new Event("input", { bubbles: true }));
  }

  reset() {
    const { default: value = "" } = this.spec;
    this.text = typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
  }

  // The value, or undefined where the parameter is left out.
  get value() {
    const { text } = this;
    const value = this.parse(text);
    if (value === undefined || this.spec.required) return value;
    const isDefault = this.spec.default === undefined ? value === false : same(value, this.spec.default);
    return isDefault ? undefined : value;
  }

  parse(text) {
    const { kind, choices, empty } = this.spec;
    if (kind === "choice") return text === "" ? undefined : (choices.find((choice) => String(choice) === text) ?? text);
    if (kind === "boolean") return text === "true";
    if (kind === "number") return text.trim() === "" ? undefined : Number(text);
    if (kind === "object") return this.parseObject(text);
    return text || empty ? text : undefined;
  }

  parseObject(text) {
    if (!text.trim()) return undefined;
    let value;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw new BadField(this, `Must be JSON (${error.message})`);
    }
    if (value === null || typeof value !== "object" || Array.isArray(value)) {
      throw new BadField(this, 'Must be a JSON object, such as {"title": "Hello"}');
    }
    return value;
  }

  show(problem) {
    this.error.textContent = problem;
    this.error.hidden = !problem;
    const described = (this.target.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => id && id !== this.error.id);
    if (problem) described.push(this.error.id);
    if (!described.length) this.target.removeAttribute("aria-describedby");
    else this.target.setAttribute("aria-describedby", described.join(" "));
    for (const control of this.controls) {
      if (problem) control.setAttribute("aria-invalid", "true");
      else control.removeAttribute("aria-invalid");
    }
  }
}

function same(one, other) {
  return one === other || (typeof one === "object" && JSON.stringify(one) === JSON.stringify(other));
}

// Helpers beside a field: a slider for a number, a picker for a colour, a count for a text

function connectSlider(control, slider) {
  const follow = () => (slider.value = control.value);
  slider.hidden = false;
  slider.addEventListener("input", () => {
    control.value = slider.value;
    control.dispatchEvent(new Event("input", { bubbles: true }));
  });
  control.addEventListener("input", follow);
  follow();
}

function connectSwatch(control, swatch) {
  const follow = () => {
    const digits = /^#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.exec(control.value.trim())?.[1];
    if (digits) swatch.value = "#" + (digits.length < 6 ? digits.replace(/./g, "$&$&") : digits).slice(0, 6);
  };
  swatch.hidden = false;
  swatch.addEventListener("input", () => {
    control.value = swatch.value;
    control.dispatchEvent(new Event("input", { bubbles: true }));
  });
  control.addEventListener("input", follow);
  follow();
}

function connectCounter(control, counter) {
  const limit = Number(counter.dataset.count);
  const idle = counter.textContent;
  control.addEventListener("input", () => {
    const length = [...control.value].length;
    counter.textContent = length > limit * 0.8 ? `${length.toLocaleString("en")} of ${limit.toLocaleString("en")}` : idle;
  });
}

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

function renderResult(data, tool) {
  const view = resultView(data, tool);
  const made = $("#made").content.cloneNode(true);
  const slot = (name) => $(`[data-slot=${name}]`, made);
  const stage = slot("stage");
  if (view.image) {
    const image = new Image();
    if (Number.isInteger(view.width) && Number.isInteger(view.height)) [image.width, image.height] = [view.width, view.height];
    image.alt = stage.dataset.alt;
    image.src = data.url;
    stage.append(image);
  } else stage.remove();
  fillList(slot("files"), data.files);
  fillList(slot("warnings"), data.warnings);
  slot("download").href = data.url;
  slot("download").download = view.filename;
  slot("copy").dataset.copyText = data.url;
  slot("copy").hidden = false;
  slot("facts").replaceChildren(...view.facts.map(([name, value]) => element("div", element("dt", name), element("dd", value))));
  if (data.expiresAt) {
    const time = element("time", new Date(data.expiresAt).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
    time.dateTime = data.expiresAt;
    slot("facts").append(element("div", element("dt", "Link works until"), element("dd", time)));
  }
  return made;
}

function fillList(list, items) {
  if (!items?.length) return;
  list.replaceChildren(...items.map((item) => element("li", item)));
  list.hidden = false;
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

// The form

class Tool {
  constructor(form) {
    this.form = form;
    this.fields = $$("[data-field]", form).map((box) => new Field(box));
    this.button = $("button[type=submit]", form);
    this.panel = $("#result");
    this.body = $("#result-body");
    form.noValidate = true;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.run();
    });
    form.addEventListener("input", (event) => this.edited(event.target));
    for (const link of $$("[data-example]", form)) this.connectLink(link, () => this.fill(JSON.parse(link.dataset.example)));
    for (const link of $$("[data-reset]", form)) this.connectLink(link, () => this.fill({}));
    for (const { box, control } of this.fields) {
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

  fill(texts) {
    for (const field of this.fields) {
      if (field.spec.name in texts) field.text = texts[field.spec.name];
      else field.reset();
    }
    this.announce("The form is filled in.");
  }

  edited(control) {
    this.fields.find((field) => field.box.contains(control))?.show("");
    try {
      const body = JSON.stringify(this.input()).replaceAll("'", `'"'"'`);
      $("#curl").textContent = `${this.form.dataset.curl}'${body}'`;
    } catch {
      // A half-typed object: the command stays as it was.
    }
  }

  input() {
    const pairs = this.fields.map((field) => [field.spec.name, field.value]);
    return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
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

  async run() {
    if (this.button.getAttribute("aria-disabled") === "true" || !this.check()) return;
    let input;
    try {
      input = this.input();
    } catch (error) {
      if (!(error instanceof BadField)) throw error;
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
      this.answered(response.status, await response.json().catch(() => null));
    } catch {
      this.fail("The server could not be reached. Check the connection, then try again.");
    } finally {
      this.busy(false);
    }
  }

  busy(on) {
    this.button.setAttribute("aria-disabled", on);
    this.button.textContent = on ? "Generating…" : "Generate";
    this.panel.setAttribute("aria-busy", on);
  }

  answered(status, answer) {
    if (typeof answer?.ok !== "boolean") {
      this.fail(`The server gave no answer that this page understands (status ${status}). Try again later.`);
      return;
    }
    $("#response").textContent = JSON.stringify(answer, null, 2);
    const rate = answer.meta?.rateLimit;
    if (rate) $("#quota").textContent = `${rate.remaining.toLocaleString("en")} of ${rate.limit.toLocaleString("en")} requests left`;
    if (answer.ok) this.succeed(answer.data);
    else this.refused(answer.error);
  }

  succeed(data) {
    this.body.replaceChildren(renderResult(data, this.form.dataset.tool));
    const facts = resultView(data, this.form.dataset.tool).facts.map(([, value]) => value);
    this.announce(`Your result is ready: ${facts.slice(0, 2).join(", ")}.`);
    this.body.scrollIntoView({ block: "nearest" });
  }

  refused(error) {
    const [, name, path, problem] = /^([^:.[\s]+)([^:\s]*): (.*)$/s.exec(error.message) ?? [];
    const field = this.fields.find((each) => each.spec.name === name);
    if (field) {
      const inside = path.replace(/^\./, "");
      field.show(inside ? `${inside}: ${problem}` : problem.charAt(0).toUpperCase() + problem.slice(1));
      field.target.focus();
    }
    this.fail(error.message, error.retryAfter ? `Try again in ${waitingTime(error.retryAfter)}.` : "");
    if (!field) this.body.scrollIntoView({ block: "nearest" });
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
