"""FastMCP's client: lists and calls tools, and answers a question by elicitation."""
import asyncio
import json
import os

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.exceptions import ToolError


async def answer(message, response_type, params, context):
    return {"name": "Ada"}


async def main():
    headers = {"Authorization": f"Bearer {os.environ['PEER_KEY']}"}
    transport = StreamableHttpTransport(os.environ["PEER_URL"] + "/mcp", headers=headers)
    steps = []

    async def progress(done, total, message):
        steps.append(done)

    async with Client(transport, elicitation_handler=answer, progress_handler=progress) as client:
        seen = {"tools": [tool.name for tool in await client.list_tools()]}
        result = await client.call_tool("ask_worker", {"prompt": "work"})
        seen["text"] = result.structured_content["text"]
        seen["form"] = (await client.call_tool("ask_forms", {"prompt": "go"})).structured_content["text"]
        seen["prompts"] = [prompt.name for prompt in await client.list_prompts()]
        uri = f"e2a://requests/{result.structured_content['request_id']}"
        seen["resource"] = (await client.read_resource(uri))[0].text
        seen["progress_rises"] = steps == sorted(steps)
        try:
            await client.call_tool("work", {"mode": "fail"})
        except ToolError as error:
            seen["failed"] = str(error)
        print(json.dumps(seen))


asyncio.run(main())
