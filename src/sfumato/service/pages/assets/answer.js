/* The survey page: asks, changes the answers by chance on this device, shows what will be sent, sends that and nothing else. */

"use strict";

(() => {
  const study = decodeURIComponent(location.pathname.split("/")[2]);
  const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
  const languages = ["en", "de"];
  const FEW = 8; // so many choices stand in a list; more of them in a menu
  const AGAIN = 15000; // milliseconds until a message is sent again

  let words = {}, asked = null, about = null, who = null, form = 0, given = {};
  const main = document.getElementById("text");

  const say = (key, values = {}) => words[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "onclick" || key === "onchange") made[key] = value; else if (value !== false) made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  function show(...parts) {
    main.replaceChildren(languageMenu(), ...parts);
    const heading = main.querySelector("h1");
    if (heading) { heading.tabIndex = -1; heading.focus(); }
    window.scrollTo(0, 0);
  }

  function languageMenu() {
    const menu = element("select", { "aria-label": "Language", onchange: async () => { await speak(menu.value); await begin(); } },
      ...languages.map((code) => element("option", { value: code, selected: code === document.documentElement.lang }, { en: "English", de: "Deutsch" }[code])));
    return element("p", { class: "languages" }, menu);
  }

  async function speak(code) {
    words = await (await fetch(`/assets/words/${code}.json`)).json();
    document.documentElement.lang = code;
  }

  // ---- The questions -----------------------------------------------------------------------------------------------

  const groups = () => asked.forms[form].groups;
  const names = () => groups().flatMap((group) => group.names);
  const labelOf = (attribute, code) => {
    const label = attribute.labels ? attribute.labels[code] : null;
    if (attribute.kind === "number" && code < attribute.edges.length - 1) return say("range", { first: number(attribute.edges[code]), last: number(attribute.edges[code + 1]) });
    if (label !== null && label !== undefined) return attribute.words[label] ?? label;
    if (attribute.nullable && code === attribute.size - 1) return say("no_answer");
    return number(pointOf(attribute, code));
  };
  const pointOf = (attribute, code) => attribute.low + (code * (attribute.high - attribute.low)) / (attribute.points - 1);

  function consequences() {
    const row = (title, text) => element("tr", {}, element("th", { scope: "row" }, title), element("td", {}, text));
    const sent = [say("server_see"), ...(about.access === "invitation" ? [say("server_invited")] : [])].join(" ");
    const whole = about.gamma === null ? say("record_unbounded") : say("record", { gamma: number(Number(about.gamma.toPrecision(3))) });
    const epsilon = about.gamma === null ? "∞" : number(Number(Math.log(about.gamma).toPrecision(3)));
    return [
      element("h2", {}, say("label")),
      element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": say("label") }, element("table", {}, element("tbody", {},
        row(say("you"), say("you_see")), row(say("server"), sent), row(say("results"), say("results_see"))))),
      element("p", {}, whole),
      element("details", {}, element("summary", {}, say("epsilon")),
        element("p", {}, say("epsilon_text", { epsilon, fingerprint: asked.fingerprint }))),
    ];
  }

  const number = (value) => value.toLocaleString(document.documentElement.lang, { maximumSignificantDigits: 6 });

  /* One sentence of odds, true for this very channel, and its pictures. */
  function oddsOf(group) {
    const { plan } = group;
    const parts = plan.kind === "product" ? plan.channels : [plan];
    const plain = parts[0];
    const odds = Odds.own(plain);
    if (odds === null) return [element("p", { class: "odds" }, say("odds_unknown", { gamma: about.gamma === null ? "∞" : number(about.gamma) }))];
    if (odds.least > 1 - 1e-12) return [element("p", { class: "odds" }, say("odds_clear"))];
    const [least, most] = [Math.round(100 * odds.least), Math.round(100 * odds.most)];
    const own = least === most ? String(least) : say("between", { least, most });
    const key = (kind) => element("span", { class: kind }, element("i"), document.createTextNode(say(`key_${kind}`)));
    const code = odds.shares.indexOf(odds.most);
    const { points } = asked.attributes[group.names[0]];
    const sentence = !odds.values ? "odds_set" : points ? "odds_point" : "odds_value";
    return [
      element("p", { class: "odds" }, say(sentence, { own, points })),
      element("div", { class: "pictures" },
        Odds.dots(odds.least, say("picture", { own: least })),
        Odds.spinner(Odds.sectors(plain, code), say("spinner", { own: most })),
        element("div", { class: "key" }, key("own"), key("other"))),
    ];
  }

  function question(name, index) {
    const attribute = asked.attributes[name];
    const part = element("fieldset", { id: `q${index}` }, element("legend", {}, attribute.text || name),
      attribute.help ? element("p", { id: `h${index}` }, attribute.help) : null);
    if (attribute.kind !== "choice") part.append(...numberBox(attribute, index));
    else if (attribute.size <= FEW) part.append(...attribute.labels.map((_, code) => choice(attribute, code, index)));
    else part.append(menu(attribute, index));
    part.append(element("p", { class: "problem", id: `p${index}`, role: "alert" }));
    return part;
  }

  function choice(attribute, code, index) {
    const button = element("input", { type: "radio", name: `a${index}`, value: String(code), id: `a${index}-${code}` });
    return element("div", { class: "choice" }, button, element("label", { for: button.id }, labelOf(attribute, code)));
  }

  function menu(attribute, index) {
    return element("select", { id: `a${index}`, "aria-label": attribute.text },
      element("option", { value: "" }, say("choose")),
      ...attribute.labels.map((_, code) => element("option", { value: String(code) }, labelOf(attribute, code))));
  }

  function numberBox(attribute, index) {
    const limits = { low: attribute.low, high: attribute.high };
    const box = element("input", { type: "number", step: "any", inputmode: "decimal", id: `a${index}`, "aria-describedby": `n${index}` });
    const out = [element("p", {}, element("label", { for: box.id, id: `n${index}` }, say("between_numbers", limits) + (attribute.unit ? ` (${attribute.unit})` : "") + " "), box)];
    if (attribute.nullable) {
      const none = element("input", { type: "checkbox", id: `a${index}-none`, onchange: () => { box.disabled = none.checked; } });
      out.push(element("div", { class: "choice" }, none, element("label", { for: none.id }, say("no_answer"))));
    }
    return out;
  }

  /* What stands in the form for one question: a place, a number, null for no answer; undefined where nothing stands. */
  function read(name, index) {
    const attribute = asked.attributes[name];
    if (attribute.kind !== "choice") {
      if (document.getElementById(`a${index}-none`)?.checked) return null;
      const text = document.getElementById(`a${index}`).value.trim();
      return text === "" ? undefined : Number(text);
    }
    const chosen = attribute.size <= FEW ? document.querySelector(`input[name="a${index}"]:checked`)?.value : document.getElementById(`a${index}`).value;
    if (!chosen) return undefined;
    const code = Number(chosen);
    return attribute.nullable && code === attribute.size - 1 ? null : code;
  }

  function restore(name, index) {
    const attribute = asked.attributes[name], answer = given[name];
    if (answer === undefined) return;
    if (attribute.kind !== "choice") {
      if (answer === null) { const none = document.getElementById(`a${index}-none`); none.checked = true; none.onchange(); }
      else document.getElementById(`a${index}`).value = String(answer);
      return;
    }
    const code = answer === null ? attribute.size - 1 : answer;
    if (attribute.size <= FEW) document.getElementById(`a${index}-${code}`).checked = true;
    else document.getElementById(`a${index}`).value = String(code);
  }

  function ask() {
    let index = 0;
    const parts = groups().flatMap((group) => {
      const own = group.names.map((name) => question(name, index++));
      own[own.length - 1].append(...oddsOf(group));
      return own;
    });
    show(element("h1", {}, about.title || study), about.text ? element("p", {}, about.text) : null, ...consequences(), ...parts,
      element("p", { class: "about" }, say("blur_note")),
      element("p", { class: "problem", id: "together", role: "alert" }),
      element("div", { class: "buttons" }, element("button", { type: "button", id: "blur", onclick: look }, say("blur"))));
    names().forEach(restore);
  }

  /* Every question has an answer that fits, or says what is missing. */
  function complete() {
    let first = null;
    names().forEach((name, index) => {
      const attribute = asked.attributes[name], answer = read(name, index);
      let problem = "";
      if (answer === undefined) problem = say("missing");
      else if (typeof answer === "number" && attribute.kind !== "choice" && !attribute.clip && !(answer >= attribute.low && answer <= attribute.high)) {
        problem = say("outside", { low: attribute.low, high: attribute.high });
      }
      document.getElementById(`p${index}`).textContent = problem;
      if (problem && first === null) first = index;
      given[name] = answer;
    });
    if (first !== null) {
      document.getElementById(`q${first}`).scrollIntoView();
      document.querySelector(`#q${first} input, #q${first} select`).focus();
    }
    return first === null;
  }

  // ---- What will be sent -------------------------------------------------------------------------------------------

  async function look() {
    if (!complete()) return;
    let answers;
    try {
      answers = await Randomize.release(asked, form, given, who);
    } catch (problem) {
      if (!(problem instanceof RangeError)) throw problem;
      document.getElementById("together").textContent = say("impossible", { names: names().join(", ") });
      return;
    }
    const body = { id: crypto.randomUUID(), fingerprint: asked.fingerprint, ...(asked.forms.length > 1 ? { form } : {}), answers };
    confirm(body);
  }

  /* What the released codes of a group stand for, column by column: [title, text]. */
  function meaning(group, answers) {
    const released = group.columns.map((column) => answers[column]);
    const attributes = group.names.map((name) => asked.attributes[name]);
    if (group.plan.outputs.length === group.names.length && group.names.length > 1) {
      return group.names.map((name, i) => [attributes[i].text || name, labelOf(attributes[i], released[i])]);
    }
    const title = group.names.map((name, i) => attributes[i].text || name).join(" + ");
    const holders = Odds.members(group.plan, released[0]);
    if (holders === null) return [[title, say("code", { code: released[0] })]];
    return [[title, described(attributes, group.plan.sizes, holders)]];
  }

  function described(attributes, sizes, holders) {
    const text = (code) => {
      const parts = [];
      for (let i = sizes.length - 1; i >= 0; i--) { parts.unshift(labelOf(attributes[i], code % sizes[i])); code = Math.floor(code / sizes[i]); }
      return parts.join(" / ");
    };
    if (holders.length === 1) return text(holders[0]);
    const row = holders.every((code, i) => i === 0 || code === holders[i - 1] + 1);
    const { edges } = attributes[0];
    if (row && edges && sizes.length === 1 && holders[holders.length - 1] < edges.length - 1) {
      return say("range", { first: number(edges[holders[0]]), last: number(edges[holders[holders.length - 1] + 1]) });
    }
    if (row && holders.length > 2 && (attributes[0].ordered || attributes[0].kind !== "choice")) return say("range", { first: text(holders[0]), last: text(holders[holders.length - 1]) });
    return say("one_of", { labels: holders.map(text).join(", ") });
  }

  function sentTable(body) {
    const shown = asked.forms[body.form ?? 0].groups.flatMap((group) => meaning(group, body.answers));
    return [
      element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": say("sent") }, element("table", {},
        element("thead", {}, element("tr", {}, element("th", { scope: "col" }, say("question")), element("th", { scope: "col" }, say("sent")))),
        element("tbody", {}, ...shown.map(([title, text]) => element("tr", {}, element("th", { scope: "row" }, title), element("td", {}, text)))))),
      element("details", {}, element("summary", {}, say("exact")), element("p", { class: "message", id: "message" }, JSON.stringify(body, null, 1))),
    ];
  }

  function confirm(body) {
    show(element("h1", {}, say("will")), element("p", {}, say("will_text")), ...sentTable(body),
      element("div", { class: "buttons" },
        element("button", { type: "button", id: "send", onclick: () => { Device.keep(study, { state: "waiting", body, token }); given = {}; send(); } }, say("send")),
        element("button", { type: "button", id: "back", onclick: ask }, say("back"))));
  }

  // ---- Sending -----------------------------------------------------------------------------------------------------

  let timer = null, busy = false;

  /* Sends what is kept, as it is, until the server has it. Nothing is ever drawn again for it. */
  async function send() {
    const kept = Device.kept(study);
    if (busy || kept === null || kept.state !== "waiting") return;
    busy = true;
    clearTimeout(timer);
    show(element("h1", {}, say("sending")), ...sentTable(kept.body));
    try {
      const headers = { "content-type": "application/json", ...(kept.token ? { authorization: `Bearer ${kept.token}` } : {}) };
      const answer = await fetch(`/v1/studies/${encodeURIComponent(study)}/responses`, { method: "POST", headers, body: JSON.stringify(kept.body) });
      if (answer.status === 429 || answer.status >= 500) throw new TypeError("later");
      const found = await answer.json();
      if (!answer.ok) { Device.forget(study); busy = false; return stop(say("refused", { message: found.error.message })); }
      Device.keep(study, { state: "received", body: kept.body, receipt: found.receipt });
      busy = false;
      await received();
    } catch (problem) {
      busy = false;
      if (!(problem instanceof TypeError)) throw problem;
      show(element("h1", {}, say("will")), element("p", { class: "callout", id: "waiting" }, say("waiting")), ...sentTable(kept.body));
      timer = setTimeout(send, AGAIN);
    }
  }

  /* The receipt, computed again from what was sent: see docs/http-api.md. */
  async function received() {
    const { body, receipt } = Device.kept(study);
    const columns = asked.forms[body.form ?? 0].groups.flatMap((group) => group.columns);
    const line = `sfumato response 1|${study}|${body.id}|${body.fingerprint}|${body.form ?? 0}|${columns.map((column) => body.answers[column]).join(",")}`;
    const own = Randomize.hex(await Randomize.sha256(new TextEncoder().encode(line)));
    show(element("h1", {}, say("done")), ...sentTable(body), element("h2", {}, say("receipt")),
      element("p", { class: `callout ${own === receipt ? "calm" : "alarm"}`, id: "receipt" }, say(own === receipt ? "receipt_text" : "receipt_wrong")),
      element("p", { class: "message" }, receipt));
  }

  // ---- Where to begin ----------------------------------------------------------------------------------------------

  function stop(text) { show(element("h1", {}, (about && about.title) || study), element("p", { class: "callout" }, text)); }

  async function begin() {
    if (!window.isSecureContext) return stop(say("insecure"));
    const kept = Device.kept(study);
    if (asked === null) {
      const [first, second] = await Promise.all(["", "/questionnaire"].map((end) => fetch(`/v1/studies/${encodeURIComponent(study)}${end}`).catch(() => null)));
      if (first === null || second === null) return stop(say("unreachable"));
      if (first.status === 404) return stop(say("unknown"));
      about = await first.json();
      const document_ = await second.json();
      if (!second.ok) return stop(document_.error.message);
      asked = document_;
      document.title = about.title || study;
    }
    if (kept !== null && kept.state === "received") return received();
    if (kept !== null) return send();
    if (about.state !== "open") return stop(say("closed"));
    if (about.access === "invitation" && !token) return stop(say("tokenless"));
    const key = await Device.keyOf(study);
    who = { key, person: await Randomize.person(key, "respondent") };
    form = await Randomize.formOf(asked, who);
    return ask();
  }

  window.addEventListener("online", send);
  const wanted = new URLSearchParams(location.search).get("lang") ?? navigator.language.slice(0, 2);
  speak(languages.includes(wanted) ? wanted : "en").then(begin);
})();
