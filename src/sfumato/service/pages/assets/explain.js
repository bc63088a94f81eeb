/* What a respondent reads before answering: who can see what, and the odds of each answer, true for its very channel. */

"use strict";

const Explain = (() => {
  const { element, scrolling } = Elements;
  const { say, number } = Survey;
  const short = (value) => number(Number(value.toPrecision(3)));
  const atMost = (value) => number(roundedUp(value));

  /* The least number of so many digits that is no lower, as the report has it: what follows "at most" is never exceeded. */
  function roundedUp(value, digits = 3) {
    const power = Number(value.toExponential().split("e")[1]) - digits + 1, scaled = value * 10 ** -power;
    return Number(`${Math.ceil(scaled - 1e-9 * scaled)}e${power}`);
  }

  const clear = (plan) => (Odds.own(plan)?.least ?? 0) > 1 - 1e-12;
  const partsOf = (plan) => (plan.kind === "product" ? plan.channels.flatMap(partsOf) : [plan]);

  /* The label of consequences, and the bound on all answers together; epsilon is one click away. */
  function label(about, asked, groups) {
    const plans = groups.flatMap((group) => partsOf(group.plan));
    const some = plans.some(clear), loose = plans.some((plan) => plan.gamma === null && !clear(plan));
    const row = (title, text) => element("tr", {}, element("th", { scope: "row" }, title), element("td", {}, text));
    const sent = [say(some ? "server_see_some" : "server_see"), ...(some || loose ? [] : [say("server_unsure")]), say("server_address"), ...(about.access === "invitation" ? [say("server_invited")] : [])].join(" ");
    const epsilon = about.gamma === null ? "∞" : atMost(Math.log(about.gamma));
    return [
      element("h2", {}, say("label")),
      scrolling(say("label"), element("table", {}, element("tbody", {},
        row(say("you"), [say(some ? "you_see_some" : "you_see"), ...(loose ? [say("you_see_loose")] : [])].join(" ")), row(say("server"), sent), row(say("results"), say("results_see"))))),
      element("p", {}, about.gamma === null ? say("record_unbounded") : say("record", { gamma: atMost(about.gamma) })),
      element("details", {}, element("summary", {}, say("epsilon")), element("p", {}, say("epsilon_text", { epsilon, fingerprint: asked.fingerprint }))),
    ];
  }

  /* For each question of a group what is said below it: most often one sentence and its pictures below the last question. */
  function below(group, attributes) {
    const out = group.names.map(() => []);
    let first = 0;
    for (const part of group.plan.kind === "product" ? group.plan.channels : [group.plan]) {
      const many = part.sizes?.length ?? 1;
      out[first + many - 1] = odds(part, attributes.slice(first, first + many));
      first += many;
    }
    return out;
  }

  function odds(plan, attributes) {
    const said = (key, values = {}) => element("p", { class: "odds" }, say(key, values));
    if (plan.kind === "noise") return noise(plan, said);
    const gamma = plan.gamma === null ? said("odds_revealing") : said("odds_bound", { gamma: atMost(plan.gamma) });
    const found = Odds.own(plan);
    if (plan.scores) return [said("odds_score"), gamma];
    if (found === null) return [said("odds_unknown"), gamma];
    if (clear(plan)) return [said("odds_clear")];
    const share = (one) => Odds.hundred(one, number);
    const [least, most] = [share(found.least), share(found.most)];
    const own = least === most ? least : say("between", { least, most });
    return [said(sentence(plan, attributes, found), { own, points: attributes[0].points, count: attributes.length }),
      plan.gamma === null ? gamma : null,
      pictures(plan, found, least !== most)].filter((part) => part !== null);
  }

  function sentence(plan, attributes, found) {
    if (plan.kind === "prefixes") return "odds_text";
    if (plan.kind === "longitudinal") return "odds_class";
    if (!found.values) return attributes.length > 1 ? "odds_set_together" : "odds_set";
    if (attributes.length > 1) return "odds_together";
    return attributes[0].points ? "odds_point" : "odds_value";
  }

  const key = (kind, text) => element("span", { class: kind }, element("i"), document.createTextNode(text));

  /* Both pictures are of the answer that is kept most often, which is hidden least. */
  function pictures(plan, found, differ) {
    const own = Odds.hundred(found.most, number);
    return element("div", { class: "pictures" },
      Odds.people(found.most, say("picture", { own })),
      Odds.spinner(Odds.sectors(plan), say("spinner", { own })),
      element("div", { class: "key" }, key("own", say("key_own")), key("other", say("key_other")), differ ? element("span", {}, say("key_most")) : null));
  }

  function noise(plan, said) {
    const [low, high] = plan.likely.map(short);
    return [said("odds_noise", { low, high }), said("odds_noise_bound"),
      element("div", { class: "pictures" }, Odds.people(0.9, say("picture_noise", { low, high })),
        element("div", { class: "key" }, key("own", say("key_near", { low, high })), key("other", say("key_far"))))];
  }

  return { label, below, roundedUp };
})();
