/* Changes answers by chance, on this device. Nothing here sends anything.

   The rules are those of the Python package, integer by integer: see keyed_answers.py and questionnaire.py. A probability is a whole
   number of 2^-63 parts. A draw is a uniform 63-bit word. The released value is the first one whose weight, added to the weights before
   it, exceeds the word. So the odds that are published are exactly the odds that are drawn. */

"use strict";

const Randomize = (() => {
  const ONE = 1n << 63n;
  const ROUNDING = 0x80000000; // the number of the word that rounds a group's first attribute
  const BLOCK = 16;
  const utf8 = new TextEncoder();

  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const parts = (text) => BigInt("0x" + text);
  const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const count = (sizes) => sizes.reduce((product, size) => product * size, 1);

  function joined(...pieces) {
    const out = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let place = 0;
    for (const piece of pieces) { out.set(piece, place); place += piece.length; }
    return out;
  }

  /* One code for several, the first attribute slowest; and back. */
  const joinCodes = (codes, sizes) => codes.reduce((code, one, i) => code * sizes[i] + one, 0);
  function splitCode(code, sizes) {
    const out = new Array(sizes.length);
    for (let i = sizes.length - 1; i >= 0; i--) { out[i] = code % sizes[i]; code = Math.floor(code / sizes[i]); }
    return out;
  }

  // ---- Channels: from true codes and words to released codes -----------------------------------------------------

  /* The released codes of a group under given 63-bit words. The same words give the same answer in Python. */
  function draw(plan, codes, words) {
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

  const tables = new WeakMap();
  function entry(plan, place) {
    if (!tables.has(plan)) {
      const text = atob(plan.rows);
      tables.set(plan, new DataView(Uint8Array.from(text, (letter) => letter.charCodeAt(0)).buffer));
    }
    const view = tables.get(plan);
    return plan.bytes === 1 ? view.getUint8(place) : view.getUint16(2 * place, true);
  }

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

  /* Points of a finite geometry: `digits` digits modulo `order`, the first that is not 0 is 1. Points are numbered by where that 1 stands,
     at the front first. Point a and point y are incident where a_{d-1} y_0 + ... + a_0 y_{d-1} = 0. */
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

  function drawPoint(plan, code, word) {
    const { order, digits, spare } = plan;
    const low = parts(plan.low), high = parts(plan.high);
    const value = pointDigits(code, order, digits).reverse();
    const outputs = count(plan.outputs);
    const upTo = (off, on) => low * BigInt(off) + high * BigInt(on) + BigInt(Math.min(on, spare));
    let off = 0, on = 0;
    for (let start = 0; start < outputs; start += 1024) { // whole stretches first: one comparison of large numbers for each
      const before = [off, on];
      const end = Math.min(start + 1024, outputs);
      const incident = [];
      for (let y = start; y < end; y++) {
        const point = pointDigits(y, order, digits);
        let sum = 0;
        for (let i = 0; i < digits; i++) sum += value[i] * point[i];
        incident.push(sum % order === 0);
        if (sum % order === 0) on++; else off++;
      }
      if (word >= upTo(off, on)) continue;
      [off, on] = before;
      for (let y = start; y < end; y++) {
        if (incident[y - start]) on++; else off++;
        if (word < upTo(off, on)) return y;
      }
    }
    throw new Error("the weights of a row do not add up to one");
  }

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

  // ---- Answers: from what a person says to codes -----------------------------------------------------------------

  const noAnswer = (attribute) => attribute.size - 1;

  /* The code of an answer: a place in the list, or a number; null for no answer. */
  function encode(attribute, answer) {
    if (answer === null) {
      if (!attribute.nullable) throw new RangeError("this question needs an answer");
      return noAnswer(attribute);
    }
    if (attribute.kind === "choice") return answer;
    const { edges } = attribute;
    const number = within(attribute, answer);
    let code = 0;
    while (code < edges.length - 2 && number >= edges[code + 1]) code++;
    return code;
  }

  function within(attribute, number) {
    if (!Number.isFinite(number)) throw new RangeError("this is no number");
    if (attribute.clip) return Math.min(Math.max(number, attribute.low), attribute.high);
    if (number < attribute.low || number > attribute.high) throw new RangeError("the number is outside the limits");
    return number;
  }

  /* A number between two points goes to one of them, up with the probability that keeps the mean. */
  function round(attribute, number, word) {
    if (number === null) return attribute.points;
    const place = ((within(attribute, number) - attribute.low) / (attribute.high - attribute.low)) * (attribute.points - 1);
    const below = Math.min(Math.floor(place), attribute.points - 2);
    const chance = Math.min(Math.max(place - below, 0), 1) * 2 ** 63;
    return below + Number(word < BigInt(Math.floor(chance)));
  }

  // ---- Words: fresh ones, or a function of a key, the question, the person and the true answer ---------------------

  function freshWord() {
    const bytes = crypto.getRandomValues(new Uint8Array(8));
    return readWord(bytes);
  }

  const readWord = (bytes) => new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true) >> 1n;

  /* The key of keyed answers, from the 32 secret bytes; it can be used afterwards, but not read. */
  async function importKey(secret) {
    const own = await sha256(joined(utf8.encode("sfumato keyed answers 2\n"), secret));
    return crypto.subtle.importKey("raw", own, "AES-CBC", false, ["encrypt"]);
  }

  /* The last block of AES-CBC with a zero IV. The browser adds one block of padding, which is left out. */
  async function chain(key, message) {
    const all = await crypto.subtle.encrypt({ name: "AES-CBC", iv: new Uint8Array(BLOCK) }, key, message);
    return new Uint8Array(all, message.length - BLOCK, BLOCK);
  }

  const head = async (...pieces) => (await sha256(joined(...pieces))).subarray(0, BLOCK);

  /* 16 bytes that stand for a person. */
  async function person(key, id) {
    const plain = utf8.encode(id.normalize("NFC").trim());
    const own = plain.length > 96
      ? joined(utf8.encode(hex(await sha256(joined(plain, [1])))), [2])
      : joined(plain, [1]);
    const text = new Uint8Array(Math.ceil(own.length / BLOCK) * BLOCK);
    text.set(own);
    return chain(key, joined(await head(utf8.encode(`person|${text.length / BLOCK}`)), text));
  }

  /* The i-th word for this question and these bytes of the true value. */
  async function keyedWord(key, question, who, value, index) {
    const room = value.length + ((12 - (value.length % BLOCK)) + BLOCK) % BLOCK + 4;
    const tail = new Uint8Array(room);
    tail.set(value);
    new DataView(tail.buffer).setUint32(room - 4, index, true);
    const begin = await head(utf8.encode("answer|"), question, utf8.encode(`|${room / BLOCK}`));
    return readWord(await chain(key, joined(begin, who, tail)));
  }

  async function formWord(key, fingerprint, who) {
    return readWord(await chain(key, joined(await head(utf8.encode("form|"), unhex(fingerprint)), who)));
  }

  function valueBytes(attribute, size, answer) {
    if (attribute.kind === "points") {
      const out = new DataView(new ArrayBuffer(8));
      if (answer === null) out.setBigUint64(0, 0x7ff8000000000000n, true);
      else out.setFloat64(0, within(attribute, answer) + 0, true);
      return new Uint8Array(out.buffer);
    }
    const width = size <= 1 << 8 ? 1 : size <= 1 << 16 ? 2 : 4;
    let code = encode(attribute, answer);
    return Uint8Array.from({ length: width }, () => { const byte = code % 256; code = Math.floor(code / 256); return byte; });
  }

  // ---- Whole answers -----------------------------------------------------------------------------------------------

  /* Which form this person answers: the first whose end exceeds the word. */
  const chooseForm = (forms, word) => forms.findIndex((form) => word < parts(form.end));

  async function formOf(questionnaire, who) {
    if (questionnaire.forms.length === 1) return 0;
    const word = who ? await formWord(who.key, questionnaire.fingerprint, who.person) : freshWord();
    return chooseForm(questionnaire.forms, word);
  }

  /* The released codes of one form, column by column. `answers` holds a place, a number or null for each attribute. With `who`
     ({key, person}) the same answers give the same codes again; without, everything is drawn anew. */
  async function release(questionnaire, form, answers, who) {
    const out = {};
    for (const group of questionnaire.forms[form].groups) {
      const given = group.names.map((name) => answers[name]);
      const released = await releaseGroup(group, group.names.map((name) => questionnaire.attributes[name]), given, who);
      group.columns.forEach((column, i) => { out[column] = released[i]; });
    }
    return out;
  }

  async function releaseGroup(group, attributes, answers, who) {
    const { plan } = group;
    const question = unhex(group.question);
    if (who && plan.kind === "longitudinal") return [await releaseLongitudinal(plan, question, encode(attributes[0], answers[0]), who)];
    const value = joined(...attributes.map((attribute, i) => valueBytes(attribute, plan.sizes[i], answers[i])));
    const word = (index) => (who ? keyedWord(who.key, question, who.person, value, index) : freshWord());
    const codes = [];
    for (const [i, attribute] of attributes.entries()) {
      codes.push(attribute.kind === "points" ? round(attribute, answers[i], await word(ROUNDING + i)) : encode(attribute, answers[i]));
    }
    const words = [];
    for (let index = 0; index < plan.draws; index++) words.push(await word(index));
    return draw(plan, codes, words);
  }

  /* The permanent answer is a function of the class; what is drawn from it each time is not. */
  async function releaseLongitudinal(plan, question, code, who) {
    const which = await keyedWord(who.key, await sha256(joined(question, utf8.encode("hash"))), who.person, new Uint8Array(0), 0);
    const [, own] = hashed(plan, code, which);
    const first = await keyedWord(who.key, question, who.person, Uint8Array.of(own), 0);
    return drawLongitudinal(plan, code, [which, first, freshWord()]);
  }

  /* How likely every released code is for one true code of a group, as fractions; null where that would be a long list. */
  function chances(plan, code) {
    const outputs = count(plan.outputs);
    if (plan.kind === "table") {
      const weights = plan.weights.map((text) => Number(parts(text)) / 2 ** 63);
      return Array.from({ length: outputs }, (_, y) => weights[entry(plan, code * outputs + y)]);
    }
    if (plan.kind === "symmetric" && outputs <= 4096) {
      const other = Number(parts(plan.other)) / 2 ** 63;
      return Array.from({ length: outputs }, (_, y) => (y === code ? 1 - (outputs - 1) * other : other));
    }
    return null;
  }

  return { draw, encode, round, release, formOf, chooseForm, importKey, person, chances, sha256, hex, unhex, ROUNDING };
})();
