/* What every page is built of: its elements, the marks of its pictures, and boxes that scroll by themselves. */

"use strict";

const Elements = (() => {
  const SVG = "http://www.w3.org/2000/svg";

  /* An element with its attributes and children. What is null or false is left out, and what begins with "on" is a function. */
  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made[key] = value; else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }

  /* A mark of a picture. */
  function drawn(name, attributes = {}, text = null) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== null) made.textContent = text;
    return made;
  }

  /* A wide thing in a box of its own, which the keyboard reaches. */
  const scrolling = (label, inside) => element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, inside);

  /* A phone gets a picture of its own width, so that its letters stay readable. */
  const narrow = () => window.innerWidth < 640;
  const cut = (text, letters) => (text.length > letters ? `${text.slice(0, letters - 1)}…` : text);

  /* A name that a narrow column may break after its signs, and where a capital follows a small letter. */
  const breakable = (name) => element("span", {}, ...String(name ?? "").replace(/([_/.-])(?=.)|([a-z])(?=[A-Z])/g, "$1$2\0").split("\0").flatMap((part, i) => (i ? [element("wbr"), part] : [part])));

  /* A link within a page. The address keeps the token that stands behind its #. */
  function jump(event) {
    event.preventDefault();
    const goal = document.querySelector(event.currentTarget.getAttribute("href"));
    goal.tabIndex = -1;
    goal.scrollIntoView();
    goal.focus();
  }

  /* Names in an address: commas between them, and quotes around those that could be taken for two. */
  const listed = (...names) => encodeURIComponent(names.map((name) => (/[",]|^\s|\s$/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(","));

  /* What the server says in lower case, as a sentence of its own. */
  const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

  /* Names one after the other: a, b and c. */
  const together = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`);

  return { element, drawn, scrolling, narrow, cut, breakable, jump, listed, sentence, together };
})();
