"""A client that shares no code with the server: E2A over HTTP and SSE, and signed A2A messages."""

import json
import os
import sys
import urllib.request
from datetime import datetime, timezone
from uuid import uuid4

from cryptography.hazmat.primitives import serialization

from a2a_messages_schemas import parse_message, sign_message, verify_message

URL, KEY = os.environ["FOREIGN_URL"], os.environ["FOREIGN_KEY"]


def post(path, message, headers):
    request = urllib.request.Request(URL + path, json.dumps(message).encode(), {"content-type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.read().decode()


def e2a_http():
    params = {"content": "hello", "id": 9007199254740993, "zero": -0.0}
    frame = json.loads(post("/e2a", {"method": "chat.send", "params": params}, {"authorization": f"Bearer {KEY}"}))
    assert frame["status"] == "succeeded" and frame["source_agent_id"] == "foreign-agent", frame


def e2a_sse():
    headers = {"authorization": f"Bearer {KEY}", "accept": "text/event-stream"}
    stream = post("/e2a", {"method": "chat.send", "is_stream": True, "params": {"content": "hello"}}, headers)
    frames = [json.loads(line[5:]) for line in stream.splitlines() if line.startswith("data:")]
    assert [frame["sequence"] for frame in frames] == list(range(len(frames))), frames
    assert [frame["is_final"] for frame in frames].count(True) == 1 and frames[-1]["is_final"], frames


def signed_message():
    private_key = serialization.load_pem_private_key(os.environ["FOREIGN_PRIVATE_KEY"].encode(), None)
    server_key = serialization.load_pem_public_key(os.environ["FOREIGN_SERVER_KEY"].encode())
    model = parse_message({
        "message_id": uuid4(),
        "message_type": "request",
        "sender_id": "foreign-agent",
        "recipient_id": "echo",
        "timestamp": datetime.now(timezone.utc),
        "payload": {"method": "say", "parameters": {"content": "grüße", "price": 1.50}},
    })
    answer = json.loads(post("/a2a/messages", sign_message(model.to_json(), private_key), {}))
    assert parse_message(answer).payload.status == "success", answer
    assert verify_message(answer, server_key), answer


{"e2a_http": e2a_http, "e2a_sse": e2a_sse, "signed_message": signed_message}[sys.argv[1]]()
print("ok")
