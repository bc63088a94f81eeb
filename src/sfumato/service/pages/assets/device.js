/* What this device keeps: a key for each study, which no script can read, and randomized answers until the server has them.
   A true answer is never kept. */

"use strict";

const Device = (() => {
  const place = (study) => `sfumato response ${study}`;

  /* The answer that was randomized for a study: {state: "waiting" or "received", body, token, receipt}. */
  function kept(study) {
    try { return JSON.parse(localStorage.getItem(place(study))); } catch { return null; }
  }

  const keep = (study, record) => localStorage.setItem(place(study), JSON.stringify(record));
  const forget = (study) => localStorage.removeItem(place(study));

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

  return { kept, keep, forget, keyOf };
})();
