/* The pictures of the design page. Each has a title that says what is to be seen, a sentence that explains it, and a table beside it. */

"use strict";

const Charts = (() => {
  const { element, drawn, narrow, cut } = Elements;
  const { say, number, percent, belief, atMost, points, table } = Page;
  const MOST_NUMBERS = 64; // entries of a matrix that are written into its picture
  const MOST_TABLE = 144; // entries of a matrix that its table lists one by one

  function figure(title, sentence, picture, ...more) {
    return element("figure", {}, element("figcaption", {}, title), element("p", { class: "about" }, sentence), picture, ...more);
  }

  const folded = (...inside) => element("details", {}, element("summary", {}, say("as_table")), ...inside);

  // ---- The channel's matrix -------------------------------------------------------------------------------------------

  /* Every chance of the channel, row by row; null where the page cannot list them. */
  function chances(plan) {
    if (plan === null || !plan.sizes) return null;
    const rows = Array.from({ length: Channels.count(plan.sizes) }, (_, code) => Channels.chances(plan, code));
    return rows.includes(null) ? null : rows;
  }

  function matrix(closer) {
    const rows = chances(closer.plan);
    if (rows === null) return element("p", { class: "about" }, say("matrix_large"));
    const { inputs, outputs } = closer, columns = rows[0].length;
    const total = narrow() ? 400 : 700, top = 24;
    const numbers = rows.length * columns <= MOST_NUMBERS;
    const height = Math.max(Math.min(34, 420 / rows.length), 5), left = height < 11 ? 0 : narrow() ? 124 : 160, wide = (total - left) / columns;
    const most = Math.max(...rows.map((row) => Math.max(...row)));
    const picture = drawn("svg", { viewBox: `0 0 ${total} ${top + height * rows.length + 8}`, role: "img", "aria-label": say("matrix_label", { rows: rows.length, columns }), class: "chart matrix" });
    const named = columns === rows.length && numbers; // each column is an answer with a name
    if (!named) picture.append(drawn("text", { x: total, y: 14, "text-anchor": "end", class: "tick" }, say("matrix_size", { rows: number(rows.length), columns: number(columns) })));
    const shade = (chance) => (0.05 + (numbers ? 0.5 : 0.95) * (chance / most)).toFixed(3);
    rows.forEach((row, x) => {
      const y = top + x * height;
      if (height >= 11) picture.append(drawn("text", { x: left - 6, y: y + height / 2 + 4, "text-anchor": "end", class: "name" }, cut(inputs[x] ?? "", narrow() ? 12 : 21)));
      for (let first = 0; first < columns;) { // neighbours of one shade are drawn as one
        let end = first + 1;
        while (!numbers && end < columns && shade(row[end]) === shade(row[first])) end++;
        picture.append(drawn("rect", { x: (left + first * wide).toFixed(2), y: y.toFixed(2), width: ((end - first) * wide).toFixed(2), height: height.toFixed(2), class: numbers ? "cell edge" : "cell", "fill-opacity": shade(row[first]) }));
        first = end;
      }
      if (numbers) row.forEach((chance, i) => picture.append(drawn("text", { x: left + (i + 0.5) * wide, y: y + height / 2 + 4, "text-anchor": "middle", class: "name" }, percent(chance).replace("\u00a0%", ""))));
    });
    if (named) outputs.forEach((text, i) => picture.append(drawn("text", { x: left + (i + 0.5) * wide, y: 14, "text-anchor": "middle", class: "tick" }, cut(text, Math.max(Math.floor(wide / 8), 3)))));
    return figure(say("matrix_title"), say("matrix_text"), picture, folded(matrixTable(rows, inputs, outputs)));
  }

  function matrixTable(rows, inputs, outputs) {
    const name = (code) => outputs[code] ?? String(code);
    if (rows.length * rows[0].length <= MOST_TABLE) return table(say("matrix_title"), [say("true_answer"), ...rows[0].map((_, code) => name(code))], rows.map((row, x) => [inputs[x], ...row.map(percent)]), rows[0].map((_, i) => i + 1));
    const likeliest = (row) => row.map((chance, code) => [chance, code]).sort((a, b) => b[0] - a[0]).slice(0, 3).map(([chance, code]) => `${name(code)} (${percent(chance)})`).join("; ");
    return table(say("matrix_title"), [say("true_answer"), say("likeliest")], rows.map((row, x) => [inputs[x], likeliest(row)]));
  }

  // ---- What an adversary learns ----------------------------------------------------------------------------------------

  const SIDE = { x: 54, y: 12, width: 250, height: 220, end: 28 }; // room for "100 %" in the letters of a phone on both sides

  function frame(xs, ys, right, up, label) {
    const picture = drawn("svg", { viewBox: `0 0 ${SIDE.x + SIDE.width + SIDE.end} ${SIDE.y + SIDE.height + 46}`, role: "img", "aria-label": label, class: "chart" });
    for (const [value, text] of xs) picture.append(drawn("line", { x1: right(value), x2: right(value), y1: SIDE.y, y2: SIDE.y + SIDE.height, class: "axis" }), drawn("text", { x: right(value), y: SIDE.y + SIDE.height + 20, "text-anchor": "middle", class: "tick" }, text));
    for (const [value, text] of ys) picture.append(drawn("line", { x1: SIDE.x, x2: SIDE.x + SIDE.width, y1: up(value), y2: up(value), class: "axis" }), drawn("text", { x: SIDE.x - 5, y: up(value) + 4, "text-anchor": "end", class: "tick" }, text));
    return picture;
  }

  const path = (pairs, right, up) => pairs.map(([x, y], i) => `${i ? "L" : "M"}${right(x).toFixed(1)} ${up(y).toFixed(1)}`).join("");

  function beliefs(closer, person, gamma) {
    const right = (value) => SIDE.x + SIDE.width * value, up = (value) => SIDE.y + SIDE.height * (1 - value);
    const ticks = [0, 0.25, 0.5, 0.75, 1].map((value) => [value, percent(value)]);
    const picture = frame(ticks, ticks, right, up, say("beliefs_title"));
    const ten = closer.beliefs.find(({ before }) => Math.abs(before - 0.1) < 1e-9);
    picture.append(
      drawn("path", { d: path([[0, 0], [1, 1]], right, up), class: "line none" }),
      drawn("path", { d: path(closer.beliefs.map(({ before, after }) => [before, after]), right, up), class: "line line0" }),
      drawn("circle", { cx: right(ten.before), cy: up(ten.after), r: 5, class: "dot" }),
      drawn("text", { x: SIDE.x + SIDE.width / 2, y: SIDE.y + SIDE.height + 38, "text-anchor": "middle", class: "tick" }, say("before")));
    const shown = closer.beliefs.filter((_, i) => i % 4 === 0);
    return figure(say("beliefs_title"), say(person ? "beliefs_text_person" : "beliefs_text", { after: belief(ten.after, gamma) }), picture,
      folded(table(say("beliefs_title"), [say("before"), say("after")], shown.map(({ before, after }) => [percent(before), before < 1 ? belief(after, gamma) : percent(after)]), [1])));
  }

  // ---- The trade-off ---------------------------------------------------------------------------------------------------

  const lineName = (curve, name) => (curve.of === "person" ? say(`ask_${name}`) : Page.has(`family_${name}`) ? say(`family_${name}`) : name);

  function tradeoff(curve, gamma, width, ways) {
    const missing = ways.filter((name) => !(name in curve.lines)).map((name) => say(`ask_${name}`));
    const told = Object.entries(curve.lines).filter(([, line]) => line.some((value) => value !== null && value < 1));
    const all = [...told.flatMap(([, line]) => line), curve.floor, width].filter((value) => value !== null && value > 0 && value < 1);
    const low = Math.min(...all) / 1.2, high = Math.min(1, Math.max(...all) * 1.2);
    const least = Math.min(curve.gammas[0], gamma ?? Infinity), most = Math.max(curve.gammas[curve.gammas.length - 1], gamma ?? 0);
    const right = (value) => SIDE.x + (SIDE.width * Math.log(value / least)) / Math.log(most / least);
    const up = (value) => SIDE.y + (SIDE.height * Math.log(high / value)) / Math.log(high / low);
    const marks = (list, from, to) => list.filter((value) => value >= from && value <= to);
    const picture = frame(marks([1.5, 2, 3, 5, 10, 20, 50, 100, 200, 1000, 1e4, 1e5, 1e6], least, most).map((value) => [value, number(value)]),
      marks([0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1], low, high).map((value) => [value, points(value)]), right, up, say("tradeoff_title"));
    told.forEach(([, line], i) => picture.append(drawn("path", { d: path(line.map((value, at) => [curve.gammas[at], value]).filter(([, value]) => value !== null && value <= high), right, up), class: `line line${i % 4}` })));
    if (curve.floor !== null) picture.append(drawn("path", { d: path([[least, curve.floor], [most, curve.floor]], right, up), class: "line none" }));
    if (gamma !== null && width !== null && width < 1) picture.append(drawn("circle", { cx: right(gamma), cy: up(width), r: 6, class: "dot" }));
    picture.append(drawn("text", { x: SIDE.x + SIDE.width / 2, y: SIDE.y + SIDE.height + 38, "text-anchor": "middle", class: "tick" }, say(`gamma_axis_${curve.of}`)));
    const key = element("ul", { class: "lines" }, ...told.map(([name], i) => {
      const sample = drawn("svg", { viewBox: "0 0 30 10", "aria-hidden": "true" });
      sample.append(drawn("path", { d: "M1 5H29", class: `line line${i % 4}` }));
      return element("li", {}, sample, lineName(curve, name));
    }));
    const rows = curve.gammas.map((value, at) => [atMost(value), ...told.map(([, line]) => points(line[at]))]);
    return figure(say("tradeoff_title"), say("tradeoff_text", { floor: points(curve.floor) }) + (missing.length ? " " + say("not_drawn", { ways: missing.join(", ") }) : ""), picture, key,
      folded(table(say("tradeoff_title"), [say(`gamma_axis_${curve.of}`), ...told.map(([name]) => lineName(curve, name))], rows, told.map((_, i) => i + 1))));
  }

  return { matrix, beliefs, tradeoff };
})();
