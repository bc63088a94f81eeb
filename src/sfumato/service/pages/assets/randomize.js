/* Changes answers by chance, on this device. Nothing here sends anything.

   The rules are those of the Python package: see keyed_answers.py. Random words are fresh, or a function of a key of this device, of the
   question and of the true answer: then the same answer is changed in the same way again. */

"use strict";

const Randomize = (() => {
  const ROUNDING = 0x80000000; // the number of the word that rounds a group's first attribute
  const BLOCK = 16;
  const UNANSWERED = 255; // among the bytes of a text
  const utf8 = new TextEncoder();

  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));

  function joined(...pieces) {
    const out = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let place = 0;
    for (const piece of pieces) { out.set(piece, place); place += piece.length; }
    return out;
  }

  // ---- Answers: from what a person says to codes -----------------------------------------------------------------

  const noAnswer = (attribute) => attribute.size - 1;

  /* The code of an answer: a place in the list, a number, or a text; null for no answer. */
  function encode(attribute, answer) {
    if (attribute.kind === "text") return letterBytes(attribute, answer);
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

  /* A text as bytes, 1 for the first letter of the alphabet, filled up with zeros. */
  function letterBytes(attribute, text) {
    const out = new Uint8Array(attribute.longest);
    if (text === null) {
      if (!attribute.nullable) throw new RangeError("this question needs an answer");
      out[0] = UNANSWERED;
      return out;
    }
    const alphabet = [...attribute.alphabet];
    let letters = [...text.trim()];
    if (attribute.clip) letters = letters.filter((letter) => alphabet.includes(letter)).slice(0, attribute.longest);
    if (letters.length === 0 || letters.length > attribute.longest) throw new RangeError("the text is empty, or too long");
    letters.forEach((letter, i) => {
      if (!alphabet.includes(letter)) throw new RangeError("the text has a letter that is not in the alphabet");
      out[i] = alphabet.indexOf(letter) + 1;
    });
    return out;
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

  /* The true answer as the words depend on it. */
  function valueBytes(plan, place, attribute, answer) {
    if (attribute.kind === "text") return letterBytes(attribute, answer);
    if (attribute.kind === "points" || plan.kind === "noise") {
      const out = new DataView(new ArrayBuffer(8));
      if (answer === null) out.setBigUint64(0, 0x7ff8000000000000n, true);
      else out.setFloat64(0, within(attribute, answer) + 0, true);
      return new Uint8Array(out.buffer);
    }
    const size = plan.sizes[place], width = size <= 1 << 8 ? 1 : size <= 1 << 16 ? 2 : 4;
    let code = encode(attribute, answer);
    return Uint8Array.from({ length: width }, () => { const byte = code % 256; code = Math.floor(code / 256); return byte; });
  }

  // ---- Whole answers -----------------------------------------------------------------------------------------------

  /* Which form this person answers: the first whose end exceeds the word. */
  const chooseForm = (forms, word) => forms.findIndex((form) => word < Channels.parts(form.end));

  async function formOf(questionnaire, who) {
    if (questionnaire.forms.length === 1) return 0;
    const word = who ? await formWord(who.key, questionnaire.fingerprint, who.person) : freshWord();
    return chooseForm(questionnaire.forms, word);
  }

  /* The released codes of one form, column by column. `answers` holds a place, a number, a text or null for each attribute. With `who`
     ({key, person}) the same answers give the same codes again; without, everything is drawn anew. */
  async function release(questionnaire, form, answers, who) {
    const out = Object.create(null); // a column may have any name, also one that every object has
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
    if (who && plan.kind === "longitudinal") return [await releaseLongitudinal(group, encode(attributes[0], answers[0]), who)];
    const value = joined(...attributes.map((attribute, i) => valueBytes(plan, i, attribute, answers[i])));
    const word = (index) => (who ? keyedWord(who.key, question, who.person, value, index) : freshWord());
    const codes = [];
    for (const [i, attribute] of attributes.entries()) {
      if (plan.kind === "noise") codes.push(within(attribute, answers[i]));
      else codes.push(attribute.kind === "points" ? round(attribute, answers[i], await word(ROUNDING + i)) : encode(attribute, answers[i]));
    }
    const words = [];
    for (let index = 0; index < plan.draws; index++) words.push(await word(index));
    return Channels.draw(plan, codes, words);
  }

  /* The permanent answer is a function of the class, under a key that outlives the study (`who.lasting`, by question): the next round is
     another study with the same question. What is drawn from it in a round is fresh; with `who.round`, the bytes of this round, it is a
     function of them and of the class, so that looking twice is not drawing twice. */
  async function releaseLongitudinal({ plan, question: asked }, code, who) {
    const question = unhex(asked);
    const { key, person: own } = who.lasting?.[asked] ?? who;
    const which = await keyedWord(key, await sha256(joined(question, utf8.encode("hash"))), own, new Uint8Array(0), 0);
    const [, place] = Channels.hashed(plan, code, which);
    const first = await keyedWord(key, question, own, Uint8Array.of(place), 0);
    const again = who.round
      ? await keyedWord(key, await sha256(joined(question, utf8.encode("round"))), own, joined(who.round, [place]), 0)
      : freshWord();
    return Channels.drawLongitudinal(plan, code, [which, first, again]);
  }

  return { encode, round, release, formOf, chooseForm, importKey, person, sha256, hex, unhex, ROUNDING };
})();
