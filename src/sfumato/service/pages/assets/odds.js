/* The odds of a channel in words and pictures. All figures come from the integers that answers are drawn from. */

"use strict";

const Odds = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const MOST_CELLS = 1 << 18; // larger tables are not gone through for a sentence

  /* The true codes that speak most for a released code: the code itself, or the members of a set. */
  function members(plan, released) {
    const inputs = plan.sizes.reduce((product, size) => product * size, 1);
    const outputs = plan.outputs.reduce((product, size) => product * size, 1);
    if (inputs * outputs > MOST_CELLS) return null;
    const column = [];
    for (let code = 0; code < inputs; code++) {
      const row = rowOf(plan, code);
      if (row === null) return null;
      column.push(row[released]);
    }
    const most = Math.max(...column);
    return column.flatMap((chance, code) => (chance > most * (1 - 1e-9) ? [code] : []));
  }

  const rows = new WeakMap();
  function rowOf(plan, code) {
    if (!rows.has(plan)) rows.set(plan, new Map());
    const known = rows.get(plan);
    if (!known.has(code)) known.set(code, Randomize.chances(plan, code));
    return known.get(code);
  }

  /* How often what is sent speaks for the true answer: the least and the most over all answers, or null. */
  const found = new WeakMap();
  function own(plan) {
    if (!found.has(plan)) found.set(plan, ownAnew(plan));
    return found.get(plan);
  }

  function ownAnew(plan) {
    const inputs = plan.sizes.reduce((product, size) => product * size, 1);
    const outputs = plan.outputs.reduce((product, size) => product * size, 1);
    if (inputs * outputs > MOST_CELLS || rowOf(plan, 0) === null) return null;
    const table = Array.from({ length: inputs }, (_, code) => rowOf(plan, code));
    const most = Array.from({ length: outputs }, (_, y) => Math.max(...table.map((row) => row[y])));
    const shares = table.map((row) => row.reduce((sum, chance, y) => sum + (chance > most[y] * (1 - 1e-9) ? chance : 0), 0));
    return { least: Math.min(...shares), most: Math.max(...shares), shares, values: outputs === inputs };
  }

  function node(name, attributes = {}) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  /* A hundred dots: so many of a hundred answers are sent as they are. */
  function dots(share, label) {
    const picture = node("svg", { viewBox: "0 0 100 100", role: "img", "aria-label": label });
    const filled = Math.round(100 * share);
    for (let i = 0; i < 100; i++) {
      picture.append(node("circle", { cx: 5 + 10 * (i % 10), cy: 5 + 10 * Math.floor(i / 10), r: 3.8, class: i < filled ? "own" : "other" }));
    }
    return picture;
  }

  /* A spinner whose sectors are the chances of what is sent; many small ones become one. */
  function spinner(sectors, label) {
    const picture = node("svg", { viewBox: "-52 -52 104 104", role: "img", "aria-label": label });
    let angle = -Math.PI / 2;
    for (const { share, own: mine } of sectors) {
      const end = angle + 2 * Math.PI * share;
      const [x, y, u, v] = [Math.cos(angle), Math.sin(angle), Math.cos(end), Math.sin(end)].map((one) => (50 * one).toFixed(2));
      const kind = `${mine ? "own" : "other"} edge`;
      if (share > 0.9999) picture.append(node("circle", { r: 50, class: kind }));
      else picture.append(node("path", { d: `M0 0L${x} ${y}A50 50 0 ${Number(share > 0.5)} 1 ${u} ${v}Z`, class: kind }));
      angle = end;
    }
    return picture;
  }

  /* The sectors of the spinner for one true code: its own share first, then the others one by one where they are few. */
  function sectors(plan, code) {
    const odds = own(plan);
    const share = odds.shares[code];
    const row = rowOf(plan, code);
    const others = row.length <= 13 && odds.values ? row.filter((_, y) => !members(plan, y).includes(code)) : [1 - share];
    return [{ share, own: true }, ...others.map((one) => ({ share: one, own: false }))];
  }

  return { members, own, dots, spinner, sectors };
})();
