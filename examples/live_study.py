"""
A live study against a local server
===================================

A server collects answers that were randomized before they were sent. This program starts one in this process, makes a
study, lets three hundred people answer over HTTP, and reads the estimates while they come in. In life, ``sfumato
serve`` starts the server and people answer on its page.
"""

# %%
# A server
# --------

import json
import secrets
import tempfile
import threading
import urllib.request
from pathlib import Path

import numpy as np

import sfumato as sf
from sfumato.service.collection import open_collection
from sfumato.service.running import server
from sfumato.service.settings import Settings

folder = tempfile.TemporaryDirectory()
collection = open_collection(Path(folder.name), None, Settings(per_address=0, per_token=0))
((_, admin),) = collection.writer.now(collection.tokens.make("admin", None, "this program"))
ready, found = threading.Event(), []
running = server(collection, "127.0.0.1", 0, lambda port: (found.append(port), ready.set()))
thread = threading.Thread(target=running.run, daemon=True)
thread.start()
ready.wait(20)
address = f"http://127.0.0.1:{found[0]}"


def ask(method, path, document=None, token=admin):
    """One request; JSON in, JSON out."""
    body = None if document is None else json.dumps(document).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    with urllib.request.urlopen(urllib.request.Request(address + path, body, headers, method=method)) as answer:
        return json.loads(answer.read())


# %%
# A study
# -------

schema = sf.Schema({"car": sf.Categorical(("no", "yes")), "minutes": sf.Numeric(0, 120, bins=12)})
scheme = sf.Scheme.for_gamma(schema, gamma=9)
ask(
    "POST",
    "/v1/studies",
    {"id": "commuting", "title": "How people come to work", "scheme": scheme.to_dict(), "minimum": 50},
)
ask("POST", "/v1/studies/commuting/open")

# %%
# People answer
# -------------
# Each answer is drawn at the sender. The server gets the released code, and a receipt goes back.

rng = np.random.default_rng(1)
car = rng.random(300) < 0.6
minutes = np.where(car, rng.gamma(4, 7, 300), rng.gamma(6, 8, 300)).clip(0, 119)
for one, time in zip(car, minutes, strict=True):
    blurred = sf.randomize({"car": ["yes" if one else "no"], "minutes": [time]}, scheme).arrow()
    codes = {column: blurred.column(column)[0].as_py() for column in scheme.columns}
    response = {"id": secrets.token_hex(16), "fingerprint": scheme.fingerprint, "answers": codes}
    receipt = ask("POST", "/v1/studies/commuting/responses", response)
print(receipt["status"], receipt["receipt"][:16], "...")

# %%
# The miner looks
# ---------------
# These intervals hold however often one looks.

cells = ask("GET", "/v1/studies/commuting/estimates?names=car")["cells"]
for cell in cells:
    print(f"{cell['values'][0]:<4} {cell['share']:.2f}, between {cell['low']:.2f} and {cell['high']:.2f}")
print(f"true share of cars: {car.mean():.2f}")

# %%

running.should_exit = True
thread.join()
collection.close()
folder.cleanup()
