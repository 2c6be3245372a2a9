"""OpenAI's official Python client: chat completions and responses, whole, streamed and read again."""
import json
import os

import openai

client = openai.OpenAI(base_url=os.environ["PEER_URL"] + "/v1", api_key=os.environ["PEER_KEY"], max_retries=0)
seen = {"models": sorted(model.id for model in client.models.list())}

messages = [{"role": "user", "content": "work"}]
whole = client.chat.completions.create(model="worker", messages=messages)
seen["chat"] = whole.choices[0].message.content

parts = client.chat.completions.create(model="worker", messages=messages, stream=True)
seen["chat_stream"] = "".join(chunk.choices[0].delta.content or "" for chunk in parts if chunk.choices)

response = client.responses.create(model="worker", input="work")
seen["response"] = response.output_text
seen["retrieved"] = client.responses.retrieve(response.id).output_text

with client.responses.stream(model="worker", input="work") as stream:
    numbers = [event.sequence_number for event in stream]
    seen["response_stream"] = stream.get_final_response().output_text
seen["numbers_rise"] = numbers == list(range(len(numbers)))

rest = client.responses.retrieve(response.id, stream=True, starting_after=2)
seen["resumed_at"] = next(iter(rest)).sequence_number

try:
    client.chat.completions.create(model="nobody", messages=messages)
except openai.NotFoundError as error:
    seen["unknown"] = error.code
try:
    client.chat.completions.create(model="worker", messages=[{"role": "user", "content": "fail"}])
except openai.APIStatusError as error:
    seen["failed"] = error.status_code
print(json.dumps(seen))
