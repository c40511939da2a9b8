// Drafts: the browser stores unsaved text, with a separate draft for each form and tab.

const MAX_DRAFT_AGE_MS = 60 * 86_400_000;
const ANSWER_MS = 200;
const MAX_OFFERS = 5;
const SENT = "pressroom draft that was sent";

// Storage may be disabled or full. Drafts are then lost when the page closes.
const drafts = {
  read(key) {
    try {
      return JSON.parse(localStorage.getItem(key));
    } catch {
      return null;
    }
  },
  write(key, draft) {
    try {
      localStorage.setItem(key, JSON.stringify(draft));
      return true;
    } catch {
      return false;
    }
  },
  remove(key) {
    try {
      localStorage.removeItem(key);
    } catch {
      // Without storage, there is nothing to remove.
    }
  },
  keys(prefix) {
    try {
      return Object.keys(localStorage).filter((key) => key === prefix || key.startsWith(`${prefix} `));
    } catch {
      return [];
    }
  },
};

// Returns what this tab submitted last, or undefined; only once. `later` is the draft with what the user typed while it was
// being sent. Without such a draft, the draft is removed if the server has saved what was sent.
function takeSent(hasArrived) {
  try {
    const stored = sessionStorage.getItem(SENT);
    sessionStorage.removeItem(SENT);
    const sent = JSON.parse(stored);
    if (!sent) return undefined;
    const draft = drafts.read(sent.key);
    if (draft?.values && changedNames(draft.values, sent.values).length) sent.later = draft;
    else if (hasArrived) drafts.remove(sent.key);
    return sent;
  } catch {
    // At worst, a saved text is offered as a draft again.
    return undefined;
  }
}

// Returns the names of the values that differ from those of `before`.
function changedNames(values, before) {
  return Object.keys(values).filter((name) => values[name] !== before[name]);
}

// The storage key of a tab's draft. Tabs with a form of the same name tell each other which drafts they use.
class DraftPlace {
  constructor(name) {
    this.prefix = `pressroom draft ${name}`;
    this.page = newId();
    this.taken = new Set();
    try {
      this.id = sessionStorage.getItem(this.prefix);
    } catch {
      // Without session storage, each page load counts as a new tab.
    }
    if (!this.id) this.renew();
    this.listen();
    addEventListener("pagehide", () => this.channel?.close());
    addEventListener("pageshow", ({ persisted }) => persisted && this.listen());
  }

  get key() {
    return `${this.prefix} ${this.id}`;
  }

  // Starts a new draft. The previous one remains in storage.
  renew() {
    this.id = newId();
    try {
      sessionStorage.setItem(this.prefix, this.id);
    } catch {
      // Without session storage, the ID lasts until the page closes.
    }
  }

  listen() {
    if (!("BroadcastChannel" in window)) return;
    this.channel = new BroadcastChannel(this.prefix);
    this.channel.addEventListener("message", ({ data }) => {
      if (data.asks) this.channel.postMessage({ to: data.asks, key: this.key });
      else if (data.to === this.page) {
        this.taken.add(data.key);
        // A duplicated tab starts with a copy of the first tab's session storage.
        if (data.key === this.key) this.renew();
      }
    });
  }

  // Returns the drafts that no open tab uses, newest first.
  async left() {
    this.channel?.postMessage({ asks: this.page });
    await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
    const offers = [];
    for (const key of drafts.keys(this.prefix)) {
      const draft = drafts.read(key);
      if (key === this.key || this.taken.has(key)) continue;
      if (!draft?.values || Date.now() - draft.at > MAX_DRAFT_AGE_MS) drafts.remove(key);
      else offers.push({ key, draft });
    }
    return offers.sort((first, second) => second.draft.at - first.draft.at).slice(0, MAX_OFFERS);
  }
}

function newId() {
  return Math.random().toString(36).slice(2, 12);
}

// The label of a draft: its title, or else the beginning of its text.
function draftName({ values }) {
  const text = (values.title || values.body || "").trim().replace(/\s+/g, " ");
  return text.length > 60 ? `${text.slice(0, 59)}…` : text || "Untitled";
}

function timeOf(draft) {
  return new Date(draft.at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}
