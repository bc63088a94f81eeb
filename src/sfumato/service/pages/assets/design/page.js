/* The design page: questions and a wish go to the server, what they would give comes back while one moves the slider.
   The design is kept on this device: questions and wish, never an answer or a token. */

"use strict";

(() => {
  const { element, jump } = Elements;
  const { say, field, menu, button, number, whole, points } = Page;
  const PLACE = "sfumato design";
  const PAUSE = 250; // milliseconds without a change until the server is asked
  const main = document.getElementById("text");

  /* The ends of the sliders: the more private one first. */
  const RANGES = { half_width: [0.2, 0.003], gamma: [1.1, 100], record_gamma: [1.5, 1000] };
  const fresh = () => ({ questions: Questions.example(), wish: "half_width", half_width: 0.05, gamma: 3, record_gamma: 9, n: 2000, groups: 1, by: null, closer: null, scheme: null });
  let state = null, opened = new Set(), parts = {}, found = null;

  // ---- Kept on this device ---------------------------------------------------------------------------------------------

  function restore() {
    try {
      const kept = JSON.parse(localStorage.getItem(PLACE));
      return kept && Array.isArray(kept.questions) && kept.wish in { ...RANGES, scheme: 1 } ? { ...fresh(), ...kept } : fresh();
    } catch { return fresh(); }
  }

  function keep() { try { localStorage.setItem(PLACE, JSON.stringify(state)); } catch { /* a device that keeps nothing */ } }

  // ---- Asking the server -----------------------------------------------------------------------------------------------

  let timer = null, running = false, again = false; // `timer` is null when nothing waits
  let since = null, clock = null; // when what is shown began to be another's

  /* The design once everything that was changed is worked out; null where there is none. */
  async function current() {
    while (running || again || timer !== null) await new Promise((resolve) => { setTimeout(resolve, 50); });
    return found === null ? null : { scheme: found.scheme, questions: Questions.wording(state.questions) };
  }

  /* From a change on until its answer is there, what stands on the page belongs to another wish: it is dimmed, and cannot be saved. */
  function stale() {
    if (since !== null) return;
    since = Date.now();
    for (const part of [parts.result, parts.code]) part.setAttribute("aria-busy", "true");
    savable(false);
    clock = setInterval(() => {
      const seconds = Math.floor((Date.now() - since) / 1000);
      if (parts.working.hidden) { parts.working.hidden = false; parts.said.textContent = say("working"); }
      parts.clock.textContent = seconds < 3 ? "" : say("working_for", { seconds });
    }, 500);
  }

  const savable = (now) => { for (const one of parts.code.querySelectorAll("button")) one.disabled = !now; };

  function settled() {
    clearInterval(clock);
    since = null;
    savable(true);
    for (const part of [parts.result, parts.code]) part.removeAttribute("aria-busy");
    for (const one of [parts.said, parts.clock]) one.textContent = "";
    parts.working.hidden = true;
  }

  function changed() {
    if (state.wish === "scheme" && state.scheme === null) state.wish = "half_width";
    keep();
    stale();
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  }

  function edited() { // a scheme from a file no longer fits once the questions change
    if (state.scheme !== null && JSON.stringify(Questions.complete(state.questions) ? Questions.schema(state.questions) : null) !== state.asLoaded) { state.scheme = null; wishes(); }
    changed();
  }

  function request() {
    const schema = Questions.schema(state.questions), names = Object.keys(schema);
    if (!names.includes(state.closer)) state.closer = names[0];
    if (!names.includes(state.by)) state.by = null;
    const common = { n: state.n, groups: state.groups, attribute: state.closer, ...(state.by === null ? {} : { by: state.by }) };
    return state.wish === "scheme" ? { scheme: state.scheme, ...common } : { schema, wish: { [state.wish]: state[state.wish] }, ...common };
  }

  async function ask() {
    timer = null;
    if (running) { again = true; return; }
    if (!Questions.complete(state.questions)) { found = null; stop(say("incomplete")); settled(); return; }
    if (!wishHolds()) { found = null; stop(say("needs_wish")); settled(); return; }
    running = true;
    stale();
    let wait = 0;
    try {
      found = await Page.ask("POST", "/v1/design", request());
      show();
    } catch (problem) {
      const answered = problem instanceof Page.Refusal;
      if (answered && [429, 503].includes(problem.status)) wait = 1000 * problem.wait;
      else {
        found = null;
        stop(answered ? refused(problem) : say("unreachable"));
        if (!answered && navigator.onLine) console.error(problem);
      }
    }
    running = false;
    if (!again && !wait && timer === null) settled();
    if (again || wait) { again = false; clearTimeout(timer); timer = setTimeout(ask, wait); }
  }

  function refused(problem) {
    const { nearest, records, attribute } = problem.details;
    if (nearest === undefined) return say("refused", { message: problem.message });
    return say("unreachable_width", { title: titleOf(attribute), width: points(state.half_width), nearest: points(Explain.roundedUp(nearest, nearest < 0.1 ? 2 : 3)), n: whole(Math.floor(state.n / state.groups)), records: whole(records) });
  }

  const wishHolds = () => Number.isInteger(state.n) && state.n >= 2 && Number.isInteger(state.groups) && state.groups >= 1 && state.groups <= state.n && (state.wish === "scheme" || (state.wish === "half_width" ? state.half_width > 0 && state.half_width < 1 : state[state.wish] > 1 && state[state.wish] <= 1e6));
  const titleOf = (name) => { const one = state.questions.find((other) => other.name.trim() === name); return one ? Questions.title(one) : name; };

  const pointsOf = (name) => { const one = state.questions.find((other) => other.name.trim() === name); return one && one.kind === "numeric" && one.cut === "points" ? Number(one.parts) : null; };

  // ---- What comes back -------------------------------------------------------------------------------------------------

  function stop(text) {
    parts.verdict.replaceChildren(element("p", {}, text));
    parts.overview.replaceChildren();
    parts.closely.replaceChildren();
    parts.code.replaceChildren();
  }

  function show() {
    parts.verdict.replaceChildren(...Results.verdict(found).map((text) => element("p", {}, text)));
    const unfolded = [...parts.result.querySelectorAll("figure details")].map((one) => one.open);
    const by = menu([["", say("by_none")], ...found.attributes.map(({ name }) => [name, titleOf(name)])], state.by ?? "", (name) => { state.by = name || null; changed(); });
    by.id = "by";
    const compared = document.activeElement?.id === "by";
    parts.overview.replaceChildren(...Results.overview(found, titleOf, state.by), ...(found.forms || found.attributes.length < 2 ? [] : [field(say("compare"), by, say("compare_hint"))]), ...Results.ways(found));
    if (compared) by.focus();
    const chosen = menu(found.attributes.map(({ name }) => [name, titleOf(name)]), state.closer, (name) => { state.closer = name; changed(); });
    chosen.id = "closer";
    const focused = document.activeElement?.id === "closer";
    parts.closely.replaceChildren(field(say("look_at"), chosen), ...Results.closely(found, titleOf, pointsOf));
    if (focused) chosen.focus();
    [...parts.result.querySelectorAll("figure details")].forEach((one, i) => { one.open = unfolded[i] ?? false; });
    parts.code.replaceChildren(...code());
    savable(false); // until it is the answer to the last change
  }

  const text = (document_) => JSON.stringify(document_, null, 1);

  function code() {
    const schema = Questions.schema(state.questions);
    return [
      element("div", { class: "buttons" },
        button(say("save_scheme"), () => Page.save("scheme.json", text(found.scheme)), { id: "save-scheme" }),
        button(say("save_schema"), () => Page.save("schema.json", text({ format: "sfumato schema", version: 1, attributes: schema })), { id: "save-schema" }),
        button(say("save_questions"), () => Page.save("questions.json", text(Questions.wording(state.questions))), { id: "save-questions" })),
      element("p", {}, say("code_text")),
      Page.copied(say("in_python"), found.python, "python"),
      Page.copied(say("on_command_line"), found.command, "command"),
      element("p", { class: "about" }, say("fingerprint", { fingerprint: found.fingerprint })),
    ];
  }

  // ---- The wish --------------------------------------------------------------------------------------------------------

  const at = (wish) => { const [first, last] = RANGES[wish]; return Math.round((1000 * Math.log(state[wish] / first)) / Math.log(last / first)); };
  const from = (wish, place) => { const [first, last] = RANGES[wish]; return Number((first * (last / first) ** (place / 1000)).toPrecision(2)); };
  const written = (wish) => (wish === "half_width" ? String(Number((100 * state.half_width).toPrecision(6))) : String(state[wish]));
  const spoken = (wish) => (wish === "half_width" ? say("spoken_half_width", { width: number(100 * state.half_width) }) : say(`spoken_${wish}`, { gamma: number(state[wish]) }));

  function wishes() {
    const kinds = ["half_width", "gamma", "record_gamma", ...(state.scheme === null ? [] : ["scheme"])];
    const radios = kinds.map((wish) => {
      const box = element("input", { type: "radio", name: "wish", id: `wish-${wish}`, value: wish, checked: state.wish === wish, "aria-describedby": `wish-${wish}-text`, onchange: () => { state.wish = wish; wishes(); document.getElementById(`wish-${wish}`).focus(); changed(); } });
      return element("div", { class: "choice" }, box, element("div", {}, element("label", { for: box.id }, say(`wish_${wish}`)), element("div", { class: "about", id: `wish-${wish}-text` }, say(`wish_${wish}_text`))));
    });
    const whole_ = (key, least) => {
      const box = element("input", { type: "number", min: least, step: 1, inputmode: "numeric", id: key, oninput: () => { state[key] = Number(box.value); changed(); } });
      box.value = String(state[key]);
      return box;
    };
    parts.wish.replaceChildren(
      element("fieldset", {}, element("legend", {}, say("wish")), ...radios),
      ...(state.wish === "scheme" ? [] : slider(state.wish)),
      element("div", { class: "fields" }, field(say("n"), whole_("n", 2)), field(say("groups"), whole_("groups", 1), say("groups_hint"))));
  }

  function slider(wish) {
    const range = element("input", { type: "range", min: 0, max: 1000, step: 5, id: "slider", "aria-label": say(`slider_${wish}`), oninput: () => { state[wish] = from(wish, Number(range.value)); exact.value = written(wish); range.setAttribute("aria-valuetext", spoken(wish)); changed(); } });
    range.value = String(at(wish));
    range.setAttribute("aria-valuetext", spoken(wish));
    const exact = element("input", { type: "text", inputmode: "decimal", id: "exact", autocomplete: "off", oninput: () => { state[wish] = (wish === "half_width" ? 0.01 : 1) * Number(exact.value.replace(",", ".")); if (wish === "half_width") state[wish] = Number(state[wish].toPrecision(12)); range.value = String(at(wish)); range.setAttribute("aria-valuetext", spoken(wish)); changed(); } });
    exact.value = written(wish);
    return [element("div", { class: "slider" },
      element("span", { "aria-hidden": "true" }, say("more_private")), range, element("span", { "aria-hidden": "true" }, say("more_exact"))),
    field(say(`exact_${wish}`), exact, say(`exact_${wish}_hint`))];
  }

  // ---- Files -----------------------------------------------------------------------------------------------------------

  function load(content) {
    let document_;
    try { document_ = JSON.parse(content); } catch { return say("not_json"); }
    const scheme = ["sfumato scheme", "sfumato forms"].includes(document_?.format);
    const attributes = scheme ? document_.schema : document_?.format === "sfumato schema" ? document_.attributes : document_;
    if (attributes === null || typeof attributes !== "object" || Array.isArray(attributes) || Object.keys(attributes).length === 0 || !Object.values(attributes).every((one) => one !== null && typeof one === "object" && typeof one.kind === "string")) return say("not_schema");
    state.questions = Object.entries(attributes).map(([name, domain]) => Questions.read(name, domain));
    state.scheme = scheme ? document_ : null;
    state.asLoaded = JSON.stringify(Questions.schema(state.questions));
    state.wish = scheme ? "scheme" : state.wish === "scheme" ? "half_width" : state.wish;
    state.closer = null;
    replaced();
    return say(scheme ? "loaded_scheme" : "loaded_schema", { count: state.questions.length });
  }

  function loading() {
    const said = element("p", { role: "status", class: "about", id: "loaded" });
    const tell = (words) => { said.textContent = words; };
    const file = element("input", { type: "file", accept: ".json,application/json", onchange: async () => { if (file.files.length) tell(load(await file.files[0].text())); } });
    const pasted = element("textarea", { rows: 4, class: "code", spellcheck: "false" });
    return element("details", { id: "load" }, element("summary", {}, say("load")), element("p", {}, say("load_text")),
      field(say("file"), file), field(say("paste"), pasted), element("div", { class: "buttons" }, button(say("take"), () => tell(load(pasted.value)), { id: "take" })), said);
  }

  // ---- The whole page --------------------------------------------------------------------------------------------------

  function build() {
    const place = (name, attributes = {}) => (parts[name] = element("div", attributes));
    const language = menu(Object.entries(Survey.languages), document.documentElement.lang, async (code_) => { await Page.speak(code_); build(); changed(); });
    language.setAttribute("aria-label", "Language");
    document.title = `${say("heading")} · Sfumato`;
    clearInterval(clock);
    since = null;
    Object.assign(document.querySelector(".skip"), { textContent: say("skip"), onclick: jump });
    const headings = ["questions", "wish_heading", "results_heading", "closer_heading", "take_heading", "study_heading"];
    const head = (key) => element("h2", { id: `to-${key.replace("_heading", "")}` }, say(key));
    main.replaceChildren(
      element("p", { class: "languages" }, language),
      element("h1", {}, say("heading")), element("p", {}, say("heading_text")),
      element("nav", { class: "contents", "aria-label": say("contents") }, element("ol", {}, ...headings.map((key) => element("li", {}, element("a", { href: `#to-${key.replace("_heading", "")}`, onclick: jump }, say(key)))))),
      head("questions"), place("questions"), loading(),
      element("p", { class: "about" }, say("kept"), " ", button(say("anew"), () => { if (window.confirm(say("anew_sure"))) { state = fresh(); replaced(); } }, { class: "small", id: "anew" })),
      head("wish_heading"), place("wish"),
      head("results_heading"),
      place("working", { class: "working", hidden: true, id: "working" }),
      place("result", { class: "result" }),
      head("take_heading"), place("code", { id: "code" }),
      head("study_heading"), ...Studies.section(current));
    parts.working.append(place("said", { role: "status" }), place("clock"));
    parts.result.append(place("verdict", { class: "verdict", role: "status", id: "verdict" }), place("overview", { id: "overview" }), head("closer_heading"), place("closely"));
    questions();
    wishes();
  }

  const questions = () => parts.questions.replaceChildren(Questions.editor(state.questions, opened, edited));

  /* Other questions stand there now. */
  function replaced() {
    opened = new Set();
    questions();
    wishes();
    changed();
  }

  async function begin() {
    const wanted = new URLSearchParams(location.search).get("lang") ?? navigator.language.slice(0, 2);
    await Page.speak(wanted in Survey.languages ? wanted : "en");
    state = restore();
    build();
    ask();
  }

  begin();
})();
