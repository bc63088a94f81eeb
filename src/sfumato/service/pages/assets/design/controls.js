/* What the parts of the design page share: fields and buttons, words and numbers in the reader's language, requests to the server. */

"use strict";

const Page = (() => {
  const { element, scrolling, breakable } = Elements;
  let words = {};

  /* The words for a key, with {names} filled in. */
  const say = (key, values = {}) => (words.design[key] ?? words[key]).replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const has = (key) => key in words.design;

  async function speak(code) {
    await Survey.speak(code); // what a respondent reads is shown here as it is there
    words = await (await fetch(`/assets/words/${code}.json`)).json();
    document.documentElement.lang = code;
  }

  const number = (value, digits = 3) => value.toLocaleString(document.documentElement.lang, { maximumSignificantDigits: digits });
  const whole = (value) => value.toLocaleString(document.documentElement.lang, { maximumFractionDigits: 0 });
  const { roundedUp } = Explain;
  const atMost = (value) => (value === null ? "∞" : number(roundedUp(value)));
  /* A share as a percentage that never claims a certainty it does not have, as the report writes it. */
  function percent(share) {
    const value = 100 * share;
    if (value <= 99 || value >= 100) return `${number(value, share < 0.1 ? 2 : 3)}\u00a0%`;
    for (let digits = 2; digits < 9; digits++) if (Number(value.toFixed(digits)) < 100) return `${value.toLocaleString(document.documentElement.lang, { maximumFractionDigits: digits })}\u00a0%`;
    return say("almost");
  }

  /* How sure somebody can become at most, rounded up: of a finite gamma never certain, as the report has it. */
  function belief(share, gamma) {
    if (gamma === null) return percent(share);
    const value = 100 * share;
    if (value <= 99) return percent(roundedUp(value, value >= 10 && value < 20 ? 3 : 2) / 100);
    for (let whole = 1e4; whole < 1e12; whole *= 10) {
      const up = Math.ceil(share * whole - 1e-9);
      if (up < whole) return percent(up / whole);
    }
    return say("almost");
  }

  const points = (width) => (width === null || width >= 1 ? say("untold") : `±\u00a0${number(100 * width, width < 0.1 ? 2 : 3)}`);

  let last = 0;
  /* A field with its label, and a hint that is read with it. */
  function field(label, input, hint = null) {
    input.id ||= `f${++last}`;
    const said = hint === null ? null : element("span", { class: "hint", id: `${input.id}-hint` }, hint);
    if (said) input.setAttribute("aria-describedby", said.id);
    return element("div", { class: "field" }, element("label", { for: input.id }, label), input, said);
  }

  function menu(entries, chosen, changed) {
    const made = element("select", { onchange: () => changed(made.value) }, ...entries.map(([value, text]) => element("option", { value, selected: value === chosen }, text)));
    return made;
  }

  function check(label, checked, changed) {
    const box = element("input", { type: "checkbox", id: `f${++last}`, checked, onchange: () => changed(box.checked) });
    return element("div", { class: "choice" }, box, element("label", { for: box.id }, label));
  }

  const button = (text, onclick, attributes = {}) => element("button", { type: "button", onclick, ...attributes }, text);

  function table(label, heads, rows, numeric = []) {
    const kind = (i) => (numeric.includes(i) ? "num" : null);
    return scrolling(label, element("table", {},
      element("thead", {}, element("tr", {}, ...heads.map((head, i) => element("th", { scope: "col", class: kind(i) }, head)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, element("th", { scope: "row" }, breakable(row[0])), ...row.slice(1).map((cell, i) => element("td", { class: kind(i + 1) }, cell)))))));
  }

  function save(name, text) {
    const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: name });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  /* A text to copy, in a box of its own. */
  function copied(label, text, id) {
    const said = element("span", { role: "status", class: "about" });
    const copy = button(say("copy"), async () => {
      try { await navigator.clipboard.writeText(text); said.textContent = say("copied"); } catch { said.textContent = say("not_copied"); }
    }, { class: "small", "aria-label": `${say("copy")}: ${label}` });
    return element("div", { class: "copied" },
      element("div", { class: "head" }, element("b", {}, label), copy, said),
      element("pre", { class: "message", id, tabindex: "0" }, text));
  }

  /* A request to the server; what it refuses is thrown with its code and details. */
  class Refusal extends Error {
    constructor(status, error, wait) { super(error.message); Object.assign(this, { status, wait, code: error.code, details: error.details ?? {} }); }
  }

  async function ask(method, path, body = null, token = "") {
    const headers = { ...(body === null ? {} : { "content-type": "application/json" }), ...(token ? { authorization: `Bearer ${token}` } : {}) };
    const answer = await fetch(path, { method, headers, ...(body === null ? {} : { body: JSON.stringify(body) }) });
    const found = await answer.json();
    if (!answer.ok) throw new Refusal(answer.status, found.error, Number(answer.headers.get("retry-after")) || 1);
    return found;
  }

  return { say, has, speak, number, whole, percent, belief, atMost, points, field, menu, check, button, table, save, copied, ask, Refusal };
})();
