/* What a design gives: a verdict, a table of all questions, and one question looked at closely. */

"use strict";

const Results = (() => {
  const { element } = Elements;
  const { say, number, whole, percent, belief, atMost, points, table } = Page;

  const ASKED = ["all", "one", "two", "three"];
  const sent = (one) => (Page.has(`family_${one.family}`) ? say(`family_${one.family}`) : one.channel);

  /* The verdict in two sentences, whichever wish led to it. */
  function verdict(found) {
    const widths = found.attributes.map((one) => one.half_width).filter((width) => width !== null && width < 1);
    const exact = widths.length === 0 ? say("verdict_nothing") : Math.max(...widths) < 1.02 * Math.min(...widths)
      ? say("verdict_exact", { width: points(Math.max(...widths)), records: whole(found.records) })
      : say("verdict_between", { least: points(Math.min(...widths)), most: points(Math.max(...widths)), records: whole(found.records) });
    const ten = found.beliefs.find(({ before }) => before === 0.1);
    const whom = found.attributes.length > 1 ? "verdict_person" : "verdict_answer";
    return found.gamma === null ? [say("verdict_clear"), exact] : [say(whom, { gamma: atMost(found.gamma) }) + " " + say("verdict_suspicion", { after: belief(ten.after, found.gamma) }), exact];
  }

  function overview(found, titleOf, by) {
    const noted = (text, note) => (note === "" ? text : element("span", {}, text, element("br"), element("small", {}, note)));
    const rows = found.attributes.map((one) => [titleOf(one.name), noted(sent(one), one.asked < 0.999 ? say("asked", { share: percent(one.asked) }) : ""), atMost(one.gamma), belief(one.suspicion, one.gamma),
      one.guess === null ? "" : noted(percent(one.guess), say("blind", { blind: percent(one.blind) })), noted(points(one.half_width), { mean: say("of_mean"), cdf: say("of_cdf"), shares: "" }[one.target])]);
    if (by) found.attributes.forEach((one, i) => rows[i].push(one.name === by ? "" : points(one.within)));
    const heads = [say("question"), say("what_is_sent"), say("col_gamma"), say("col_suspicion"), say("col_guess"), say("col_exact"), ...(by ? [say("col_within", { by: titleOf(by) })] : [])];
    const rare = found.attributes.filter((one) => one.only_common).map((one) => say("only_common", { title: titleOf(one.name), width: percent(one.half_width ?? 1) }));
    if (!found.askable) rare.push(say("not_askable"));
    return [table(say("overview"), heads, rows, [2, 3, 4, 5, 6]), element("p", { class: "about" }, say("overview_text")), ...rare.map((text) => element("p", { class: "callout" }, text))];
  }

  /* Under a bound on the whole person: the ways to ask side by side. */
  function ways(found) {
    if (found.alternatives.length === 0) return [];
    const told = (error) => (error === null ? say("untold") : number(error));
    const rows = found.alternatives.map((one) => [say(`ask_${ASKED[one.ask ?? 0]}`) + (one.chosen ? ` · ${say("chosen")}` : ""), whole(one.forms), told(one.single), told(one.pair)]);
    return [element("h3", {}, say("ways")), element("p", {}, say("ways_text")), table(say("ways"), [say("way"), say("forms"), say("error_single"), say("error_pair")], rows, [1, 2, 3])];
  }

  /* The odds of one question, in the words and pictures that a respondent sees. */
  function odds(closer, pointsOf) {
    if (closer.plan === null) return [];
    const attributes = closer.names.map((name) => ({ points: pointsOf(name) }));
    return [element("p", { class: "about" }, say("odds_lead")), element("div", { id: "odds" }, ...Explain.below(closer, attributes).flat())];
  }

  function closely(found, titleOf, pointsOf) {
    const { closer } = found;
    const one = found.attributes.find(({ name }) => name === closer.attribute);
    const person = closer.curve !== null && closer.curve.of === "person";
    const together = closer.names.length > 1 ? element("p", {}, say("together", { names: closer.names.map(titleOf).join(", "), share: percent(closer.share) })) : null;
    const gamma = person ? found.gamma : one.gamma;
    return [together, ...odds(closer, pointsOf), Charts.matrix(closer),
      element("div", { class: "panels" }, Charts.beliefs(closer, person, gamma), closer.curve === null ? element("p", { class: "about" }, say("no_curve")) : Charts.tradeoff(closer.curve, gamma, one.half_width, person ? found.alternatives.map((other) => ASKED[other.ask ?? 0]) : []))].filter(Boolean);
  }

  return { verdict, overview, ways, closely };
})();
