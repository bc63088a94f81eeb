/* The miner's page: estimates of a study with intervals that hold however often one looks. It reads, and changes nothing.
   When answers arrive, only pictures and numbers are drawn anew: what was chosen, opened and scrolled to stays. */

"use strict";

(() => {
  const { element, scrolling, jump, listed, sentence } = Elements;
  const { percent, whole, short, year, between } = Charts;
  const AGAIN = 10000; // milliseconds until the numbers are read again
  const LISTED = 40; // values of a question whose shares are drawn
  const CELLS = 400; // of a table of two questions
  const study = decodeURIComponent(location.pathname.split("/")[2]);
  const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
  const main = document.getElementById("text");
  let about = null, attributes = [], answers = -1, progress = null, parts = null;

  class Refusal extends Error {}

  async function read(path) {
    const answer = await fetch(`/v1/studies/${encodeURIComponent(study)}${path}`, { headers: token ? { authorization: `Bearer ${token}` } : {} });
    const found = await answer.json();
    if (answer.status === 401 && !token) throw new Refusal("The token is missing. Open the whole link that sfumato study tokens printed for a miner: it ends in #token= and the token.");
    if (!answer.ok) throw new Refusal(sentence(found.error.message));
    return found;
  }

  const attribute = (name) => attributes.find((one) => one.name === name);
  const title = (name) => attribute(name)?.text ?? name;
  const wording = (words, value) => (Object.hasOwn(words, value) ? words[value] : String(value));
  /* A bin as the command line prints it: [5000 to 10,000). */
  const bin = (text) => text.replace(/^\[(-?[\d.]+), (-?[\d.]+)([)\]])$/, (_, low, high, end) => `[${marked(low)} to ${marked(high)}${end}`);
  const marked = (number) => number.replace(/^(-?)(\d{5,})/, (_, sign, whole) => sign + whole.replace(/\B(?=(\d{3})+$)/g, ","));
  const worded = (name, value) => (value === null ? "no answer" : bin(wording(attribute(name)?.words ?? {}, value)));
  const points = (share) => (100 * share).toFixed(1);
  /* No false answers take a share below 0 or above 1. */
  const bounded = (cell) => (cell.false_down === null || cell.share === null ? cell : { ...cell, false_down: Math.max(cell.false_down, -Math.max(cell.share, 0)), false_up: Math.min(cell.false_up, Math.max(1 - cell.share, 0)) });
  const moved = (row, written = points) => (row.false_down === null ? "unknown" : Charts.swing(written(-row.false_down), written(row.false_up)));
  /* Blur is undone on average only, so that an estimate may be no possible share. What to make of such a one. */
  const outside = (cells) => (cells.some((cell) => !cell.open && (cell.share < -5e-4 || cell.share > 1.0005)) ? "A share below 0 or above 100 % is the work of chance, where a value is rare or answers are few. Read its interval between 0 and 100 %." : "");
  /* An estimate whose interval leaves nearly all open is neither written nor drawn. */
  const told = (one, text) => (one.open ? "not told" : text);
  const callout = (text) => element("p", { class: "callout" }, text);

  // ---- A part of the page ------------------------------------------------------------------------------------------------

  /* Heading, choices, picture, a sentence, and the same numbers as a table. ``draw`` gives {picture, note, heads, rows, label}, and
     may give ``tell``, which is called if nothing else was asked for meanwhile. What the server refuses is said in the place of the
     picture, and ``more`` is hidden. */
  function part(tag, heading, controls, draw, more = null) {
    const picture = element("div"), note = element("p", { class: "about" }), numbers = element("div");
    const table = element("details", {}, element("summary", {}, "As a table"), numbers);
    let turn = 0;
    const update = async () => {
      const mine = ++turn;
      let found;
      try { found = await draw(); } catch (problem) { found = { picture: said(problem) }; }
      if (mine !== turn) return;
      picture.replaceChildren(found.picture);
      note.replaceChildren(found.note ?? "");
      note.hidden = !found.note;
      table.hidden = !found.rows;
      if (more !== null) more.hidden = !found.tell;
      found.tell?.();
      if (found.rows) numbers.replaceChildren(Charts.table(found.label, found.heads, found.rows));
    };
    const box = controls.length ? element("div", { class: "controls" }, ...controls) : null;
    return { node: element("section", {}, element(tag, {}, heading), box, picture, note, more, table), update };
  }

  const said = (problem) => { if (!(problem instanceof Refusal)) throw problem; return callout(problem.message); };

  function menu(label, names, changed, none = null) {
    const select = element("select", { "aria-label": label, onchange: () => changed() }, ...(none === null ? [] : [element("option", { value: "" }, none)]),
      ...names.map((name) => element("option", { value: name }, title(name))));
    return [element("label", {}, label, select), select];
  }

  // ---- Parts -----------------------------------------------------------------------------------------------------------

  const HEADS = ["Value", "Share", "95 % interval", "As they arrived", "1 % false answers could move it by at most, points"];

  function shares(name) {
    const wish = element("input", { type: "number", class: "small", min: "0.1", max: "50", step: "0.1", value: "2", "aria-label": `Wished width of ${title(name)}, in points` });
    const widest = element("span"), needed = element("span", { role: "status" });
    const width = element("p", { class: "about" }, widest, " For ± ", wish, " points: ", needed);
    const made = part("h3", title(name), [], async () => {
      const aim = Number(wish.value) / 100;
      const found = await read(`/estimates?names=${listed(name)}${aim > 0 && aim <= 1 ? `&wish=${aim}` : ""}`);
      const raw = found.released?.shares;
      let rows = found.cells.map(bounded).map((cell, i) => ({ ...cell, label: worded(name, cell.values[0]), value: cell.open ? null : cell.share, raw: raw?.[i], down: cell.false_down, up: cell.false_up, text: told(cell, percent(cell.share)) }));
      const many = rows.length > LISTED;
      if (many) rows = rows.sort((a, b) => b.share - a.share).slice(0, LISTED);
      const most = Math.min(1, Math.max(...rows.map((row) => Math.max(row.raw ?? 0, row.open ? 0 : row.high, row.open ? 0 : row.value + (row.up ?? 0)))));
      const tell = () => {
        widest.textContent = `The widest interval reaches ± ${points(found.half_width)} points.`;
        needed.textContent = !(aim > 0) ? "" : found.needed === null ? "out of reach." : found.needed <= found.answers ? "reached." : `about ${whole(found.needed - found.answers)} more answers.`;
      };
      return {
        picture: Charts.bars(rows, `Estimated shares of ${title(name)}`, 0, most, percent),
        note: [many ? `The ${LISTED} largest of ${whole(found.cells.length)} shares.` : "", outside(rows)].filter(Boolean).join(" "),
        label: `Shares of ${title(name)}`, heads: HEADS, tell,
        rows: rows.map((row) => [row.label, row.text, between(row, percent), row.raw === undefined ? "" : percent(row.raw), moved(row)]),
      };
    }, width);
    wish.oninput = () => made.update();
    return made;
  }

  function crossed(names) {
    const [first, a] = menu("Rows", names, () => made.update()), [second, b] = menu("Columns", [...names.slice(1), names[0]], () => made.update());
    const made = part("h2", "Two questions together", [first, second], async () => {
      const [x, y] = [a.value, b.value];
      if (x === y) throw new Refusal("Choose two different questions.");
      if (attribute(x).size * attribute(y).size > CELLS) throw new Refusal("Together they have too many values for a table: choose questions with fewer.");
      const found = await read(`/estimates?names=${listed(x, y)}`);
      const columns = attribute(y).size, rows = [];
      for (let i = 0; i < found.cells.length; i += columns) rows.push(found.cells.slice(i, i + columns));
      return { picture: scrolling(`${title(x)} by ${title(y)}`, element("table", {},
        element("caption", {}, "Shares of all"),
        element("thead", {}, element("tr", {}, element("td", {}), ...rows[0].map((cell) => element("th", { scope: "col", class: "num" }, worded(y, cell.values[1]))))),
        element("tbody", {}, ...rows.map((row) => element("tr", {}, element("th", { scope: "row" }, worded(x, row[0].values[0])), ...row.map((cell) => element("td", { class: "num" },
          told(cell, percent(cell.share)), element("br"), element("small", {}, between(cell, percent)), element("br"), element("small", { class: "moved" }, moved(bounded(cell)))))))))),
        note: `Below each share stands its 95 % interval, and how many points 1 % of false answers could move it at most. ${outside(found.cells)}` };
    });
    return made;
  }

  function means(names, groups) {
    const [first, of] = menu("Mean of", names, () => made.update()), [second, by] = menu("By", groups, () => made.update(), "everybody");
    const made = part("h2", "Means", [first, second], async () => {
      const name = of.value, group = by.value === name ? "" : by.value;
      const found = await read(`/means?name=${encodeURIComponent(name)}${group ? `&by=${listed(group)}` : ""}`);
      const written = found.years ? year : short, dates = found.rows.some((row) => row.nearest !== null);
      const rows = found.rows.map((row) => ({ ...row, value: row.open ? null : row.value, label: row.group.length ? worded(group, row.group[0]) : "everybody", down: row.false_down, up: row.false_up, text: told(row, row.nearest ?? written(row.value)) }));
      const shown = rows.some((row) => !row.open) ? rows.filter((row) => !row.open) : rows, points = found.years || dates; // what is not told has no say in the axis
      const reach = (row) => (points || row.open ? [row.low, row.high] : [row.low, row.high, row.value + row.down, row.value + row.up]); // bars show what false answers could do, too
      const ends = shown.flatMap(reach).filter((one) => one !== null && Number.isFinite(one));
      const from = points ? [] : [0], low = Math.min(...from, ...ends), high = Math.max(...from, ...ends), { unit, values } = attribute(name);
      const draw = points ? Charts.intervals : Charts.bars; // a bar from 0 would hide how years and dates differ
      const placed = dates && values !== null ? (place) => (Number.isInteger(place) ? values[place] ?? "" : "") : written;
      return {
        note: [unit ? `Counted in ${unit}` : "", ...found.notes, points && Charts.beyond(rows, low, high) ? "where an interval goes on beyond the picture, it ends in an arrow: the table has its ends" : ""].filter(Boolean).map(sentence).join(" "),
        picture: draw(rows, `Means of ${title(name)}`, low, high > low ? high : low + 1, placed),
        label: `Means of ${title(name)}`, heads: ["Group", "Mean", ...(dates ? ["Nearest"] : []), "95 % interval", "1 % false answers could move it by at most"],
        rows: rows.map((row) => [row.label, told(row, written(row.value)), ...(dates ? [told(row, row.nearest ?? "unknown")] : []), between(row, written), moved(row, short)]),
      };
    });
    return made;
  }

  /* Responses by hour; hours in which nobody answered have a place too. */
  function hours(progress) {
    const list = progress.hours.filter((one) => one.responses > 0);
    if (!list.length) return element("p", { class: "about" }, "No single responses yet.");
    const hour = (text) => Date.parse(text) / 3600000, spelled = (at) => `${new Date(at * 3600000).toISOString().slice(0, 13).replace("T", " ")} h`;
    const last = hour(list.at(-1).hour), first = Math.max(hour(list[0].hour), last - 71);
    const values = Array.from({ length: Math.max(last - first + 1, 12) }, () => 0), begin = last - values.length + 1;
    for (const one of list) if (hour(one.hour) >= begin) values[hour(one.hour) - begin] += one.responses;
    const text = `Responses by hour, at most ${whole(Math.max(...values))}`;
    return element("figure", {}, element("figcaption", {}, text), Charts.columns(values, `${text}, from ${spelled(begin)} to ${spelled(last)} UTC`, spelled(begin), spelled(last)));
  }

  async function download(event) {
    const button = event.target, told = document.getElementById("downloaded");
    button.disabled = true;
    told.textContent = "Getting it ready …";
    try {
      const answer = await fetch(`/v1/studies/${encodeURIComponent(study)}/release`, { headers: { authorization: `Bearer ${token}` } });
      if (!answer.ok) { told.textContent = sentence((await answer.json()).error.message); return; }
      const link = element("a", { href: URL.createObjectURL(await answer.blob()), download: `${study}.parquet` });
      link.click();
      URL.revokeObjectURL(link.href);
      told.textContent = "Downloaded.";
    } catch {
      told.textContent = "The server does not answer. Try again later.";
    } finally {
      button.disabled = false;
    }
  }

  // ---- The whole ---------------------------------------------------------------------------------------------------------

  const head = { state: element("p", { class: "about", role: "status" }), hours: element("div"), contents: element("div"), below: element("div") };

  /* Links to the headings, those of a part below its own. */
  function contents(headings) {
    const list = element("ol");
    headings.forEach((heading, i) => {
      heading.id = `part-${i}`;
      const item = element("li", {}, element("a", { href: `#${heading.id}`, onclick: jump }, heading.textContent));
      if (heading.tagName === "H2") list.append(item);
      else {
        if (list.lastChild.lastChild.tagName !== "OL") list.lastChild.append(element("ol"));
        list.lastChild.lastChild.append(item);
      }
    });
    return element("nav", { class: "contents", "aria-label": "Contents" }, element("details", { open: headings.length <= 24 }, element("summary", {}, "Contents"), list));
  }

  /* Everything below the head, made once; its parts are drawn again when answers arrive. */
  function build() {
    const told = attributes.filter((one) => !one.noise && one.size !== null);
    const names = told.map((one) => one.name), ordered = told.filter((one) => one.ordered).map((one) => one.name);
    const drawn = told.filter((one) => one.size <= LISTED || !one.ordered).map((one) => one.name);
    const left = attributes.filter((one) => !drawn.includes(one.name)).map((one) => one.text);
    const single = drawn.map(shares);
    const cross = names.length > 1 ? crossed(names) : null, mean = ordered.length ? means(ordered, names) : null;
    const models = about.kind === "resampled" ? null : Models({ read, part, title, worded, attributes, refusal: (text) => new Refusal(text) });
    head.below.replaceChildren(...[
      about.kind === "resampled" ? null : callout("Each interval holds the true number at 95 %, however often you look at this page. The band of a distribution is no such interval: heaps and edges are rounded off there."),
      single.length ? element("h2", {}, "Shares") : null,
      single.length ? Charts.key(["own", "estimated share of the true answers"], ["raw", "share among the changed answers, as they arrived"], ["limits", "95 % interval"], ["false", "how far 1 % of false answers could move it at most"]) : null,
      ...single.map((one) => one.node),
      left.length && about.kind !== "resampled" ? element("p", { class: "about" }, `Not listed by value: ${left.join(", ")}. Draw ${left.length === 1 ? "its distribution" : "their distributions"} below, or download the release.`) : null,
      cross?.node, mean?.node, models?.node,
      element("h2", {}, "The answers as they arrived"),
      element("p", {}, about.kind === "resampled" ? "Resampled rows of all sites." : "Rows in random order, without ids, with the scheme: read them with sfumato."),
      element("div", { class: "buttons" }, element("button", { type: "button", id: "download", onclick: download }, "Download the release")),
      element("p", { class: "about", id: "downloaded", role: "status" })].filter(Boolean));
    head.contents.replaceChildren(contents([...head.below.querySelectorAll("h2, h3")]));
    return { drawn: [...single, cross, mean].filter(Boolean), models };
  }

  const many = (count, what) => `${whole(count)} ${what}${count === 1 ? "" : "s"}`;

  async function show() {
    progress = await read("/progress");
    const total = progress.responses + progress.rows;
    const state = `The study is ${progress.state}. ${many(progress.responses, "single response")}, ${many(progress.rows, "row")} from ${many(progress.uploads, "upload")}.`;
    if (head.state.textContent !== state) head.state.textContent = state; // it is read aloud when it changes
    if (total === answers && parts !== null) return;
    head.hours.replaceChildren(hours(progress));
    if (total < progress.minimum) {
      parts = null;
      head.contents.replaceChildren();
      head.below.replaceChildren(callout(`Estimates are shown from ${whole(progress.minimum)} answers on; ${whole(progress.minimum - total)} are missing.`));
      return;
    }
    parts ??= build();
    answers = total;
    parts.models?.arrived(total);
    for (const one of parts.drawn) await one.update();
  }

  /* Pictures have the width of the screen: they are drawn again when it changes. */
  function follow() {
    let before = Elements.narrow();
    window.addEventListener("resize", () => {
      if (Elements.narrow() === before || parts === null) return;
      before = Elements.narrow();
      head.hours.replaceChildren(hours(progress));
      for (const one of [...parts.drawn, ...(parts.models?.shown() ?? [])]) one.update();
    });
  }

  async function begin() {
    document.querySelector(".skip").onclick = jump;
    try {
      about = await read("");
      attributes = (await read("/attributes")).attributes;
      main.replaceChildren(element("h1", {}, about.title || study), head.state, head.hours, head.contents, head.below);
      document.title = `${about.title || study} · Results`;
      follow();
      await show();
      setInterval(() => show().catch(() => {}), AGAIN);
    } catch (problem) {
      main.replaceChildren(element("h1", {}, "Results"), said(problem));
    }
  }

  begin();
})();
