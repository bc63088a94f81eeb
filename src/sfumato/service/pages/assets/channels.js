/* From true codes and random words to released codes, channel by channel. Nothing here knows where the words come from.

   The rules are those of the Python package, integer by integer: see questionnaire.py. A probability is a whole number of 2^-63 parts. A
   draw is a uniform 63-bit word. The released value is the first one whose weight, added to the weights before it, exceeds the word. So
   the odds that are published are exactly the odds that are drawn. Additive noise alone is drawn in floating point. */

"use strict";

const Channels = (() => {
  const ONE = 1n << 63n;

  const parts = (text) => BigInt("0x" + text);
  const fraction = (text) => Number(parts(text)) / 2 ** 63;
  const count = (sizes) => sizes.reduce((product, size) => product * size, 1);

  /* One code for several, the first attribute slowest; and back. */
  const joinCodes = (codes, sizes) => codes.reduce((code, one, i) => code * sizes[i] + one, 0);
  function splitCode(code, sizes) {
    const out = new Array(sizes.length);
    for (let i = sizes.length - 1; i >= 0; i--) { out[i] = code % sizes[i]; code = Math.floor(code / sizes[i]); }
    return out;
  }

  /* The released codes of a group under given 63-bit words. The same words give the same answer in Python. */
  function draw(plan, codes, words) {
    switch (plan.kind) { // those that take something else than codes
      case "noise": return [Noise.added(plan, codes[0], words[0])];
      case "prefixes": return [drawText(plan, codes[0], words)];
    }
    codes.forEach((code, i) => {
      if (!Number.isInteger(code) || code < 0 || code >= plan.sizes[i]) throw new RangeError("an answer is outside its codes");
    });
    switch (plan.kind) {
      case "product": return drawProduct(plan, codes, words);
      case "select_a_size": return drawSelection(plan, codes, words);
      case "longitudinal": return [drawLongitudinal(plan, codes[0], words)];
      default: return splitCode(drawOne(plan, joinCodes(codes, plan.sizes), words[0]), plan.outputs);
    }
  }

  function drawOne(plan, code, word) {
    switch (plan.kind) {
      case "table": return drawTable(plan, code, word);
      case "symmetric": return drawSymmetric(parts(plan.other), count(plan.sizes), code, word);
      case "hyperplanes": return drawPoint(plan, code, word);
      case "valid": return drawValid(plan, code, word);
      default: throw new Error("this page does not know the channel " + plan.kind);
    }
  }

  function drawTable(plan, code, word) {
    const weights = plan.weights.map(parts);
    const outputs = count(plan.outputs);
    let sum = 0n;
    for (let y = 0; y < outputs; y++) {
      sum += weights[entry(plan, code * outputs + y)];
      if (word < sum) return y;
    }
    throw new Error("the weights of a row do not add up to one");
  }

  const views = new WeakMap();
  function bytesOf(plan, text) {
    if (!views.has(plan)) views.set(plan, new DataView(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer));
    return views.get(plan);
  }
  const entry = (plan, place) => (plan.bytes === 1 ? bytesOf(plan, plan.rows).getUint8(place) : bytesOf(plan, plan.rows).getUint16(2 * place, true));

  function drawSymmetric(other, values, code, word) {
    const keep = ONE - BigInt(values - 1) * other;
    const before = BigInt(code) * other;
    if (word < before) return Number(word / other);
    if (word < before + keep) return code;
    return Number((word - keep) / other) + 1;
  }

  function drawValid(plan, code, word) {
    const place = plan.cells.indexOf(code);
    if (place < 0) throw new RangeError("these answers are not possible together");
    return plan.cells[drawOne(plan.inner, place, word)];
  }

  function drawProduct(plan, codes, words) {
    const out = [];
    let attribute = 0, first = 0;
    for (const channel of plan.channels) {
      out.push(...draw(channel, codes.slice(attribute, attribute + channel.sizes.length), words.slice(first, first + channel.draws)));
      attribute += channel.sizes.length;
      first += channel.draws;
    }
    return out;
  }

  /* Keep some of the items, how many and which by chance, and add others. */
  function drawSelection(plan, codes, words) {
    const size = codes.reduce((sum, code) => sum + code, 0);
    const noise = parts(plan.noise);
    let sum = 0n, needed = 0;
    for (const weight of plan.keep) { sum += parts(weight); if (words[0] < sum) break; needed++; }
    needed = Math.min(needed, size);
    let left = size;
    return codes.map((present, item) => {
      if (!present) return Number(words[2 + 2 * item] < noise);
      const kept = words[1 + 2 * item] < (ONE * BigInt(Math.min(needed, left))) / BigInt(left);
      needed -= Number(kept);
      left -= 1;
      return Number(kept);
    });
  }

  // ---- Points of a finite geometry ---------------------------------------------------------------------------------

  /* A point has `digits` digits in the field of `order` elements, the first that is not 0 is 1. Points are numbered by where that 1 stands, at the front
     first. Point a and point y are incident where a_{d-1} y_0 + ... + a_0 y_{d-1} = 0. */
  function pointDigits(number, order, digits) {
    const out = new Array(digits).fill(0);
    for (let lead = 0; lead < digits; lead++) {
      const here = order ** (digits - 1 - lead);
      if (number < here) {
        out[lead] = 1;
        for (let place = digits - 1; place > lead; place--) { out[place] = number % order; number = Math.floor(number / order); }
        return out;
      }
      number -= here;
    }
    throw new RangeError("there is no such point");
  }

  /* Whole numbers modulo a prime; or 0, 1, a and a + 1 with a² = a + 1, numbered by their two bits. */
  const FOUR = [[0, 0, 0, 0], [0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2]];
  const addProduct = (order, sum, left, right) => (order === 4 ? sum ^ FOUR[left][right] : (sum + left * right) % order);
  const opposite = (order, sum) => (order === 4 ? sum : (order - (sum % order)) % order);

  /* How many of the first `some` points are incident with a point, given by its digits in reverse. Its last digit that is not 0 is a 1, at
     place `one`. So the digit of y at this place follows from those before it, and those behind it are free. */
  function incidentBefore(reversed, order, some) {
    const digits = reversed.length, one = reversed.lastIndexOf(1), stretch = order ** (digits - 1 - one);
    let incident = 0;
    for (let lead = 0; lead < digits && some > 0; lead++) {
      const here = Math.min(some, order ** (digits - 1 - lead));
      some -= here;
      if (lead > one) incident += here;
      if (lead >= one) continue;
      const groups = Math.floor(here / (stretch * order)), rest = here % (stretch * order);
      let sum = reversed[lead], number = groups;
      for (let place = one - 1; place > lead; place--) {
        sum = addProduct(order, sum, reversed[place], number % order);
        number = Math.floor(number / order);
      }
      const determined = opposite(order, sum);
      incident += groups * stretch + Math.min(Math.max(rest - determined * stretch, 0), stretch);
    }
    return incident;
  }

  function drawPoint(plan, code, word) {
    const { order, digits, spare } = plan;
    const low = parts(plan.low), high = parts(plan.high);
    const reversed = pointDigits(code, order, digits).reverse();
    const upTo = (points) => {
      const on = incidentBefore(reversed, order, points);
      return low * BigInt(points - on) + high * BigInt(on) + BigInt(Math.min(on, spare));
    };
    let below = 0, above = count(plan.outputs); // upTo(below) <= word < upTo(above)
    while (above - below > 1) {
      const middle = Math.floor((below + above) / 2);
      if (word < upTo(middle)) above = middle; else below = middle;
    }
    return below;
  }

  // ---- Answers that are asked for again and again --------------------------------------------------------------------

  /* The class of a value under the hash function that a word names. */
  function hashed(plan, code, word) {
    const { classes, digits } = plan;
    let functions = 0;
    for (let i = 0; i < digits; i++) functions += classes ** i;
    const chosen = Number(word % BigInt(functions));
    const direction = digits > 1 ? pointDigits(chosen, classes, digits) : [1];
    let total = 0;
    for (let place = 0; place < digits; place++) {
      total += (code % classes) * direction[place];
      code = Math.floor(code / classes);
    }
    return [chosen, (classes - (total % classes)) % classes];
  }

  function drawLongitudinal(plan, code, [which, first, again]) {
    const [chosen, own] = hashed(plan, code, which);
    const permanent = drawSymmetric(parts(plan.permanent), plan.classes, own, first);
    return chosen * plan.classes + drawSymmetric(parts(plan.repeated), plan.classes, permanent, again);
  }

  // ---- Free text -----------------------------------------------------------------------------------------------------

  /* The answer is about the first letters of the text, how many a word says: the number of this beginning, through a channel. A text comes
     as bytes, 1 for the first letter of the alphabet, 0 behind its end, 255 for no answer. */
  function drawText(plan, text, [word, which]) {
    const level = plan.levels.findIndex(({ end }) => which < parts(end));
    return drawOne(plan.inner, numberOf(plan, level, text), word) + level * count(plan.inner.outputs);
  }

  function numberOf(plan, level, text) {
    const { letters, table } = plan.levels[level], width = plan.letters + 1; // the last column stands for no answer
    const numbers = bytesOf(plan.levels[level], table);
    let sum = 0;
    for (let place = 0; place < letters; place++) {
      if (text[place] === 0) continue;
      const column = text[place] === 255 ? plan.letters : text[place] - 1;
      sum += numbers.getUint32(4 * (place * width + column), true);
    }
    return sum % count(plan.inner.sizes);
  }

  // ---- Odds ----------------------------------------------------------------------------------------------------------

  /* How likely every released code is for one true code of a group, as fractions; null where that would be a long list. */
  function chances(plan, code) {
    const outputs = count(plan.outputs);
    if (plan.kind === "table") {
      const weights = plan.weights.map(fraction);
      return Array.from({ length: outputs }, (_, y) => weights[entry(plan, code * outputs + y)]);
    }
    if (plan.kind === "symmetric" && outputs <= 4096) {
      const other = fraction(plan.other);
      return Array.from({ length: outputs }, (_, y) => (y === code ? 1 - (outputs - 1) * other : other));
    }
    return null;
  }

  /* How likely what is sent speaks for the true answer, where a formula tells. */
  function insideShare(plan) {
    switch (plan.kind) {
      case "symmetric": return 1 - (count(plan.sizes) - 1) * fraction(plan.other);
      case "valid": return insideShare(plan.inner);
      case "prefixes": return insideShare(plan.inner);
      case "hyperplanes": {
        const { order, digits } = plan;
        let through = 0;
        for (let i = 0; i < digits - 1; i++) through += order ** i;
        return 1 - (count(plan.outputs) - through) * fraction(plan.low);
      }
      case "longitudinal": {
        const a = fraction(plan.permanent), b = fraction(plan.repeated), others = plan.classes - 1;
        return (1 - others * a) * (1 - others * b) + others * a * b;
      }
      default: return null;
    }
  }

  return { draw, drawLongitudinal, hashed, chances, insideShare, count, parts };
})();
