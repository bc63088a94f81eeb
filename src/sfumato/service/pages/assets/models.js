/* Models on demand: a tree, rules, a network, a regression, a distribution. The server learns them; here they are drawn. */

"use strict";

const Models = ({ read, part, title, worded, attributes, refusal }) => {
  const { element, scrolling, listed, sentence, together: enumerated } = Elements;
  const { percent, whole, short, year, between } = Charts;
  const DRAWN = 15; // rules in the picture; the table holds more
  const LARGE = 60; // values of a question that is not taken unless it is chosen

  const coded = attributes.filter((one) => one.size !== null).map((one) => one.name);
  const ordered = attributes.filter((one) => one.ordered || one.noise).map((one) => one.name);
  const boxes = coded.map((name) => {
    const few = (attributes.find((one) => one.name === name).size ?? 0) <= LARGE;
    const box = element("input", { type: "checkbox", value: name });
    box.checked = few;
    return [element("label", { class: "choice" }, box, title(name)), box];
  });
  let now = 0, before = Promise.resolve(); // what was asked for before, once it is there

  const taken = () => boxes.filter(([, box]) => box.checked).map(([, box]) => box.value);
  const question = (name) => (/[?:]$/.test(title(name)) ? title(name) : `${title(name)}:`);
  /* No false answers take a share below 0 or above 1. */
  const moved = (one, share) => (one.down === null ? "unknown" : Charts.swing((100 * Math.min(-one.down, Math.max(share, 0))).toFixed(1), (100 * Math.min(one.up, Math.max(1 - share, 0))).toFixed(1)));
  const ALL_POSSIBLE = 0.95; // limits that leave so much open tell nothing
  const told = (one) => one.high - one.low < ALL_POSSIBLE;
  const written = (one) => (told(one) ? percent(one.value) : "not told");

  /* The values of a branch: neighbours as a stretch, if they are three or bins. */
  function together(name, values) {
    const one = attributes.find((own) => own.name === name), order = one.values ?? [], runs = [];
    for (const value of values) {
      const run = runs.at(-1);
      if (one.ordered && run && value !== null && run.at(-1) !== null && order.indexOf(value) === order.indexOf(run.at(-1)) + 1) run.push(value);
      else runs.push([value]);
    }
    const ends = (run) => [worded(name, run[0]), worded(name, run.at(-1))];
    return runs.map((run) => {
      if (run.length < 2) return worded(name, run[0]);
      const [first, last] = ends(run), low = /^(\[\S+ to ).*[)\]]$/.exec(first), high = /^\[\S+ to (\S+[)\]])$/.exec(last);
      if (low && high) return low[1] + high[1];
      return run.length > 2 ? `${first} to ${last}` : `${first}, ${last}`;
    }).join(", ");
  }

  function menu(label, names, none = null, chosen = null) {
    const select = element("select", { "aria-label": label }, ...(none === null ? [] : [element("option", { value: "" }, none)]), ...names.map((name) => element("option", { value: name }, title(name))));
    if (chosen) select.value = chosen;
    return [element("label", {}, label, select), select];
  }

  function share(label, value) {
    const input = element("input", { type: "number", min: "1", max: "99", step: "1", value, "aria-label": label });
    return [element("label", {}, label, input), () => Math.min(Math.max(Number(input.value) || 1, 1), 99) / 100];
  }

  /* The server learns one model at a time, and sends away who asks for many: the page asks for one after the other. */
  function inTurn(work) {
    const own = before.then(work);
    before = own.catch(() => {});
    return own;
  }

  /* A model is learned when its button is pressed, and stays as it is until it is pressed again. */
  function model(heading, explained, button, controls, ask, draw) {
    const status = element("p", { class: "about", role: "status" });
    const go = element("button", { type: "button" }, button);
    let found = null, problem = null;
    const made = part("h3", heading, [...controls, go], async () => {
      if (problem) throw problem;
      if (found === null) return { picture: "" };
      const drawing = draw(found);
      return { ...drawing, note: [drawing.note, ...found.notes.map(sentence)].filter(Boolean).join(" "), tell: told };
    }, status);
    const told = () => { if (!go.disabled) status.textContent = found === null ? "" : found.answers === now ? `Learned from ${whole(found.answers)} answers.` : `Learned from ${whole(found.answers)} answers. There are ${whole(now)} now: press the button again to take them in.`; };
    go.onclick = async () => {
      const path = `/models/${ask(taken())}`;
      go.disabled = true;
      status.hidden = false;
      status.textContent = "Waiting for the model that was asked for before it …";
      try {
        found = await inTurn(() => { status.textContent = "Learning, which may take up to a minute …"; return read(path); });
        problem = null;
      } catch (refused) {
        if (refused instanceof TypeError) problem = refusal("The server does not answer. Try again later.");
        else problem = /leave (it|one of them) out/.test(refused.message) ? refusal(`${refused.message} Untick it at “Questions that models look at”, above.`) : refused;
        found = null;
      }
      go.disabled = false;
      await made.update();
    };
    made.node.insertBefore(element("p", {}, explained), made.node.children[1]);
    made.update();
    return { ...made, told, learned: () => found !== null };
  }

  // ---- Tree ----------------------------------------------------------------------------------------------------------------

  function walk(found, node, depth, name, rows) {
    const label = name === null ? "" : together(name, node.values);
    if (node.question === null) {
      const best = node.classes.reduce((most, one, i) => (one.value > node.classes[most].value ? i : most), 0), sure = node.classes[best];
      rows.push({ depth, label: label || "No question asked", node, best, shares: node.classes, known: told(sure), text: `${worded(found.target, found.classes[best])}${told(sure) ? `: ${percent(sure.value)} (${between(sure, percent)})` : ": share not told"}` });
      return rows;
    }
    rows.push({ depth, label: `${label}${label ? " → " : ""}${question(node.question)}`, node });
    for (const child of node.children) walk(found, child, depth + 1, node.question, rows);
    return rows;
  }

  function paths(found, node, before, rows) {
    if (node.question === null) {
      node.classes.forEach((one, i) => rows.push([before || "everybody", worded(found.target, found.classes[i]), written(one), between(one, percent), moved(node.false[i], one.value), `${written(node.share)} (${between(node.share, percent)})`]));
      return rows;
    }
    for (const child of node.children) paths(found, child, `${before}${before ? ", " : ""}${question(node.question)} ${together(node.question, child.values)}`, rows);
    return rows;
  }

  function drawTree(found) {
    const rows = walk(found, found.root, 0, null, []), leaves = rows.filter((row) => row.shares);
    const weight = found.classes.map((_, i) => leaves.reduce((sum, row) => sum + (row.node.share.value ?? 0) * row.shares[i].value, 0));
    const kinds = Charts.colours(weight);
    for (const row of leaves) row.kinds = kinds;
    const legend = Charts.key(...found.classes.map((value, i) => [kinds[i], worded(found.target, value)]).filter(([kind]) => kind !== "others"), ...(kinds.includes("others") ? [["others", "others"]] : []));
    return {
      picture: element("div", {}, legend, Charts.tree(rows, `A tree that tells ${title(found.target)}, with ${found.leaves} leaves`)),
      note: found.leaves > 1 ? `Every bar shows the shares of ${title(found.target)} at a leaf, and the 95 % interval of the largest share where it begins or ends the bar; a bar without them is not told. Answers that lead to the same are taken together. How often the tree is right, and whether more often than the commonest answer alone, is not judged here: sfumato learn tree tells it from the downloaded release.` : `A tree would not tell ${title(found.target)} better than its commonest answer does, by all that these answers show. Single links are found by the network and the rules.`,
      label: "The leaves of the tree", heads: ["Leaf", title(found.target), "Share", "95 % interval", "1 % false answers could move it by at most, points", "Share of all"],
      rows: paths(found, found.root, "", []),
    };
  }

  // ---- Rules ---------------------------------------------------------------------------------------------------------------

  /* An item reads "name=value", or the value alone. */
  function item(text) {
    const at = text.indexOf("="), name = at < 0 ? null : text.slice(0, at);
    return name !== null && attributes.some((one) => one.name === name) ? `${question(name)} ${worded(name, text.slice(at + 1))}` : attributes.some((one) => one.name === text) ? title(text) : text;
  }

  const spoken = (rule) => `${rule.if.map(item).join(" + ")} ⇒ ${rule.then.map(item).join(" + ")}`;

  function drawRules(found) {
    const hidden = found.hidden ? `${whole(found.hidden)} ${found.hidden === 1 ? "rule is" : "rules are"} not shown: the second part may be no more frequent there than among all.` : "";
    if (!found.rules.length) return { picture: element("p", { class: "callout" }, hidden || (found.shortfall ?? "No rule is sure to hold so often. Try a smaller support or confidence.")) };
    const rows = found.rules.slice(0, DRAWN).map((rule) => ({ label: spoken(rule), ...rule.confidence, text: percent(rule.confidence.value) }));
    return {
      picture: Charts.intervals(rows, "Confidence of the rules", 0, 1, percent),
      note: `Drawn is how often the second part is true of those for whom the first is, with its interval. ${found.found > rows.length ? `These are the ${rows.length} surest of ${whole(found.found)} rules.` : ""} ${hidden}`,
      label: "Rules", heads: ["Rule", "Confidence", "interval", "1 % false answers could move it by at most, points", "Support", "interval", "by at most, points", "Lift", "interval"],
      rows: found.rules.map((rule) => [spoken(rule), percent(rule.confidence.value), between(rule.confidence, percent), moved(rule.confidence_false, rule.confidence.value), percent(rule.support.value), between(rule.support, percent), moved(rule.support_false, rule.support.value), short(rule.lift.value), between(rule.lift, short)]),
    };
  }

  // ---- Network -------------------------------------------------------------------------------------------------------------

  const caption = (node) => `${node.label}${node.parents.length ? `, given ${enumerated(node.parents.map(title))}` : ""}`;

  function drawNetwork(found) {
    const nodes = found.nodes.map((node) => ({ ...node, label: title(node.name) }));
    const links = found.links.map((link) => [title(link.parent), title(link.child), link.p === null ? "unknown" : link.p < 1e-4 ? "< 0.0001" : link.p.toFixed(4), link.trend === null ? "" : link.trend > 0 ? "rise together" : "one falls as the other rises"]);
    const tables = nodes.filter((node) => node.table).map((node) => element("details", {}, element("summary", {}, caption(node)),
      Charts.table(`Probabilities of ${node.label}`, [...node.parents.map(title), node.label, "Probability", "95 % interval", "1 % false answers could move it by at most, points"],
        node.table.map((row) => [...row.given.map((value, i) => worded(node.parents[i], value)), worded(node.name, row.value), written(row.probability), between(row.probability, percent), moved(row.false, row.probability.value)]))));
    const values = (name) => attributes.find((one) => one.name === name)?.size ?? 0;
    const large = nodes.filter((node) => !node.table).map((node) => element("p", { class: "about" }, `${caption(node)}: ${whole([node.name, ...node.parents].reduce((all, name) => all * values(name), 1))} rows, not shown. The downloaded release tells them: sfumato learn bayesnet.`));
    const drawn = scrolling("The network", Charts.network(nodes, found.links, `A network of ${nodes.length} questions with ${links.length} ${links.length === 1 ? "link" : "links"}`));
    requestAnimationFrame(() => { drawn.scrollLeft = (drawn.scrollWidth - drawn.clientWidth) / 2; }); // the middle first, where it is too wide
    return {
      picture: element("div", {}, drawn,
        element("h4", {}, "Probabilities"), ...tables, ...large),
      note: links.length ? "The thicker a link, the surer it is. An arrow says that two questions go along, not that one causes the other." : "No two questions are sure to go along.",
      label: "The links of the network", heads: ["From", "To", "p-value", "Direction"], rows: links,
    };
  }

  // ---- Regression ----------------------------------------------------------------------------------------------------------

  const FAMILIES = { gaussian: "A coefficient says by how much the mean changes.", logistic: "A coefficient is a change of log odds: above 0 it becomes likelier.", ordinal: "A coefficient above 0 says that higher values become likelier." };

  function drawRegression(found) {
    const rows = found.terms.filter((one) => !one.intercept).map((one) => ({ label: item(one.term), ...one.coefficient, text: short(one.coefficient.value) }));
    const event = found.event === null ? "" : ` Explained are the odds of “${worded(found.target, found.event)}”.`;
    return {
      picture: Charts.intervals(rows, `What goes along with ${title(found.target)}`, ...found.reach, short, 0),
      note: `${FAMILIES[found.family]}${event} Where an interval holds 0, nothing is sure.${Charts.beyond(rows, ...found.reach) ? " Where it goes on beyond the picture, it ends in an arrow: the table has its ends." : ""}`,
      label: "Coefficients", heads: ["Term", "Coefficient", "Standard error", "95 % interval", "1 % false answers could move it by at most"],
      rows: found.terms.map((one) => [item(one.term), short(one.coefficient.value), short(one.sd), between(one.coefficient, short), one.false.down === null ? "unknown" : Charts.swing(short(-one.false.down), short(one.false.up))]),
    };
  }

  // ---- Distribution --------------------------------------------------------------------------------------------------------

  function drawDistribution(found) {
    const legend = Charts.key(["line", "reconstructed"], ["band", "95 % band, point by point, if there are no heaps"], ...(found.arrived ? [["raw", "the numbers as they arrived"]] : []));
    const { even, unit } = Charts.per(found.edges);
    const wide = found.edges.slice(1).map((end, i) => end - found.edges[i]);
    const own = attributes.find((one) => one.name === found.target), values = own.kind === "numeric" ? null : own.values; // the others are drawn at their places
    const written = found.years ? year : short;
    const place = (value) => (values === null ? written(value) : Number.isInteger(value) && value < values.length ? worded(found.target, values[value]) : "");
    const ends = (i) => {
      if (values === null) return [written(found.edges[i]), written(found.edges[i + 1])];
      return [[...new Set([place(found.edges[i]), place(found.edges[i + 1] - 1)])].join(" to ")]; // a cell may hold several values
    };
    return {
      picture: element("div", {}, legend, Charts.distribution(found, `The distribution of ${title(found.target)}`, place, values !== null)),
      note: `The height is the share of each ${even ? "step" : `stretch of ${short(unit)}`}. ${own.kind !== "numeric" ? "" : `Mean ${written(found.mean)}, standard deviation ${short(found.sd)} of the reconstructed distribution as it is drawn, level within each step. These two have no intervals, and may be far off where steps are wide: Means tells a mean with its interval.`}`,
      label: `The distribution of ${title(found.target)}`, heads: [...(values === null ? ["From", "To"] : ["Value"]), "Share", "95 % band"],
      rows: found.height.map((height, i) => [...ends(i), percent(height * wide[i]), found.low ? `${percent(found.low[i] * wide[i])} to ${percent(found.high[i] * wide[i])}` : "unknown"]),
    };
  }

  // ---- Together ------------------------------------------------------------------------------------------------------------

  const target = coded.at(-1) ?? "";
  const [treeMenu, tree] = menu("Tell", coded, null, target);
  const [ruleMenu, rule] = menu("Only about", coded, "everything");
  const [supportBox, support] = share("Support, % of all", "5"), [confidenceBox, confidence] = share("Confidence, %", "50");
  const [regressionMenu, explained] = menu("Explain", coded, null, target);
  const odds = element("select", { "aria-label": "The odds of" }), oddsLabel = element("label", {}, "The odds of", odds);
  const unordered = () => { const one = attributes.find((own) => own.name === explained.value); return one && !one.ordered && one.values !== null ? one.values.filter((value) => value !== null) : []; };
  explained.onchange = () => {
    odds.replaceChildren(...unordered().map((value) => element("option", { value }, worded(explained.value, value))));
    odds.value = unordered()[1] ?? "";
    oddsLabel.hidden = !unordered().length;
  };
  explained.onchange();
  const [shapeMenu, shape] = menu("Of", ordered);
  const made = [
    coded.length > 1 ? model("A tree", "Questions that tell one thing from the others, the most telling first.", "Grow the tree", [treeMenu], (names) => `tree?target=${encodeURIComponent(tree.value)}&names=${listed(...names)}`, drawTree) : null,
    coded.length > 1 ? model("Rules", "What goes along with what: of those who say the first, so many say the second.", "Find rules", [ruleMenu, supportBox, confidenceBox], (names) => `rules?names=${listed(...names)}${rule.value ? `&target=${encodeURIComponent(rule.value)}` : ""}&support=${support()}&confidence=${confidence()}`, drawRules) : null,
    coded.length > 1 ? model("A network", "Which questions hang together directly, and which only through others.", "Draw the network", [], (names) => `network?names=${listed(...names)}`, drawNetwork) : null,
    coded.length > 1 ? model("A regression", "How one thing changes with each of the others, the rest held equal.", "Fit the regression", [regressionMenu, oddsLabel], (names) => `regression?target=${encodeURIComponent(explained.value)}&names=${listed(...names)}${unordered().length ? `&event=${encodeURIComponent(odds.value)}` : ""}`, drawRegression) : null,
    ordered.length ? model("A distribution", "The shape of an ordered quantity, reconstructed from the changed answers.", "Draw the distribution", [shapeMenu], () => `distribution?target=${encodeURIComponent(shape.value)}`, drawDistribution) : null,
  ].filter(Boolean);

  const chooser = element("details", {}, element("summary", {}, "Questions that models look at"), element("fieldset", {}, element("legend", {}, "Look at"), ...boxes.map(([label]) => label)));
  return {
    node: element("section", {}, element("h2", {}, "Models"), element("p", {}, "Learned from the changed answers when you press a button. Each number has an interval that holds however often you look; the band of a distribution is no such interval."), coded.length > 1 ? chooser : null, ...made.map((one) => one.node)),
    arrived: (total) => { now = total; for (const one of made) one.told(); },
    shown: () => made.filter((one) => one.learned()),
  };
};
