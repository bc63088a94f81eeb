/* The odds of a channel, and their pictures. All figures come from the integers that answers are drawn from. */

"use strict";

const Odds = (() => {
  const { drawn } = Elements;
  const MOST_CELLS = 1 << 18; // larger tables are not gone through for a sentence
  const MOST_SECTORS = 60; // more of them could not be told apart

  const rows = new WeakMap();
  function rowOf(plan, code) {
    if (!rows.has(plan)) rows.set(plan, new Map());
    const known = rows.get(plan);
    if (!known.has(code)) known.set(code, Channels.chances(plan, code));
    return known.get(code);
  }

  /* The whole table of chances, or null where it is long. */
  function tableOf(plan) {
    if (!plan.sizes || Channels.count(plan.sizes) * Channels.count(plan.outputs) > MOST_CELLS || rowOf(plan, 0) === null) return null;
    return Array.from({ length: Channels.count(plan.sizes) }, (_, code) => rowOf(plan, code));
  }

  /* The true codes that speak most for a released code: the code itself, or the members of a set. */
  function members(plan, released) {
    const table = tableOf(plan);
    if (table === null) return null;
    const column = table.map((row) => row[released]);
    const most = Math.max(...column);
    return column.flatMap((chance, code) => (chance > most * (1 - 1e-9) ? [code] : []));
  }

  /* How often what is sent speaks for the true answer: the least and the most over all answers, and whether what is sent is itself an
     answer. Null where neither the table nor a formula tells. */
  const found = new WeakMap();
  function own(plan) {
    if (!found.has(plan)) found.set(plan, ownAnew(plan));
    return found.get(plan);
  }

  function ownAnew(plan) {
    const table = tableOf(plan);
    if (table === null && plan.inside) return { ...plan.inside, shares: null };
    if (table === null) {
      const share = Channels.insideShare(plan);
      return share === null ? null : { least: share, most: share, shares: null, values: ["symmetric", "valid"].includes(plan.kind) };
    }
    const outputs = Channels.count(plan.outputs);
    const most = Array.from({ length: outputs }, (_, y) => Math.max(...table.map((row) => row[y])));
    const speaks = (code, y) => table[code][y] > most[y] * (1 - 1e-9);
    const shares = table.map((row, code) => row.reduce((sum, chance, y) => sum + (speaks(code, y) ? chance : 0), 0));
    const values = outputs === table.length && table.every((_, y) => table.every((__, code) => speaks(code, y) === (code === y)));
    return { least: Math.min(...shares), most: Math.max(...shares), shares, values };
  }

  /* A share in words: so many of a hundred, with a decimal where a whole number would say none or all. */
  function hundred(share, number) {
    const exact = 100 * share;
    if (exact >= 1 && exact <= 99) return number(Math.round(exact));
    if (exact > 99.9 && share < 1) return `> ${number(99.9)}`;
    if (exact < 0.1 && share > 0) return `< ${number(0.1)}`;
    return number(Math.round(10 * exact) / 10);
  }

  /* A hundred people: for so many of them what is sent speaks for their own answer. */
  function people(share, label) {
    const picture = drawn("svg", { viewBox: "0 0 100 120", role: "img", "aria-label": label });
    const filled = Math.round(100 * share);
    for (let i = 0; i < 100; i++) {
      const one = drawn("g", { class: i < filled ? "own" : "other", transform: `translate(${10 * (i % 10)} ${12 * Math.floor(i / 10)})` });
      one.append(drawn("circle", { cx: 5, cy: 2.4, r: 1.9 }), drawn("path", { d: "M1.9 10.6V7.6a3.1 2.9 0 0 1 6.2 0v3z" }));
      picture.append(one);
    }
    return picture;
  }

  /* A spinner whose sectors are the chances of what is sent. */
  function spinner(sectors, label) {
    const picture = drawn("svg", { viewBox: "-52 -52 104 104", role: "img", "aria-label": label });
    let angle = -Math.PI / 2;
    for (const { share, own: mine } of sectors) {
      const end = angle + 2 * Math.PI * share;
      const [x, y, u, v] = [Math.cos(angle), Math.sin(angle), Math.cos(end), Math.sin(end)].map((one) => (50 * one).toFixed(2));
      const kind = `${mine ? "own" : "other"} edge`;
      if (share > 0.9999) picture.append(drawn("circle", { r: 50, class: kind }));
      else if (share > 0) picture.append(drawn("path", { d: `M0 0L${x} ${y}A50 50 0 ${Number(share > 0.5)} 1 ${u} ${v}Z`, class: kind }));
      angle = end;
    }
    return picture;
  }

  /* The sectors of the spinner for the answer that is kept most often: one for everything that may be sent, those that speak for the own
     answer first; two where there are too many. */
  function sectors(plan) {
    const { most, shares } = own(plan);
    if (shares === null || Channels.count(plan.outputs) > MOST_SECTORS) return [{ share: most, own: true }, { share: 1 - most, own: false }];
    const code = shares.indexOf(most);
    const every = rowOf(plan, code).map((share, y) => ({ share, own: members(plan, y).includes(code) }));
    return [...every.filter((one) => one.own), ...every.filter((one) => !one.own)];
  }

  return { members, own, hundred, people, spinner, sectors };
})();
