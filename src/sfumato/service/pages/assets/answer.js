/* The survey page: asks, changes the answers by chance on this device, shows what will be sent, sends that and nothing else. */

"use strict";

(() => {
  const { element, scrolling, sentence } = Elements;
  const { say, speak } = Survey;
  const study = decodeURIComponent(location.pathname.split("/")[2]);
  const address = `/v1/studies/${encodeURIComponent(study)}`;
  const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
  const AGAIN = 15000; // milliseconds until a message is sent again
  const PATIENCE = 30000; // milliseconds until a request counts as lost
  const ROOM = 512, LARGEST = 1 << 16; // bytes of a message: filled up with blanks to a multiple; more than the largest is not taken
  const WIDEST = 24; // letters of the longest number

  let asked = null, about = null, who = null, form = 0, given = Object.create(null), asking = false;

  const show = (...parts) => Survey.show({ before: remember, after: begin }, ...parts);
  const groups = () => asked.forms[form].groups;
  const names = () => groups().flatMap((group) => group.names);
  const button = (id, key, onclick) => element("button", { type: "button", id, onclick }, say(key));

  // ---- The questions -----------------------------------------------------------------------------------------------

  function ask() {
    let index = 0;
    const parts = groups().flatMap((group) => {
      const attributes = group.names.map((name) => asked.attributes[name]);
      const below = Explain.below(group, attributes);
      return group.names.map((name, i) => { const part = Questions.question(attributes[i], name, index++); part.append(...below[i]); return part; });
    });
    show(element("h1", {}, about.title || study), about.text ? element("p", {}, about.text) : null, ...Explain.label(about, asked, groups()),
      // a form that is never submitted: without one, browsers write what stands in fields to files of their own
      element("form", { autocomplete: "off", onsubmit: (event) => event.preventDefault() }, ...parts),
      element("p", { class: "about" }, say("blur_note")),
      element("p", { class: "problem", id: "together", role: "alert" }),
      element("div", { class: "buttons" }, button("blur", "blur", look)));
    names().forEach((name, i) => Questions.restore(asked.attributes[name], i, given[name]));
    asking = true;
  }

  /* Keep what stands in the form while the page is drawn anew. */
  function remember() {
    if (asking) names().forEach((name, i) => { given[name] = Questions.read(asked.attributes[name], i); });
    asking = false;
  }

  /* Every question has an answer that fits, or says what is missing. */
  function complete() {
    let first = null;
    names().forEach((name, index) => {
      given[name] = Questions.read(asked.attributes[name], index);
      const problem = Questions.problem(asked.attributes[name], given[name]);
      document.getElementById(`p${index}`).textContent = problem;
      if (problem && first === null) first = index;
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
    asking = false;
    confirm({ id: crypto.randomUUID(), fingerprint: asked.fingerprint, ...(asked.forms.length > 1 ? { form } : {}), answers });
  }

  function sentTable(body, title) {
    const shown = asked.forms[body.form ?? 0].groups.flatMap((group) => Meaning.of(group, asked, body.answers));
    return [
      scrolling(title, element("table", {},
        element("thead", {}, element("tr", {}, element("th", { scope: "col" }, say("question")), element("th", { scope: "col" }, title))),
        element("tbody", {}, ...shown.map(([name, text]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, text)))))),
      element("details", {}, element("summary", {}, say("exact")), element("p", { class: "message", id: "message" }, JSON.stringify(body, null, 1))),
    ];
  }

  function confirm(body) {
    show(element("h1", {}, say("will")), element("p", {}, say("will_text")), ...sentTable(body, say("will")),
      element("div", { class: "buttons" },
        button("send", "send", () => {
          if (Device.kept(study) === null) Device.keep(study, { state: "waiting", body, token }); // another window may have been faster
          given = Object.create(null);
          begin();
        }),
        button("back", "back", ask)));
  }

  // ---- Sending -----------------------------------------------------------------------------------------------------

  let timer = null, busy = false;

  /* A message as it is sent. With the longest codes it would have the same length, so that its length tells nothing of them. */
  function filled(body) {
    const text = JSON.stringify(body), codes = Object.values(body.answers);
    const bytes = new TextEncoder().encode(text).length;
    const most = bytes + codes.reduce((sum, code) => sum + WIDEST - JSON.stringify(code).length, 0);
    return text + " ".repeat(Math.max(Math.min(Math.ceil(most / ROOM) * ROOM, LARGEST) - bytes, 0));
  }

  /* [status, document] of an answer; null where none came that this page understands. */
  async function request(method, path, body = null, secret = "") {
    const headers = { ...(body ? { "content-type": "application/json" } : {}), ...(secret ? { authorization: `Bearer ${secret}` } : {}) };
    try {
      const answer = await fetch(address + path, { method, headers, body: body && filled(body), signal: AbortSignal.timeout(PATIENCE) });
      return [answer.status, await answer.json()];
    } catch {
      return null;
    }
  }

  /* Sends what is kept, as it is, until the server has it. Nothing is ever drawn again for it. */
  async function send() {
    const kept = Device.kept(study);
    if (busy || asked === null || kept === null || kept.state !== "waiting") return;
    busy = true;
    clearTimeout(timer);
    show(element("h1", {}, say("sending")), ...sentTable(kept.body, say("sent")));
    const found = await request("POST", "/responses", kept.body, kept.token);
    busy = false;
    if (found === null || [408, 429].includes(found[0]) || found[0] >= 500) {
      show(element("h1", {}, say("will")), element("p", { class: "callout", id: "waiting" }, say("waiting")), ...sentTable(kept.body, say("will")));
      timer = setTimeout(send, AGAIN);
    } else if (found[0] >= 400) {
      Device.forget(study);
      stop(say("refused", { message: found[1].error.message }));
    } else {
      Device.keep(study, { state: "received", body: kept.body, receipt: found[1].receipt });
      Device.endRound(study);
      await received();
    }
  }

  // ---- The receipt ---------------------------------------------------------------------------------------------------

  /* The line whose SHA-256 is the receipt: see docs/http-api.md. */
  function receiptLine(body) {
    const spelled = (column, plan) => (plan.kind === "noise" ? double(body.answers[column]) : body.answers[column]);
    const codes = asked.forms[body.form ?? 0].groups.flatMap(({ columns, plan }) => columns.map((column) => spelled(column, plan)));
    return `sfumato response 1|${study}|${body.id}|${body.fingerprint}|${body.form ?? 0}|${codes.join(",")}`;
  }

  function double(value) {
    const bytes = new DataView(new ArrayBuffer(8));
    bytes.setFloat64(0, value, true);
    return Randomize.hex(new Uint8Array(bytes.buffer));
  }

  async function received() {
    const { body, receipt } = Device.kept(study);
    const line = receiptLine(body);
    const own = Randomize.hex(await Randomize.sha256(new TextEncoder().encode(line)));
    const answer = element("p", { class: "callout", id: "checked", role: "status", hidden: true });
    const tell = (key) => { answer.hidden = false; answer.textContent = say(key); };
    show(element("h1", {}, say("done")), ...sentTable(body, say("was_sent")), element("h2", {}, say("receipt")),
      element("p", { class: `callout ${own === receipt ? "calm" : "alarm"}`, id: "receipt" }, say(own === receipt ? "receipt_text" : "receipt_wrong")),
      element("p", { class: "message" }, receipt),
      element("details", {}, element("summary", {}, say("recompute")), element("p", {}, say("recompute_text")),
        element("p", { class: "message", id: "line" }, `printf %s '${line}' | sha256sum`)),
      element("p", {}, say("afterwards")),
      element("div", { class: "buttons" },
        button("check", "check", async () => {
          const found = await request("GET", `/responses/${body.id}`);
          if (found === null || found[0] >= 500 || found[0] === 429) return tell("unreachable");
          return tell(found[0] === 200 && found[1].receipt === own ? "still_there" : found[0] === 410 ? "gone" : "receipt_wrong");
        }),
        button("withdraw", "withdraw", async () => {
          const found = await request("DELETE", `/responses/${body.id}`);
          if (found === null || (found[0] !== 200 && found[0] !== 404)) return tell("unreachable");
          Device.keep(study, { state: "withdrawn" });
          return stop(say("withdrawn"));
        })), answer);
  }

  // ---- Where to begin ----------------------------------------------------------------------------------------------

  function stop(text) { asking = false; show(element("h1", {}, about?.title || study), element("p", { class: "callout" }, text)); }

  async function begin() {
    if (!window.isSecureContext) return stop(say("insecure"));
    if (asked === null) {
      const [first, second] = await Promise.all(["", "/questionnaire"].map((end) => request("GET", end)));
      if (first === null || second === null || first[0] >= 500 || first[0] === 429) return stop(say("unreachable"));
      if (first[0] === 404) return stop(say("unknown"));
      [, about] = first;
      if (second[0] !== 200) return stop(sentence(second[1].error.message));
      [, asked] = second;
      document.title = about.title || study;
    }
    const kept = Device.kept(study);
    if (kept?.state === "received") return received();
    if (kept?.state === "withdrawn") return stop(say("withdrawn"));
    if (kept !== null) return send();
    if (about.state !== "open") return stop(say("closed"));
    if (about.access === "invitation" && !token) return stop(say("tokenless"));
    who ??= await Device.respondent(study, asked);
    form = await Randomize.formOf(asked, who);
    return ask();
  }

  window.addEventListener("online", send);
  speak(new URLSearchParams(location.search).get("lang") ?? navigator.language.slice(0, 2)).then(begin);
})();
