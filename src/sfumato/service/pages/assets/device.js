/* What this device keeps: a key for each study, which no script can read, and randomized answers until the server has them.
   A true answer is never kept. */

"use strict";

const Device = (() => {
  const place = (study) => `sfumato response ${study}`;
  const roundPlace = (study) => `sfumato round ${study}`;

  /* The answer that was randomized for a study: {state: "waiting", "received" or "withdrawn", body, token, receipt}. */
  function kept(study) {
    try { return JSON.parse(localStorage.getItem(place(study))); } catch { return null; }
  }

  const keep = (study, record) => localStorage.setItem(place(study), JSON.stringify(record));
  const forget = (study) => localStorage.removeItem(place(study));

  /* Random bytes of this one response, the same until it was received: what is drawn anew for each response is drawn once. */
  function round(study) {
    const known = localStorage.getItem(roundPlace(study));
    if (known !== null) return Randomize.unhex(known);
    const made = crypto.getRandomValues(new Uint8Array(16));
    localStorage.setItem(roundPlace(study), Randomize.hex(made));
    return made;
  }

  const endRound = (study) => localStorage.removeItem(roundPlace(study));

  function database() {
    return new Promise((resolve, reject) => {
      const asked = indexedDB.open("sfumato", 1);
      asked.onupgradeneeded = () => asked.result.createObjectStore("keys");
      asked.onsuccess = () => resolve(asked.result);
      asked.onerror = () => reject(asked.error);
    });
  }

  function stored(opened, work) {
    return new Promise((resolve, reject) => {
      const transaction = opened.transaction("keys", "readwrite");
      const asked = work(transaction.objectStore("keys"));
      transaction.oncomplete = () => resolve(asked.result);
      transaction.onerror = () => reject(transaction.error);
      transaction.onabort = () => reject(transaction.error);
    });
  }

  /* The key of this device for one study, made at the first visit. Under it the same answer is changed in the same way again. */
  async function keyOf(study) {
    const opened = await database();
    const found = await stored(opened, (keys) => keys.get(study));
    if (found) return found;
    const key = await Randomize.importKey(crypto.getRandomValues(new Uint8Array(32)));
    try {
      await stored(opened, (keys) => keys.add(key, study)); // fails where another window was faster
      return key;
    } catch {
      return stored(opened, (keys) => keys.get(study));
    }
  }

  /* Who answers: this device, by its key for the study, and for questions that come in rounds by a key for the question. */
  async function respondent(study, questionnaire) {
    const by = async (name) => { const key = await keyOf(name); return { key, person: await Randomize.person(key, "respondent") }; };
    const asked = questionnaire.forms.flatMap((form) => form.groups).filter((group) => group.plan.kind === "longitudinal");
    const lasting = {};
    for (const { question } of asked) lasting[question] = await by(`question ${question}`); // no study's id has a blank
    return { ...(await by(study)), lasting, round: round(study) };
  }

  return { kept, keep, forget, endRound, respondent };
})();
