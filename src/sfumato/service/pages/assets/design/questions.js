/* The questions of a design: edited in the page, and turned into the schema that the server reads. */

"use strict";

const Questions = (() => {
  const { element, breakable } = Elements;
  const { say, field, menu, check, button, number } = Page;
  const KINDS = ["categorical", "ordinal", "numeric", "date", "other"];
  const PERIODS = ["day", "week", "month", "quarter", "year", "weekday", "hour of day"];
  const ROUND = ["weekday", "hour of day"];

  const blank = () => ({ name: "", text: "", help: "", kind: "categorical", values: "", words: "", low: "0", high: "100", cut: "bins", parts: "10", first: "", last: "", by: "month", nullable: false, typed: "text", rest: {}, json: "" });
  const made = (fields) => ({ ...blank(), ...fields });

  /* What a newcomer sees first. */
  const example = () => [
    made({ name: "way", text: say("example_way"), values: say("example_ways") }),
    made({ name: "minutes", text: say("example_minutes"), kind: "numeric", low: "0", high: "120", cut: "bins", parts: "8" }),
    made({ name: "content", text: say("example_content"), kind: "ordinal", values: say("example_contents") }),
  ];

  const lines = (text) => text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const parsed = { text: (line) => line, number: Number, boolean: (line) => line === "true" };
  const numeric = (text) => (String(text).trim() === "" ? NaN : Number(String(text).replace(",", ".")));

  /* What is missing in a question, as a key of the words; null where nothing is. */
  function problem(one, names) {
    if (one.name.trim() === "") return "needs_name";
    if (names.filter((name) => name === one.name.trim()).length > 1) return "needs_other_name";
    if (one.kind === "categorical" || one.kind === "ordinal") {
      const values = lines(one.values);
      if (values.length < 2) return "needs_values";
      if (new Set(values).size < values.length) return "needs_different_values";
      if (one.typed === "number" && values.some((value) => Number.isNaN(Number(value)))) return "needs_numbers";
    }
    if (one.kind === "numeric") {
      if (one.cut === "edges") {
        const edges = lines(one.edges ?? "").map(numeric);
        if (edges.length < 2 || edges.some((edge, i) => Number.isNaN(edge) || (i > 0 && edge <= edges[i - 1]))) return "needs_edges";
      } else {
        if (!(numeric(one.low) < numeric(one.high))) return "needs_limits";
        if (!(Number.isInteger(numeric(one.parts)) && numeric(one.parts) >= 2)) return "needs_parts";
      }
    }
    if (one.kind === "date" && !ROUND.includes(one.by) && (one.first.trim() === "" || one.last.trim() === "")) return "needs_dates";
    if (one.kind === "other") { try { JSON.parse(one.json); } catch { return "needs_json"; } }
    return null;
  }

  /* The domain of a question, as docs/schema.md describes it. */
  function domain(one) {
    if (one.kind === "other") return JSON.parse(one.json);
    const common = { ...(one.nullable ? { nullable: true } : {}), ...one.rest };
    if (one.kind === "categorical" || one.kind === "ordinal") return { kind: one.kind, values: lines(one.values).map(parsed[one.typed]), ...common };
    if (one.kind === "date") return { kind: "date", by: one.by, ...(ROUND.includes(one.by) ? {} : { first: one.first.trim(), last: one.last.trim() }), ...common };
    if (one.cut === "edges") return { kind: "numeric", edges: lines(one.edges).map(numeric), ...common };
    return { kind: "numeric", low: numeric(one.low), high: numeric(one.high), [one.cut]: numeric(one.parts), ...common };
  }

  /* A question from a domain of a schema or scheme; what this page has no field for is kept as it is. */
  function read(name, given, words = {}) {
    const { kind, nullable = false, ...rest } = given;
    const base = { name, kind, nullable, text: words.text ?? "", help: words.help ?? "" };
    for (const comment of ["why", "discloses", "note"]) delete rest[comment];
    const take = (key) => { const value = rest[key]; delete rest[key]; return value; };
    if ((kind === "categorical" || kind === "ordinal") && Array.isArray(given.values)) {
      const values = take("values");
      const typed = typeof values[0] === "string" ? "text" : typeof values[0];
      if (values.every((value) => String(value).trim() === String(value) && String(value) !== "" && !String(value).includes("\n"))) {
        const own = words.labels ?? {};
        return made({ ...base, typed, values: values.join("\n"), words: Object.keys(own).length ? values.map((value) => own[value] ?? value).join("\n") : "", rest });
      }
    }
    if (kind === "date") return made({ ...base, by: take("by") ?? "month", first: String(take("first") ?? ""), last: String(take("last") ?? ""), rest });
    if (kind === "numeric") {
      const [edges, low, high, bins, count] = ["edges", "low", "high", "bins", "points"].map(take);
      if (count !== undefined) return made({ ...base, cut: "points", low: String(low), high: String(high), parts: String(count), rest });
      if (edges !== undefined) return made({ ...base, cut: "edges", edges: edges.join("\n"), rest });
      return made({ ...base, low: String(low), high: String(high), parts: String(bins ?? 20), rest });
    }
    return made({ ...base, kind: "other", json: JSON.stringify(given, null, 1) });
  }

  const schema = (list) => Object.fromEntries(list.map((one) => [one.name.trim(), domain(one)]));

  /* The wording of every question, as a study takes it. */
  function wording(list) {
    const entries = list.map((one) => {
      const values = lines(one.values), words = lines(one.words);
      const labels = one.kind !== "categorical" && one.kind !== "ordinal" ? {} : Object.fromEntries(words.map((word, i) => [values[i], word]).filter(([value, word]) => value !== undefined && value !== word));
      const entry = { ...(one.text.trim() ? { text: one.text.trim() } : {}), ...(one.help.trim() ? { help: one.help.trim() } : {}), ...(Object.keys(labels).length ? { labels } : {}) };
      return [one.name.trim(), entry];
    });
    return Object.fromEntries(entries.filter(([, entry]) => Object.keys(entry).length));
  }

  const title = (one) => one.text.trim() || one.name.trim() || say("unnamed");

  function summary(one) {
    if (one.kind === "numeric") return one.cut === "edges" ? say("sum_edges", { count: lines(one.edges ?? "").length - 1 }) : say(`sum_${one.cut}`, { low: one.low, high: one.high, count: one.parts });
    if (one.kind === "date") return ROUND.includes(one.by) ? say(`by_${one.by.replaceAll(" ", "_")}`) : say("sum_date", { first: one.first, last: one.last, by: say(`by_${one.by}`) });
    if (one.kind === "other") return say("kind_other");
    return say("sum_values", { count: number(lines(one.values).length) });
  }

  // ---- The editor ----------------------------------------------------------------------------------------------------

  /* The list of questions; `changed` is called whenever one is, `opened` holds those whose fields are shown. */
  function editor(list, opened, changed) {
    const place = element("div", { class: "questions" });

    function typed(one, key, attributes = {}) {
      const box = element(attributes.rows ? "textarea" : "input", { type: attributes.rows ? null : "text", autocomplete: "off", spellcheck: "false", ...attributes, oninput: () => { one[key] = box.value; refresh(one); changed(); } });
      box.value = one[key] ?? "";
      return box;
    }

    function fields(one) {
      const parts = [element("div", { class: "fields" },
        field(say("name"), typed(one, "name", { maxlength: 200 }), say("name_hint")),
        field(say("kind"), menu(KINDS.map((kind) => [kind, say(`kind_${kind}`)]), one.kind, (kind) => { one.kind = kind; if (kind === "other" && !one.json) one.json = '{"kind": "text", "max_length": 20}'; show(); changed(); })))];
      parts.push(field(say("text"), typed(one, "text")), field(say("help"), typed(one, "help")));
      if (one.kind === "categorical" || one.kind === "ordinal") {
        parts.push(element("div", { class: "fields" },
          field(say("values"), typed(one, "values", { rows: 5 }), say(one.kind === "ordinal" ? "values_hint_ordinal" : "values_hint")),
          field(say("words"), typed(one, "words", { rows: 5 }), say("words_hint"))));
      }
      if (one.kind === "numeric") {
        const cut = menu([["bins", say("cut_bins")], ["points", say("cut_points")], ["edges", say("cut_edges")]], one.cut, (value) => { one.cut = value; show(); changed(); });
        parts.push(field(say("cut"), cut, say(`cut_${one.cut}_hint`)));
        parts.push(one.cut === "edges" ? field(say("edges"), typed(one, "edges", { rows: 5 }), say("edges_hint")) : element("div", { class: "fields three" },
          field(say("low"), typed(one, "low", { inputmode: "decimal" })), field(say("high"), typed(one, "high", { inputmode: "decimal" })), field(say(`parts_${one.cut}`), typed(one, "parts", { inputmode: "numeric" }))));
      }
      if (one.kind === "date") {
        parts.push(element("div", { class: "fields three" },
          field(say("by"), menu(PERIODS.map((by) => [by, say(`by_${by.replaceAll(" ", "_")}`)]), one.by, (by) => { one.by = by; show(); changed(); })),
          ...(ROUND.includes(one.by) ? [] : [field(say("first"), typed(one, "first", { placeholder: "2026-01-01" })), field(say("last"), typed(one, "last", { placeholder: "2026-12-31" }))])));
      }
      if (one.kind === "other") parts.push(field(say("json"), typed(one, "json", { rows: 6, class: "code" }), say("json_hint")));
      else parts.push(check(say("nullable"), one.nullable, (value) => { one.nullable = value; changed(); }));
      return parts;
    }

    function refresh(one) {
      const card = place.children[list.indexOf(one)];
      const missing = problem(one, list.map((other) => other.name.trim()));
      card.querySelector(".title").replaceChildren(breakable(title(one)));
      for (const tool of card.querySelectorAll(".tools button")) tool.setAttribute("aria-label", `${tool.textContent}: ${title(one)}`);
      card.querySelector(".about").textContent = summary(one);
      card.querySelector(".problem").textContent = missing === null ? "" : say(missing);
    }

    function move(one, step) {
      const from = list.indexOf(one), to = from + step;
      if (to < 0 || to >= list.length) return;
      list.splice(from, 1);
      list.splice(to, 0, one);
      show();
      place.children[to].querySelector(step < 0 ? ".up" : ".down").focus();
      changed();
    }

    function remove(one) {
      const at = list.indexOf(one);
      list.splice(at, 1);
      opened.delete(one);
      show();
      (place.children[Math.min(at, list.length - 1)]?.querySelector("summary") ?? place.nextElementSibling?.querySelector("button"))?.focus();
      changed();
    }

    function card(one) {
      const tools = element("div", { class: "buttons tools" },
        button(say("up"), () => move(one, -1), { class: "small up" }), button(say("down"), () => move(one, 1), { class: "small down" }), button(say("remove"), () => remove(one), { class: "small" }));
      const made_ = element("details", { class: "question", open: opened.has(one), ontoggle: () => (made_.open ? opened.add(one) : opened.delete(one)) },
        element("summary", {}, element("b", { class: "title" }, breakable(title(one))), " ", element("span", { class: "about" }, summary(one))),
        element("p", { class: "problem", role: "alert" }), ...fields(one), tools);
      return made_;
    }

    function show() {
      const before = document.activeElement, label = before?.labels?.[0]?.textContent;
      const at = [...place.children].findIndex((one) => one.contains(before));
      place.replaceChildren(...list.map(card));
      list.forEach(refresh);
      if (at >= 0 && label) [...place.children[at].querySelectorAll("label")].find((one) => one.textContent === label)?.control?.focus();
    }

    function add() {
      const one = blank();
      list.push(one);
      opened.add(one);
      show();
      place.lastElementChild.querySelector("input").focus();
      changed();
    }

    show();
    return element("div", {}, place, element("div", { class: "buttons" }, button(say("add"), add, { id: "add" })));
  }

  const complete = (list) => list.length > 0 && list.every((one) => problem(one, list.map((other) => other.name.trim())) === null);

  return { example, editor, schema, wording, read, complete, title };
})();
