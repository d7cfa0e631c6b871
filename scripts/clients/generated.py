"""Generates a client from the OpenAPI document of each design, and uses it: create, get, update, list page by page, an operation, a refusal."""

import importlib
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from base64 import b64encode
from pathlib import Path

from check import ENDPOINT, check, equal, finish

GENERATOR = Path(sys.executable).parent / "openapi-python-client"
USER, PASSWORD = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
STORY, FOG = "01HMZ700000000000000000001", "01HMZ200000000000000000001"
MAIN = {"tenant_key": "acme", "inbox_key": "main", "uid": "ada"}

# For each design: what is made and the names of its key, what is changed, a list with at least two items, an operation,
# and an operation that is refused with a status.
DESIGNS = {
    "kefir": {
        "create": ("Device", {"userId": "ada", "deviceId": "generated", "platform": "web", "pushToken": "a", "lastSeenAt": "2024-06-01T12:00:00.000Z"}, ["userId", "deviceId"]),
        "change": {"pushToken": "b"},
        "list": ("batches", {"userId": "ada"}),
        "operation": ("seen-on-device", {"userId": "ada", "deviceId": "generated", "platform": "web", "pushToken": "c"}),
        "refused": ("remind", {"userId": "nobody", "batchId": STORY, "message": "m", "dueAt": "2024-06-02T10:00:00.000Z"}, 409),
    },
    "stak-inbox": {
        "create": ("TenantSettings", {"tenant_key": "generated", "title": "First", "ttl": "30d"}, ["tenant_key"]),
        "change": {"title": "Second"},
        "list": ("inbox", MAIN),
        "operation": ("publish-to-users", {"tenant_key": "acme", "inbox_key": "main", "uids": ["ada", "ben"], "sender": "s", "message": {"title": "t", "body": {"any": [1, None]}}}),
        "refused": ("read-message", MAIN | {"id": "lrg00000000000000000"}, 404),
    },
    "story-hub": {
        "create": ("Story", {"authorId": "ada", "title": "First", "synopsis": "s", "genre": "g", "ageRating": "6", "contentWarnings": ["fog"]}, ["storyId"]),
        "change": {"title": "Second"},
        "list": ("chapters-of-story", {"storyId": STORY}),
        "operation": ("vote", {"userId": "ada", "storyId": STORY, "nodeId": FOG, "voteType": "UPVOTE"}),
        "refused": ("withdraw-vote", {"userId": "nobody", "nodeId": FOG}, 404),
    },
    "story-nodes": {
        "create": ("Story", {"userId": "ada", "title": "First"}, ["userId", "id"]),
        "change": {"title": "Second"},
        "list": ("stories", {"userId": "ada"}),
        "operation": ("add-node", {"userId": "ada", "storyId": STORY, "nodeOrder": 7, "type": "choice", "prompt": "?", "responses": ["yes", {"text": "no"}]}),
        "refused": ("restore-story", {"userId": "ada", "id": STORY}, 409),
    },
    "wavy-blog": {
        "create": ("Category", {"CategoryID": "cat_generated", "Slug": "generated", "Name": "First"}, ["Slug"]),
        "change": {"Name": "Second"},
        "list": ("users", {}),
        "operation": ("change-email", {"Username": "jane", "Email": "generated@example.com"}),
        "refused": ("change-email", {"Username": "john_doe", "Email": "generated@example.com"}, 409),
    },
}


def words(name):
    """`seen-on-device` and `TenantSettings` as the words that they are made of."""
    return re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)


def snake(*names):
    return "_".join(word.lower() for name in names for word in words(name))


