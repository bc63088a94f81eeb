/* What every part of the survey page uses: its words in the reader's language, and one screen after the other. */

"use strict";

const Survey = (() => {
  const { element } = Elements;
  const languages = { en: "English", de: "Deutsch" };
  const main = document.getElementById("text");
  let words = {};

  const say = (key, values = {}) => words[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const written = (value, digits) => value.toLocaleString(document.documentElement.lang, { useGrouping: "min2", ...digits });
  const number = (value) => written(value, { maximumSignificantDigits: 6 });
  const limit = (value) => written(value, { maximumSignificantDigits: 17 }); // as it is, because it is a rule

  async function speak(code) {
    const known = Object.hasOwn(languages, code) ? code : "en";
    words = await (await fetch(`/assets/words/${known}.json`)).json();
    document.documentElement.lang = known;
  }

  /* Show these parts instead of what is there, under the menu of languages; `changed` is called when another one was chosen. */
  function show(changed, ...parts) {
    const menu = element("select", { "aria-label": say("languages"), onchange: async () => { changed.before?.(); await speak(menu.value); await changed.after(); } },
      ...Object.entries(languages).map(([code, name]) => element("option", { value: code, selected: code === document.documentElement.lang, lang: code }, name)));
    main.replaceChildren(element("p", { class: "languages" }, menu), ...parts.filter((part) => part !== null));
    const heading = main.querySelector("h1");
    if (heading) { heading.tabIndex = -1; heading.focus(); }
    window.scrollTo(0, 0);
  }

  return { languages, say, number, limit, speak, show };
})();
