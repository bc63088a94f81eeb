/* The miner's page: estimates of a study with intervals that hold however often one looks. It reads, and changes nothing. */

"use strict";

(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const AGAIN = 10000; // milliseconds until the numbers are read again
  const study = decodeURIComponent(location.pathname.split("/")[2]);
  const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
  const main = document.getElementById("text");
  let about = null, asked = null, answers = -1;

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) { if (key.startsWith("on")) made[key] = value; else made.setAttribute(key, value); }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }

  function drawn(name, attributes = {}, text = null) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== null) made.textContent = text;
    return made;
  }

  class Refusal extends Error {}

  async function read(path) {
    const answer = await fetch(`/v1/studies/${encodeURIComponent(study)}${path}`, { headers: token ? { authorization: `Bearer ${token}` } : {} });
    const found = await answer.json();
    if (!answer.ok) throw new Refusal(found.error.message);
    return found;
  }

  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  const whole = (count) => count.toLocaleString("en", { maximumFractionDigits: 0 });
  const short = (value) => value.toLocaleString("en", { maximumSignificantDigits: 4 });
  const title = (name) => asked?.attributes[name]?.text || name;
  const worded = (name, value) => (value === null ? "no answer" : asked?.attributes[name]?.words[value] ?? String(value));

  // ---- Pictures ------------------------------------------------------------------------------------------------------

  /* Bars with their intervals, and beside each the share among the changed answers, where there is one. */
  function bars(rows, label, low, high, written) {
    const narrow = window.innerWidth < 640; // a phone gets a picture of its own width, so that its letters stay readable
    const [total, left, right, letters, steps] = narrow ? [400, 120, 325, 15, 2] : [700, 170, 610, 22, 4];
    const line = 30, height = rows.length * line + 26;
    const at = (value) => left + ((right - left) * (Math.min(Math.max(value, low), high) - low)) / (high - low);
    const picture = drawn("svg", { viewBox: `0 0 ${total} ${height}`, role: "img", "aria-label": label, class: "chart" });
    for (let i = 0; i <= steps; i++) {
      const value = low + ((high - low) * i) / steps;
      picture.append(drawn("line", { x1: at(value), x2: at(value), y1: 0, y2: height - 22, class: "axis" }),
        drawn("text", { x: at(value), y: height - 6, "text-anchor": "middle", class: "tick" }, written(value)));
    }
    rows.forEach((row, i) => {
      const y = i * line + 5;
      picture.append(drawn("text", { x: left - 8, y: y + 15, "text-anchor": "end", class: "name" }, row.label.length > letters ? `${row.label.slice(0, letters - 1)}…` : row.label));
      picture.append(drawn("rect", { x: at(Math.max(low, Math.min(0, high))), y: y + 2, width: Math.max(at(row.value) - at(Math.max(low, 0)), 0), height: 16, class: "share" }));
      if (row.raw !== undefined) picture.append(drawn("rect", { x: at(0), y: y + 5, width: Math.max(at(row.raw) - at(0), 0), height: 10, class: "raw" }));
      picture.append(drawn("path", { d: `M${at(row.low)} ${y + 5}v10m0-5H${at(row.high)}m0-5v10`, class: "limits" }));
      picture.append(drawn("text", { x: right + 8, y: y + 15, class: "tick" }, row.text));
    });
    return picture;
  }

  const key = (...entries) => element("p", { class: "key" }, ...entries.map(([kind, text]) => element("span", { class: kind }, element("i"), document.createTextNode(text))));

  // ---- Parts of the page -----------------------------------------------------------------------------------------------

  /* Raw shares can be laid beside the estimates where a released code is a value. */
  function rawShares(found) {
    const { sizes, counts } = found.released;
    if (sizes.length !== 1 || sizes[0] !== found.cells.length) return null;
    const total = counts.reduce((sum, one) => sum + one, 0);
    return counts.map((one) => one / total);
  }

  async function shares(name) {
    const found = await read(`/estimates?names=${encodeURIComponent(name)}`);
    const raw = rawShares(found);
    const rows = found.cells.map((cell, i) => ({ label: worded(name, cell.values[0]), value: cell.share, low: cell.low, high: cell.high, raw: raw?.[i], text: percent(cell.share) }));
    const most = Math.min(1, Math.max(...rows.map((row) => Math.max(row.high, row.raw ?? 0))));
    const widest = Math.max(...rows.map((row) => row.high - row.low));
    return element("section", {}, element("h3", {}, title(name)),
      bars(rows, `Estimated shares of ${title(name)}`, 0, Math.ceil(most * 20) / 20, percent),
      more(found.answers, widest / 2));
  }

  /* How many answers it takes until the intervals are as narrow as wished: their width falls with the square root. */
  function more(count, half) {
    const wish = element("input", { type: "number", class: "small", min: "0.1", step: "0.1", value: "2", "aria-label": "Wished width, in points" });
    const text = element("span", { role: "status" });
    const update = () => {
      const aim = Number(wish.value) / 100;
      if (!(aim > 0)) { text.textContent = ""; return; }
      const needed = Math.max(0, count * ((half / aim) ** 2 - 1));
      text.textContent = needed > 0 ? `about ${whole(needed)} more answers` : "reached";
    };
    wish.oninput = update;
    update();
    return element("p", { class: "about" }, `The widest interval is ± ${(100 * half).toFixed(1)} points. For ± `, wish, " points: ", text, ".");
  }

  async function crossed(a, b) {
    const found = await read(`/estimates?names=${encodeURIComponent(a)},${encodeURIComponent(b)}`);
    const rows = [...new Set(found.cells.map((cell) => cell.values[0]))], columns = [...new Set(found.cells.map((cell) => cell.values[1]))];
    const cellOf = (x, y) => found.cells.find((cell) => cell.values[0] === x && cell.values[1] === y);
    return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${title(a)} by ${title(b)}` }, element("table", {},
      element("caption", {}, "Shares of all, with 95 % intervals"),
      element("thead", {}, element("tr", {}, element("th", {}, ""), ...columns.map((y) => element("th", { scope: "col", class: "num" }, worded(b, y))))),
      element("tbody", {}, ...rows.map((x) => element("tr", {}, element("th", { scope: "row" }, worded(a, x)), ...columns.map((y) => {
        const cell = cellOf(x, y);
        return element("td", { class: "num" }, percent(cell.share), element("br"), element("small", {}, `${percent(cell.low)} – ${percent(cell.high)}`));
      }))))));
  }

  async function means(name, by) {
    const found = await read(`/means?name=${encodeURIComponent(name)}${by ? `&by=${encodeURIComponent(by)}` : ""}`);
    const rows = found.rows.map((row) => ({ label: row.group.length ? worded(by, row.group[0]) : "everybody", value: row.value, low: row.low, high: row.high, text: short(row.value) }));
    const ends = rows.flatMap((row) => [row.low, row.high]).filter(Number.isFinite);
    const low = Math.min(0, ...ends), high = Math.max(...ends);
    return bars(rows, `Means of ${title(name)}`, low, high > low ? high : low + 1, short);
  }

  function hours(progress) {
    const list = progress.hours.slice(-48);
    if (list.length < 2) return null;
    const most = Math.max(...list.map((one) => one.responses)), step = 680 / list.length;
    const picture = drawn("svg", { viewBox: "0 0 700 110", role: "img", "aria-label": "Responses by hour", class: "chart" });
    list.forEach((one, i) => picture.append(drawn("rect", { x: 10 + i * step, y: 90 - (80 * one.responses) / most, width: Math.max(step - 2, 1), height: (80 * one.responses) / most, class: "share" })));
    picture.append(drawn("text", { x: 10, y: 106, class: "tick" }, list[0].hour.slice(0, 13).replace("T", " ") + " h"),
      drawn("text", { x: 690, y: 106, "text-anchor": "end", class: "tick" }, list[list.length - 1].hour.slice(0, 13).replace("T", " ") + " h"));
    return element("figure", {}, element("figcaption", {}, `Responses by hour, at most ${whole(most)}`), picture);
  }

  function menu(label, names, changed, none = null) {
    const made = element("select", { onchange: () => changed() }, ...(none === null ? [] : [element("option", { value: "" }, none)]), ...names.map((name) => element("option", { value: name }, title(name))));
    return [element("label", {}, label, made), made];
  }

  /* A part that is drawn again whenever a choice changes; what the server refuses is said in its place. */
  function chosen(heading, menus, draw) {
    const place = element("div", { role: "status" });
    const update = async () => place.replaceChildren(await draw(...controls.map(([, select]) => select.value)).catch(said));
    const controls = menus.map(([label, names, none]) => menu(label, names, update, none));
    update();
    return element("section", {}, element("h2", {}, heading), element("div", { class: "controls" }, ...controls.map(([label]) => label)), place);
  }

  const said = (problem) => { if (!(problem instanceof Refusal)) throw problem; return element("p", { class: "callout" }, problem.message); };

  async function download() {
    const answer = await fetch(`/v1/studies/${encodeURIComponent(study)}/release`, { headers: { authorization: `Bearer ${token}` } });
    if (!answer.ok) { alert((await answer.json()).error.message); return; }
    const link = element("a", { href: URL.createObjectURL(await answer.blob()), download: `${study}.parquet` });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  async function show() {
    const progress = await read("/progress");
    const total = progress.responses + progress.rows;
    if (total === answers) return;
    answers = total;
    const names = asked === null ? [] : Object.keys(asked.attributes);
    const numeric = names.filter((name) => asked.attributes[name].kind !== "choice" || asked.attributes[name].ordered);
    const head = [
      element("h1", {}, about.title || study),
      element("p", { class: "about" }, `The study is ${progress.state}. ${whole(progress.responses)} single responses, ${whole(progress.rows)} rows from ${whole(progress.uploads)} uploads.`),
      hours(progress),
    ];
    if (total < progress.minimum) {
      main.replaceChildren(...head.filter(Boolean), element("p", { class: "callout" }, `Estimates are shown from ${whole(progress.minimum)} answers on; ${whole(progress.minimum - total)} are missing.`));
      return;
    }
    const parts = [];
    for (const name of names) parts.push(await shares(name).catch((problem) => element("section", {}, element("h3", {}, title(name)), said(problem))));
    main.replaceChildren(...[...head,
      element("div", { class: "callout" }, element("p", {}, "Each interval holds at 95 % however often you look: it is valid at every moment together.")),
      element("h2", {}, "Shares"), key(["own", "estimated share of the true answers"], ["raw", "share among the changed answers, as they arrived"], ["limits", "95 % interval"]), ...parts,
      names.length > 1 ? chosen("Two questions together", [["Rows", names], ["Columns", [...names.slice(1), names[0]]]], (a, b) => (a === b ? Promise.reject(new Refusal("Choose two different questions.")) : crossed(a, b))) : null,
      numeric.length ? chosen("Means", [["Mean of", numeric], ["By", names, "everybody"]], (name, by) => means(name, by === name ? "" : by)) : null,
      element("h2", {}, "The answers as they arrived"),
      element("p", {}, "Rows in random order, without ids, with the scheme: read them with sfumato."),
      element("div", { class: "buttons" }, element("button", { type: "button", id: "download", onclick: download }, "Download the release"))].filter(Boolean));
  }

  async function begin() {
    try {
      about = await read("");
      asked = await read("/questionnaire").catch((problem) => { said(problem); return null; });
      await show();
      setInterval(() => show().catch(() => {}), AGAIN);
    } catch (problem) {
      main.replaceChildren(element("h1", {}, "Results"), said(problem));
    }
  }

  begin();
})();