class Client:
    """A generated client, with its functions and models by the names of the design."""

    def __init__(self, design, directory):
        package = snake(design)
        request = urllib.request.Request(f"{ENDPOINT}/v1/{design}/openapi.json")
        request.add_header("Authorization", "Basic " + b64encode(f"{USER}:{PASSWORD}".encode()).decode())
        document = Path(directory) / f"{package}.json"
        document.write_bytes(urllib.request.urlopen(request).read())
        command = [GENERATOR, "generate", "--path", document, "--output-path", Path(directory) / package, "--meta", "none"]
        # It formats what it makes with a program that is installed beside it.
        path = {"PATH": f"{GENERATOR.parent}:{os.environ['PATH']}"}
        made = subprocess.run(command, capture_output=True, text=True, timeout=600, env=os.environ | path)
        said = made.stdout + made.stderr
        assert made.returncode == 0 and "arning" not in said, said[-4000:]
        self.package = package
        client = importlib.import_module(f"{package}.client")
        self.client = client.Client(base_url=ENDPOINT, httpx_args={"auth": (USER, PASSWORD)})

    def call(self, tag, verb, name, *key, body=None, **more):
        function = importlib.import_module(f"{self.package}.api.{tag}.{snake(verb, name)}")
        if body is not None:
            models = importlib.import_module(f"{self.package}.models")
            made = getattr(models, verb.title() + "".join(word.title() if word.islower() else word for word in words(name)) + "Body")
            more["body"] = made.from_dict(body)
        return function.sync_detailed(*key, client=self.client, **more)


def created_read_and_changed(client, story):
    entity, body, key_names = story["create"]
    made = client.call("entities", "create", entity, body=body, idempotency_key="generated-create")
    equal(made.status_code, 201)
    item = made.parsed.to_dict()
    again = client.call("entities", "create", entity, body=body, idempotency_key="generated-create")
    equal((again.parsed.to_dict(), again.headers["idempotency-replayed"]), (item, "true"))
    key = [item[name] for name in key_names]
    equal(client.call("entities", "get", entity, *key).parsed.to_dict(), item)
    tag = made.headers.get("etag")
    match = {"if_match": tag} if tag else {}
    changed = client.call("entities", "update", entity, *key, body=story["change"], **match)
    equal(changed.status_code, 200)
    equal(changed.parsed.to_dict() | story["change"], changed.parsed.to_dict())
    if tag:
        late = client.call("entities", "update", entity, *key, body=story["change"], **match)
        equal((late.status_code, late.parsed.status), (412, 412))
    missing = client.call("entities", "get", entity, *key[:-1], key[-1][:-1] + ("0" if key[-1][-1] != "0" else "1"))
    equal((missing.status_code, missing.parsed.status), (404, 404))
    assert missing.parsed.detail, missing


def listed_page_by_page(client, story):
    name, given = story["list"]
    parameters = {snake(parameter): value for parameter, value in given.items()}
    whole = client.call("patterns", "ask", name, **parameters).parsed.to_dict()["items"]
    assert len(whole) > 1, whole
    paged, cursor = [], {}
    while True:
        page = client.call("patterns", "ask", name, limit=1, **cursor, **parameters).parsed
        paged += page.to_dict()["items"]
        if not page.cursor:
            break
        cursor = {"cursor": page.cursor}
    equal(paged, whole)
    forged = client.call("patterns", "ask", name, cursor="forged", **parameters)
    equal((forged.status_code, forged.parsed.status), (400, 400))


def done_and_refused(client, story):
    name, body = story["operation"]
    done = client.call("operations", "do", name, body=body)
    equal(done.status_code, 200)
    assert all("_entity" in item for item in done.parsed.to_dict()["items"]), done
    name, body, status = story["refused"]
    refused = client.call("operations", "do", name, body=body)
    equal((refused.status_code, refused.parsed.status), (status, status))
    assert refused.parsed.title and refused.parsed.detail, refused


with tempfile.TemporaryDirectory() as directory:
    sys.path.insert(0, directory)
    for design, story in DESIGNS.items():

        @check(f"a client generated from the OpenAPI of {design} creates, reads, changes, lists, does and is refused")
        def _():
            client = Client(design, directory)
            created_read_and_changed(client, story)
            listed_page_by_page(client, story)
            done_and_refused(client, story)


finish()
