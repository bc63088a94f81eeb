/* From a design to a study: made, opened and closed with the token of an admin; tokens for others are made here and shown once. */

"use strict";

const Studies = (() => {
  const { element, sentence } = Elements;
  const { say, field, menu, button, table, copied, whole } = Page;
  let token = new URLSearchParams(location.hash.slice(1)).get("token") ?? ""; // kept in this page only

  const ask = (method, path, body = null) => Page.ask(method, path, body, token);
  const link = (address, text = address) => element("a", { href: address }, text);
  const identifier = (title) => title.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 40);

  /* What a press of a button leads to is said in its place, also what the server refuses. */
  function doing(place, work) {
    return async (event) => {
      const pressed = event.currentTarget;
      pressed.disabled = true;
      try { place.replaceChildren(...[await work()].flat().filter(Boolean)); } catch (problem) {
        if (!(problem instanceof Page.Refusal) && !(problem instanceof TypeError)) throw problem;
        place.replaceChildren(element("p", { class: "problem", role: "alert" }, problem instanceof Page.Refusal ? refusal(problem) : say("unreachable")));
      } finally { pressed.disabled = false; }
    };
  }

  const refusal = (problem) => (problem.status === 401 || problem.status === 403 ? say("token_refused") : sentence(problem.message));

  /* `design()` gives the scheme and the wording once they are worked out, or null where they are not complete. */
  function section(design) {
    const boxes = {
      token: element("input", { type: "password", autocomplete: "off", oninput: () => { token = boxes.token.value.trim(); } }),
      title: element("input", { type: "text", maxlength: 500, oninput: () => { if (!boxes.id.touched) boxes.id.value = identifier(boxes.title.value); } }),
      id: element("input", { type: "text", maxlength: 64, autocomplete: "off", spellcheck: "false", oninput: () => { boxes.id.touched = true; } }),
      text: element("textarea", { rows: 3 }),
      minimum: element("input", { type: "number", min: 2, step: 1, inputmode: "numeric" }),
      ends: element("input", { type: "datetime-local" }),
      access: menu([["open", say("access_open")], ["invitation", say("access_invitation")]], "open", () => {}),
    };
    boxes.token.value = token;
    boxes.minimum.value = "100";
    const made = element("div", { role: "status", id: "made" }), list = element("div", { id: "studies" });

    async function create(open) {
      const found = await design();
      if (found === null) return element("p", { class: "problem", role: "alert" }, say("incomplete"));
      const minimum = Number(boxes.minimum.value), id = boxes.id.value.trim();
      if (!/^[a-z0-9][a-z0-9-]{1,62}[a-z0-9]$/.test(id)) return element("p", { class: "problem", role: "alert" }, say("needs_id"));
      if (!(Number.isInteger(minimum) && minimum >= 2)) return element("p", { class: "problem", role: "alert" }, say("needs_minimum"));
      const ends = boxes.ends.value === "" ? null : new Date(boxes.ends.value).toISOString().replace(/\.\d+Z$/, "Z");
      const fields = { id, title: boxes.title.value.trim() || id, text: boxes.text.value.trim(), scheme: found.scheme, questions: found.questions, access: boxes.access.value, minimum, ends };
      if (!await written(fields)) return about(await ask("GET", `/v1/studies/${id}`));
      const study = open ? await ask("POST", `/v1/studies/${id}/open`) : await ask("GET", `/v1/studies/${id}`);
      refresh();
      return about(study);
    }

    /* A new draft, or, if one of this name is there, that draft with these fields. */
    async function written(fields) {
      try {
        await ask("POST", "/v1/studies", fields);
      } catch (problem) {
        if (problem.code !== "conflict") throw problem;
        const { id, ...others } = fields;
        if ((await ask("GET", `/v1/studies/${id}`)).state !== "draft") throw problem;
        if (!window.confirm(say("replace_sure", { id }))) return false;
        await ask("PATCH", `/v1/studies/${id}`, others);
      }
      return true;
    }

    const refresh = () => shown().then((parts) => list.replaceChildren(...parts)).catch(() => {});

    /* One study, and what can be done with it. */
    function about(study) {
      const place = element("div", { role: "status" });
      const move = (verb, question) => doing(made, async () => {
        if (question && !window.confirm(question)) return about(study);
        const moved = verb === "delete" ? await ask("DELETE", `/v1/studies/${study.id}`) : await ask("POST", `/v1/studies/${study.id}/${verb}`);
        refresh();
        return verb === "delete" ? element("p", {}, say("deleted_study", { id: study.id })) : about(moved);
      });
      const address = `${location.origin}/answer/${study.id}`;
      return [
        element("h3", {}, study.title || study.id),
        element("p", {}, say(`state_${study.state}`), " ", study.state === "open" ? link(`/answer/${study.id}`, address) : ""),
        element("div", { class: "buttons" },
          study.state === "draft" ? button(say("open_study"), move("open", say("open_sure")), { id: "open" }) : null,
          study.state === "draft" ? button(say("delete_study"), move("delete"), { id: "delete" }) : null,
          study.state === "open" ? button(say("close_study"), move("close", say("close_sure")), { id: "close" }) : null),
        ...tokens(study, place), place,
      ];
    }

    /* Tokens for a study: new ones are shown this once. */
    function tokens(study, place) {
      const role = menu([["miner", say("role_miner")], ["site", say("role_site")], ...(study.access === "invitation" ? [["invitation", say("role_invitation")]] : [])], study.access === "invitation" ? "invitation" : "miner", () => {});
      const name = element("input", { type: "text", maxlength: 200 });
      const count = element("input", { type: "number", min: 1, max: 10000, value: "1", inputmode: "numeric" });
      const expires = element("input", { type: "datetime-local" });
      const make = doing(place, async () => {
        const until = expires.value === "" ? null : new Date(expires.value).toISOString().replace(/\.\d+Z$/, "Z");
        const found = await ask("POST", "/v1/tokens", { role: role.value, study: study.id, name: name.value.trim(), count: Number(count.value) || 1, expires: until });
        const lines = found.tokens.map((one) => ({ invitation: `${location.origin}/answer/${study.id}#token=${one.token}`, miner: `${location.origin}/results/${study.id}#token=${one.token}`, site: `SFUMATO_TOKEN=${one.token} sfumato push released.parquet --to ${location.origin} --study ${study.id}` })[role.value]);
        return [element("p", { class: "callout" }, say("once")), copied(say(`made_${role.value}`), lines.join("\n"), "tokens")];
      });
      return [
        element("h4", {}, say("tokens")),
        element("div", { class: "fields" }, field(say("role"), role), field(say("count"), count), field(say("whose"), name), field(say("expires"), expires)),
        element("div", { class: "buttons" }, button(say("make_tokens"), make, { id: "make-tokens" }), button(say("list_tokens"), doing(place, () => listed(study, place)), { id: "list-tokens" })),
      ];
    }

    async function listed(study, place) {
      const found = (await ask("GET", `/v1/tokens?study=${study.id}`)).tokens;
      if (found.length === 0) return element("p", {}, say("no_tokens"));
      const rows = found.map((one) => [say(`role_${one.role}`), one.name, one.revoked ? say("revoked") : one.used ? say("used") : one.expires ? say("until", { time: one.expires.slice(0, 16).replace("T", " ") }) : say("good"),
        one.revoked ? "" : button(say("revoke"), doing(place, async () => { await ask("DELETE", `/v1/tokens/${one.id}`); return listed(study, place); }), { class: "small" })]);
      return table(say("tokens"), [say("role"), say("whose"), say("state"), say("revoke")], rows);
    }

    async function shown() {
      const found = (await ask("GET", "/v1/studies")).studies;
      if (found.length === 0) return [element("p", {}, say("no_studies"))];
      const rows = found.map((one) => [one.title || one.id, one.id, say(`state_short_${one.state}`), whole(one.minimum), button(say("manage"), doing(made, () => about(one)), { class: "small", "aria-label": `${say("manage")}: ${one.title || one.id}` })]);
      return [table(say("studies"), [say("title"), say("id"), say("state"), say("minimum_short"), say("manage")], rows, [3])];
    }

    if (token) refresh();
    return [
      element("p", {}, say("study_text")),
      field(say("token"), boxes.token, say("token_hint")),
      element("div", { class: "fields" }, field(say("title"), boxes.title), field(say("id"), boxes.id, say("id_hint"))),
      field(say("intro"), boxes.text, say("intro_hint")),
      element("div", { class: "fields three" }, field(say("minimum"), boxes.minimum, say("minimum_hint")), field(say("ends"), boxes.ends, say("ends_hint")), field(say("access"), boxes.access)),
      element("div", { class: "buttons" },
        button(say("make_draft"), doing(made, () => create(false)), { id: "draft" }),
        button(say("make_open"), doing(made, () => create(true)), { id: "create" }),
        button(say("show_studies"), doing(list, shown), { id: "list" })),
      made, list,
    ];
  }

  return { section };
})();
