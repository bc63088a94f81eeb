/* What released codes stand for, in words. */

"use strict";

const Meaning = (() => {
  const { say, number } = Survey;

  /* Of a group, column by column: [title, text]. */
  function of(group, asked, answers) {
    const released = group.columns.map((column) => answers[column]);
    const attributes = group.names.map((name) => asked.attributes[name]);
    const titles = group.names.map((name, i) => attributes[i].text || name);
    return described(group.plan, attributes, titles, released);
  }

  function described(plan, attributes, titles, released) {
    if (plan.kind === "product") {
      const out = [];
      let attribute = 0, column = 0;
      for (const part of plan.channels) {
        const own = [attribute, attribute += part.sizes.length];
        out.push(...described(part, attributes.slice(...own), titles.slice(...own), released.slice(column, column += part.outputs.length)));
      }
      return out;
    }
    const title = titles.join(" + "), code = released[0];
    if (plan.kind === "noise") return [[title, number(code)]];
    if (plan.kind === "prefixes") return [[title, text(plan, code)]];
    if (plan.scores) return [[title, score(plan, attributes[0], code)]];
    if (plan.outputs.length === titles.length && titles.length > 1) return titles.map((one, i) => [one, Questions.labelOf(attributes[i], released[i])]);
    const holders = Odds.members(plan, code) ?? (Odds.own(plan)?.values ? [code] : null);
    return [[title, holders === null ? say("code", { code }) : listed(attributes, plan.sizes, holders)]];
  }

  /* A score on the scale of the true number, where that is a number. */
  function score(plan, { points, low, high }, code) {
    if (plan.scores[code] === null) return say("no_answer");
    return points ? say("score", { score: number((low + high) / 2 + ((high - low) / 2) * plan.scores[code]) }) : say("code", { code });
  }

  function text(plan, code) {
    const level = Math.floor(code / Channels.count(plan.inner.outputs));
    const { letters } = plan.levels[level];
    return letters < plan.longest ? say("text_begin", { code, letters }) : say("text_whole", { code });
  }

  function listed(attributes, sizes, holders) {
    const one = (code) => {
      const parts = [];
      for (let i = sizes.length - 1; i >= 0; i--) { parts.unshift(Questions.labelOf(attributes[i], code % sizes[i])); code = Math.floor(code / sizes[i]); }
      return parts.join(" / ");
    };
    if (holders.length === 1) return one(holders[0]);
    const row = holders.every((code, i) => i === 0 || code === holders[i - 1] + 1);
    const { edges, ends } = attributes[0];
    const [first, last] = [holders[0], holders[holders.length - 1]];
    if (row && edges && sizes.length === 1 && last < edges.length - 1) return say("range", { first: number(edges[first]), last: number(ends[last]) });
    if (row && holders.length > 2 && (attributes[0].ordered || attributes[0].kind !== "choice")) return say("range", { first: one(first), last: one(last) });
    return say("one_of", { labels: holders.map(one).join(", ") });
  }

  return { of };
})();
