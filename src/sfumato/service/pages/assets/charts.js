/* Pictures of numbers with their intervals, as SVG. Each takes its colours from the stylesheet and its width from the screen. */

"use strict";

const Charts = (() => {
  const { element, drawn, scrolling, narrow, cut, breakable } = Elements;
  const CLASSES = 6; // colours that classes are told apart by

  const minus = (text) => text.replace(/^-/, "−"); // as in the pictures of reports
  const percent = (share) => (share === null ? "unknown" : `${minus((100 * share).toFixed(1).replace(/^-(?=[0.]+$)/, ""))} %`); // no −0.0 %
  const whole = (count) => count.toLocaleString("en", { maximumFractionDigits: 0 });
  const short = (value) => (value === null ? "unknown" : minus(value.toLocaleString("en", { maximumSignificantDigits: 4 })));
  const year = (value) => (value === null ? "unknown" : minus(value.toLocaleString("en", { maximumFractionDigits: 2, useGrouping: false })));
  const limit = (value, written) => (value === null ? "open" : written(value));
  const between = (one, written) => `${limit(one.low, written).replace(/ %$/, "")} to ${limit(one.high, written)}`;

  /* How far a number could move down and up; what is written as nothing has no sign. */
  const swing = (down, up) => `${/[1-9]/.test(down) ? "−" : ""}${down} to ${/[1-9]/.test(up) ? "+" : ""}${up}`;

  /* Words in as many lines as they take, or at most so many. A line ends at a space or after a sign, else anywhere. */
  function folded(text, letters, most = Infinity) {
    const lines = [];
    let rest = text;
    while (rest.length > letters && lines.length + 1 < most) {
      const signs = rest.slice(0, letters).search(/[_/.-][^_/.-]*$/) + 1, space = rest.lastIndexOf(" ", letters);
      const end = [space, signs].find((at) => at > letters / 3) ?? letters;
      lines.push(rest.slice(0, end));
      rest = rest.slice(end).trim();
    }
    return [...lines, cut(rest, letters)];
  }

  /* Where rows of these heights begin, and where the last one ends. */
  const stacked = (heights) => heights.reduce((tops, tall) => [...tops, tops.at(-1) + tall], [0]);

  const width = () => (narrow() ? 400 : 700);

  const canvas = (height, label, own = width()) => drawn("svg", { viewBox: `0 0 ${own} ${height}`, role: "img", "aria-label": label, class: "chart" });

  /* Round numbers that hold both ends: the first, the last and the step between them. */
  function round(low, high) {
    const least = (high - low || 1) / (narrow() ? 3 : 5), ten = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 2.5, 5, 10].map((one) => one * ten).find((one) => one >= least * 0.999);
    return { low: Math.floor(low / step + 1e-9) * step, high: Math.ceil(high / step - 1e-9) * step, step };
  }

  function axis(picture, at, { low, high, step }, bottom, written) {
    for (let i = 0; low + i * step <= high + step / 2; i++) {
      const value = low + i * step, x = at(value);
      picture.append(drawn("line", { x1: x, x2: x, y1: 0, y2: bottom, class: "axis" }),
        drawn("text", { x, y: bottom + 16, "text-anchor": x < 20 ? "start" : x > width() - 20 ? "end" : "middle", class: "tick" }, written(Math.abs(value) < step / 1e6 ? 0 : value)));
    }
  }

  const scale = (low, high, left, right) => (value) => left + ((right - left) * (Math.min(Math.max(value, low), high) - low)) / (high - low || 1);
  const whisker = (at, low, high, y) => drawn("path", { d: `M${at(low)} ${y}v10m0-5H${at(high)}m0-5v10`, class: "limits" });

  /* Whether an interval goes on beyond the ends of an axis; it is drawn with an arrow there. */
  const beyond = (rows, least, most) => { const { low, high } = round(least, most); return rows.some((row) => row.low === null || row.high === null || row.low < low || row.high > high); };
  const onward = (x, y, way) => `M${x - 7 * way} ${y - 5}l${7 * way} 5l${-7 * way} 5`;
  function reaching(at, { low, high }, row, y) {
    const left = row.low === null || row.low < low, right = row.high === null || row.high > high, from = at(row.low ?? low), to = at(row.high ?? high);
    const end = (x, way, on) => (on ? onward(x, y, way) : `M${x} ${y - 5}v10`);
    return drawn("path", { d: `${end(from, -1, left)}M${from} ${y}H${to}${end(to, 1, right)}`, class: "limits" });
  }

  /* Bars with their intervals; below each the share among the answers as they arrived, and what false answers could do. */
  function bars(rows, label, least, most, written) {
    const [left, right, letters] = narrow() ? [120, 325, 13] : [170, 610, 22];
    const names = rows.map((row) => folded(row.label, letters)), tops = stacked(names.map((words) => Math.max(36, 16 * words.length + 8)));
    const ends = round(least, most), { low, high } = ends, height = tops.at(-1) + 26;
    const at = scale(low, high, left, right);
    const picture = canvas(height, label);
    axis(picture, at, ends, height - 22, written);
    rows.forEach((row, i) => {
      const y = tops[i] + 3, first = y + (names[i].length > 1 ? 11 : 14);
      names[i].forEach((text, j) => picture.append(drawn("text", { x: left - 8, y: first + 16 * j, "text-anchor": "end", class: "name" }, text)));
      const zero = at(Math.max(low, Math.min(0, high)));
      if (row.raw !== undefined && row.raw !== null) picture.append(drawn("rect", { x: zero, y: y + 17, width: Math.max(at(row.raw) - zero, 0), height: 6, class: "raw" }));
      if (row.value === null) { picture.append(drawn("text", { x: left + 4, y: y + 14, class: "tick" }, row.text)); return; }
      picture.append(drawn("rect", { x: Math.min(zero, at(row.value)), y: y + 3, width: Math.abs(at(row.value) - zero), height: 12, class: "share" }));
      picture.append(whisker(at, row.low, row.high, y + 4));
      if (row.down !== undefined && row.down !== null) picture.append(drawn("path", { d: `M${at(row.value + row.down)} ${y + 27}H${at(row.value + row.up)}`, class: "false" }));
      picture.append(drawn("text", { x: right + 8, y: y + 13, class: "tick" }, row.text));
    });
    return picture;
  }

  /* A dot with its interval for each row, the row's words above it; ``zero`` marks where nothing goes along. */
  function intervals(rows, label, least, greatest, written, zero = null) {
    const ends = round(least, greatest), { low, high } = ends;
    const names = rows.map((row) => folded(row.label, narrow() ? 46 : 96)), tops = stacked(names.map((words) => 28 + 16 * words.length));
    const [left, right] = [12, width() - 90], height = tops.at(-1) + 30;
    const at = scale(low, high, left, right);
    const picture = canvas(height, label);
    axis(picture, at, ends, height - 24, written);
    if (zero !== null && zero >= low && zero <= high) picture.append(drawn("line", { x1: at(zero), x2: at(zero), y1: 0, y2: height - 24, class: "zero" }));
    rows.forEach((row, i) => {
      const y = tops[i] + 16 * (names[i].length - 1);
      names[i].forEach((text, j) => picture.append(drawn("text", { x: left, y: tops[i] + 15 + 16 * j, class: "name halo" }, text)));
      picture.append(reaching(at, ends, row, y + 28));
      if (row.value !== null && row.value >= low && row.value <= high) picture.append(drawn("circle", { cx: at(row.value), cy: y + 28, r: 5, class: "share" }));
      picture.append(drawn("text", { x: right + 12, y: y + 32, class: "tick" }, row.text));
    });
    return picture;
  }

  /* Counts over time, the newest on the right. */
  function columns(values, label, first, last) {
    const all = width(), step = (all - 20) / values.length, most = Math.max(...values, 1);
    const picture = canvas(110, label);
    values.forEach((one, i) => picture.append(drawn("rect", { x: 10 + i * step, y: 90 - (80 * one) / most, width: Math.max(step - 2, 1), height: (80 * one) / most, class: "share" })));
    picture.append(drawn("text", { x: 10, y: 106, class: "tick" }, first), drawn("text", { x: all - 10, y: 106, "text-anchor": "end", class: "tick" }, last));
    return picture;
  }

  /* A colour for each class; of more classes than there are colours the largest have one, and the rest share the last. */
  function colours(weight) {
    const largest = [...weight.keys()].sort((a, b) => weight[b] - weight[a]).slice(0, weight.length > CLASSES ? CLASSES - 1 : CLASSES).sort((a, b) => a - b);
    return weight.map((_, i) => (largest.includes(i) ? `class${largest.indexOf(i)}` : "others"));
  }

  /* A tree from the top down: questions in bold, at every leaf the shares of the classes and the interval of the largest. */
  function tree(rows, label) {
    const [indent, letter, small, beside] = narrow() ? [14, 8, 7.4, 150] : [26, 7, 6, 430], all = width(), next = 18;
    const left = (row) => 6 + row.depth * indent;
    const below = rows.some((row) => row.shares && row.text.length > (all - beside - 8) / small); // where a share has no room beside its bar
    const right = below ? all - 12 : beside;
    const laid = rows.map((row) => {
      const names = folded(row.label, Math.floor((all - left(row)) / letter)), told = row.shares && below ? folded(row.text, Math.floor((all - left(row)) / small)) : [];
      return { ...row, names, told, foot: next * (names.length - 1), tall: 24 + next * (names.length - 1) + (row.shares ? 28 + next * told.length : 0) };
    });
    const picture = canvas(laid.reduce((sum, row) => sum + row.tall, 0) + 8, label);
    const stems = []; // where the row above at each depth stands
    let y = 4;
    for (const row of laid) {
      const x = left(row), bar = y + row.foot + 22;
      if (row.depth > 0) picture.append(drawn("path", { d: `M${x - indent + 5} ${stems[row.depth - 1]}V${y + 10}H${x - 3}`, class: "branch" }));
      row.names.forEach((text, i) => picture.append(drawn("text", { x, y: y + 15 + next * i, class: row.shares ? "name" : "name strong" }, text)));
      if (row.shares) {
        const at = scale(0, 1, x, right);
        let begin = 0, limits = null;
        if (!row.known) picture.append(drawn("rect", { x, y: bar, width: right - x, height: 16, class: "open" }));
        else row.shares.forEach((one, i) => {
          const from = begin, end = i === row.shares.length - 1; // the last share is measured from the right
          picture.append(drawn("rect", { x: at(from), y: bar, width: Math.max(at(from + one.value) - at(from), 0), height: 16, class: row.kinds[i] }));
          if (i === row.best && (end || from === 0)) limits = end ? whisker(at, 1 - one.high, 1 - one.low, bar + 3) : whisker(at, from + one.low, from + one.high, bar + 3);
          begin += one.value;
        });
        if (limits !== null) picture.append(limits);
        if (below) row.told.forEach((text, i) => picture.append(drawn("text", { x, y: bar + 32 + next * i, class: "tick" }, text)));
        else picture.append(drawn("text", { x: right + 8, y: bar + 12, class: "tick" }, row.text));
      }
      y += row.tall;
      stems[row.depth] = y - row.tall + row.foot + 19;
    }
    return picture;
  }

  /* How far apart places stand that are 1 apart: no further than boxes, and lines that pass them, have room in every row. */
  function apart(nodes, links, box) {
    const rows = new Map(), room = { box: box + 14, both: box / 2 + 14, line: 28 };
    const stand = ([x, y], isBox) => rows.set(y, [...(rows.get(y) ?? []), [x, isBox]]);
    nodes.forEach((node) => stand(node.place, true));
    links.forEach((link) => link.way.forEach((place) => stand(place, false)));
    let least = room.line;
    for (const row of rows.values()) {
      row.sort(([a], [b]) => a - b);
      row.slice(1).forEach(([x, isBox], i) => {
        const needs = isBox && row[i][1] ? room.box : isBox || row[i][1] ? room.both : room.line;
        if (x > row[i][0]) least = Math.max(least, needs / (x - row[i][0]));
      });
    }
    return Math.min(least, room.box);
  }

  /* Nodes at their places, parents above children; the thicker a link, the surer it is. */
  function network(nodes, links, label) {
    const names = new Map(nodes.map((node) => [node.name, folded(node.label, narrow() ? 13 : 16, 4)])), lines = Math.max(...[...names.values()].map((words) => words.length));
    const box = [122, 14 + 16 * lines], gap = [apart(nodes, links, box[0]), 56 + box[1]];
    const across = [...nodes.map((node) => node.place[0]), ...links.flatMap((link) => link.way.map((place) => place[0]))];
    const down = Math.max(...nodes.map((node) => node.place[1]));
    const first = Math.min(...across), own = Math.max((Math.max(...across) - first) * gap[0] + box[0] + 12, narrow() ? 300 : 420);
    const spare = (own - (Math.max(...across) - first) * gap[0]) / 2;
    const at = ([x, y]) => [spare + (x - first) * gap[0], 7 + box[1] / 2 + y * gap[1]];
    const picture = canvas(down * gap[1] + box[1] + 16, label, own);
    picture.classList.add("wide");
    picture.setAttribute("width", own);
    const head = drawn("marker", { id: "head", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 11, markerHeight: 11, markerUnits: "userSpaceOnUse", orient: "auto" });
    head.append(drawn("path", { d: "M0 0L10 5L0 10z", class: "head" }));
    const defs = drawn("defs");
    defs.append(head);
    picture.append(defs);
    const spot = new Map(nodes.map((node) => [node.name, at(node.place)]));
    for (const link of links) {
      const from = spot.get(link.parent), to = spot.get(link.child);
      const strength = 1 + Math.log10(1 - Math.log10(Math.max(link.p ?? 1e-10, 1e-300)));
      picture.append(drawn("path", { d: passing(from, link.way.map(at), to, box[1] / 2), class: "link", "stroke-width": strength.toFixed(2), "marker-end": "url(#head)" }));
    }
    for (const node of nodes) {
      const [x, y] = spot.get(node.name);
      picture.append(drawn("rect", { x: x - box[0] / 2, y: y - box[1] / 2, width: box[0], height: box[1], rx: 6, class: "node" }));
      const words = names.get(node.name);
      words.forEach((text, i) => picture.append(drawn("text", { x, y: y + 5 + 16 * (i - (words.length - 1) / 2), "text-anchor": "middle", class: "name" }, text)));
    }
    return picture;
  }

  /* A line from the foot of one box to the head of another: upright beside the boxes of the rows that it passes, else bent. */
  function passing(from, stops, to, half) {
    const bend = ([x0, y0], [x, y]) => `C${x0} ${(y0 + y) / 2} ${x} ${(y0 + y) / 2} ${x} ${y}`;
    let last = [from[0], from[1] + half], path = `M${last[0]} ${last[1]}`;
    for (const [x, y] of stops) {
      path += `${bend(last, [x, y - half - 6])}V${y + half + 6}`;
      last = [x, y + half + 6];
    }
    return path + bend(last, [to[0], to[1] - half - 2]);
  }

  /* What the height of a distribution counts: the share of a step where all are as wide, else of a stretch of a round length. */
  function per(edges) {
    const first = edges[1] - edges[0];
    const even = edges.every((edge, i) => i === 0 || Math.abs(edge - edges[i - 1] - first) < 1e-6 * Math.abs(first));
    const narrowest = Math.min(...edges.slice(1).map((end, i) => end - edges[i]));
    return { unit: even ? first : 10 ** Math.floor(Math.log10(narrowest) + 1e-9), even };
  }

  /* A distribution with its band, and the numbers as they arrived behind it; ``places``: of values with a step each, named in its middle. */
  function distribution(found, label, written, places) {
    const [left, right, bottom] = [10, width() - 10, 210];
    const edges = found.arrived ? [Math.min(found.edges[0], found.arrived.edges[0]), Math.max(found.edges.at(-1), found.arrived.edges.at(-1))] : [found.edges[0], found.edges.at(-1)];
    const most = Math.max(...found.height, ...(found.high ?? []), ...(found.arrived?.height ?? [])) || 1;
    const ends = round(edges[0], edges[1]), at = scale(ends.low, ends.high, left, right), up = (height) => bottom - (200 * Math.min(height, most)) / most;
    const picture = canvas(bottom + 22, label);
    axis(picture, places ? (value) => at(value + 0.5) : at, ends, bottom, written);
    const { unit } = per(found.edges), heights = round(0, most * unit);
    for (let tick = heights.step; tick <= most * unit; tick += heights.step) picture.append(
      drawn("line", { x1: left, x2: right, y1: up(tick / unit), y2: up(tick / unit), class: "axis" }),
      drawn("text", { x: left, y: up(tick / unit) - 3, class: "tick halo" }, percent(tick)));
    const steps = (heights, ends) => heights.map((height, i) => `${i ? "L" : "M"}${at(ends[i])} ${up(height)}H${at(ends[i + 1])}`).join("");
    if (found.low && found.high) {
      const back = [...found.low.keys()].reverse().map((i) => `L${at(found.edges[i + 1])} ${up(found.low[i])}H${at(found.edges[i])}`).join("");
      picture.append(drawn("path", { d: `${steps(found.high, found.edges)}${back}Z`, class: "band" }));
    }
    if (found.arrived) picture.append(drawn("path", { d: steps(found.arrived.height, found.arrived.edges), class: "raw" }));
    picture.append(drawn("path", { d: steps(found.height, found.edges), class: "line" }));
    return picture;
  }

  /* A table that scrolls in its own box; cells that begin with a digit or a sign stand to the right. */
  function table(label, heads, rows) {
    const numeric = heads.map((_, i) => rows.length > 0 && rows.every((row) => /^[-+−]?[\d.]|^unknown$|^not told$|^open to /.test(String(row[i] ?? "unknown"))));
    const kind = (i) => (numeric[i] ? { class: "num" } : {});
    return scrolling(label, element("table", {},
      element("thead", {}, element("tr", {}, ...heads.map((head, i) => element("th", { scope: "col", ...kind(i) }, head)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell, i) => (i === 0 && !numeric[0] ? element("th", { scope: "row" }, breakable(cell)) : element("td", kind(i), cell))))))));
  }

  const key = (...entries) => element("p", { class: "key" }, ...entries.map(([kind, text]) => element("span", { class: kind }, element("i"), document.createTextNode(text))));

  return { percent, whole, short, year, between, swing, bars, intervals, beyond, columns, tree, network, distribution, per, table, key, colours };
})();
