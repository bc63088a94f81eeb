/* The questions as a form: choices, menus, numbers and texts; what stands in it, and what is wrong with it. */

"use strict";

const Questions = (() => {
  const { element } = Elements;
  const { say, number, limit } = Survey;
  const FEW = 8; // so many choices stand in a list; more of them in a menu
  const UNKEPT = { autocomplete: "off" }; // on each field: of a menu, Firefox does not ask its form before it writes down what was chosen

  const pointOf = (attribute, code) => attribute.low + (code * (attribute.high - attribute.low)) / (attribute.points - 1);

  /* A code of an attribute in words. */
  function labelOf(attribute, code) {
    const label = attribute.labels ? attribute.labels[code] : null;
    if (attribute.kind === "number" && code < attribute.ends.length) {
      const [first, last] = [attribute.edges[code], attribute.ends[code]];
      return first === last ? number(first) : say("range", { first: number(first), last: number(last) });
    }
    if (label !== null && label !== undefined) return Object.hasOwn(attribute.words, label) ? attribute.words[label] : label;
    if (attribute.nullable && code === attribute.size - 1) return say("no_answer");
    return number(pointOf(attribute, code));
  }

  function question(attribute, name, index) {
    const help = attribute.help ? element("p", { id: `h${index}` }, attribute.help) : null;
    const part = element("fieldset", { id: `q${index}`, ...(help ? { "aria-describedby": help.id } : {}) }, element("legend", {}, attribute.text || name), help);
    if (attribute.kind === "text") part.append(...textBox(attribute, index));
    else if (attribute.kind !== "choice") part.append(...numberBox(attribute, index));
    else if (attribute.size <= FEW) part.append(...attribute.labels.map((_, code) => choice(attribute, code, index)));
    else part.append(menu(attribute, name, index));
    part.append(element("p", { class: "problem", id: `p${index}`, role: "alert" }));
    return part;
  }

  function choice(attribute, code, index) {
    const button = element("input", { ...UNKEPT, type: "radio", name: `a${index}`, value: String(code), id: `a${index}-${code}` });
    return element("div", { class: "choice" }, button, element("label", { for: button.id }, labelOf(attribute, code)));
  }

  function menu(attribute, name, index) {
    return element("select", { ...UNKEPT, id: `a${index}`, "aria-label": attribute.text || name },
      element("option", { value: "" }, say("choose")),
      ...attribute.labels.map((_, code) => element("option", { value: String(code) }, labelOf(attribute, code))));
  }

  const sort = (attribute) => (attribute.step === 1 ? "wholes" : attribute.step ? "multiples" : "numbers");
  const inSteps = (attribute, answer) => !attribute.step || Math.abs(answer / attribute.step - Math.round(answer / attribute.step)) < 1e-6;

  function numberBox(attribute, index) {
    const limits = { low: limit(attribute.low), high: limit(attribute.high), step: attribute.step && limit(attribute.step) };
    const box = element("input", { ...UNKEPT, type: "number", step: "any", inputmode: attribute.step === 1 && attribute.low >= 0 ? "numeric" : "decimal", id: `a${index}` });
    return boxed(box, say(`between_${sort(attribute)}`, limits) + (attribute.unit ? ` (${attribute.unit})` : ""), attribute, index);
  }

  /* A letter that the alphabet has in the other case only is taken in that case: phones begin words with a capital. */
  function textBox(attribute, index) {
    const alphabet = [...attribute.alphabet];
    const folded = (letter) => [letter, letter.toLowerCase(), letter.toUpperCase()].find((one) => alphabet.includes(one)) ?? letter;
    const box = element("input", { ...UNKEPT, type: "text", id: `a${index}`, autocapitalize: "none", spellcheck: "false",
      onchange: () => { box.value = [...box.value].map(folded).join(""); } });
    return boxed(box, say("text_limits", { longest: attribute.longest, alphabet: attribute.alphabet }), attribute, index);
  }

  function boxed(box, text, attribute, index) {
    const out = [element("p", {}, element("label", { for: box.id }, `${text} `), box)];
    if (attribute.nullable) {
      const none = element("input", { ...UNKEPT, type: "checkbox", id: `a${index}-none`, onchange: () => { box.disabled = none.checked; } });
      out.push(element("div", { class: "choice" }, none, element("label", { for: none.id }, say("no_answer"))));
    }
    return out;
  }

  /* What stands in the form for one question: a place, a number, a text, null for no answer; undefined where nothing stands. */
  function read(attribute, index) {
    if (attribute.kind !== "choice") {
      if (document.getElementById(`a${index}-none`)?.checked) return null;
      const box = document.getElementById(`a${index}`);
      if (attribute.kind === "text") box.onchange();
      const text = box.value.trim();
      if (text === "") return undefined;
      return attribute.kind === "text" ? text : Number(text);
    }
    const chosen = attribute.size <= FEW ? document.querySelector(`input[name="a${index}"]:checked`)?.value : document.getElementById(`a${index}`).value;
    if (!chosen) return undefined;
    const code = Number(chosen);
    return attribute.nullable && code === attribute.size - 1 ? null : code;
  }

  function restore(attribute, index, answer) {
    if (answer === undefined) return;
    if (attribute.kind !== "choice") {
      if (answer === null) { const none = document.getElementById(`a${index}-none`); none.checked = true; none.onchange(); }
      else document.getElementById(`a${index}`).value = String(answer);
      return;
    }
    const code = answer === null ? attribute.size - 1 : answer;
    if (attribute.size <= FEW) document.getElementById(`a${index}-${code}`).checked = true;
    else document.getElementById(`a${index}`).value = String(code);
  }

  /* What is wrong with an answer, in words; nothing if it fits. */
  function problem(attribute, answer) {
    if (answer === undefined) return say("missing");
    if (answer === null || attribute.kind === "choice") return "";
    if (attribute.kind === "text") {
      try { Randomize.encode(attribute, answer); } catch { return say("wrong_text", { longest: attribute.longest, alphabet: attribute.alphabet }); }
      return "";
    }
    const fits = Number.isFinite(answer) && (attribute.clip || (answer >= attribute.low && answer <= attribute.high));
    return fits && inSteps(attribute, answer) ? "" : say(`outside_${sort(attribute)}`, { low: limit(attribute.low), high: limit(attribute.high), step: attribute.step && limit(attribute.step) });
  }

  return { labelOf, question, read, restore, problem };
})();
