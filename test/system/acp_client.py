"""The official Python SDK of ACP as a client of `dragoman acp`. Prints what it has seen as one line of JSON."""

import asyncio
import json
import os
import sys

from acp import Client, RequestPermissionResponse, spawn_agent_process, text_block
from acp.schema import AllowedOutcome, DeniedOutcome


class Editor(Client):
    def __init__(self):
        self.text = ""
        self.kinds = []
        self.permissions = []
        self.answers = []

    def on_connect(self, conn):
        pass

    async def session_update(self, session_id, update, **kwargs):
        self.kinds.append(update.session_update)
        if update.session_update == "agent_message_chunk":
            self.text += update.content.text

    async def request_permission(self, session_id, tool_call, options, **kwargs):
        self.permissions.append([option.option_id for option in options])
        answer = self.answers.pop(0)
        if answer == "never":
            await asyncio.Event().wait()
        if answer is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=answer))


async def main():
    seen = {}
    editor = Editor()
    command, *words = sys.argv[1:]
    env = {"PATH": os.environ["PATH"], "DRAGOMAN_KEY": os.environ["DRAGOMAN_KEY"]}
    async with spawn_agent_process(editor, command, *words, env=env) as (agent, _):
        info = await agent.initialize(protocol_version=1)
        seen["initialize"] = [info.protocol_version, info.agent_info.name]
        session = (await agent.new_session(cwd="/work", mcp_servers=[])).session_id
        ended = await agent.prompt(session_id=session, prompt=[text_block("hello")])
        seen["prompt"] = [ended.stop_reason, editor.text]
        await agent.set_config_option(session_id=session, config_id="agent", value="asker")
        for answer in ["allow", "reject"]:
            editor.text = ""
            editor.answers = [answer]
            ended = await agent.prompt(session_id=session, prompt=[text_block("go")])
            seen[answer] = [ended.stop_reason, editor.text]
        await agent.set_config_option(session_id=session, config_id="agent", value="hasty")
        editor.text = ""
        editor.answers = ["never"]
        ended = await agent.prompt(session_id=session, prompt=[text_block("go")])
        seen["expire"] = [ended.stop_reason, editor.text]
        await agent.set_config_option(session_id=session, config_id="agent", value="worker")
        editor.text = ""
        held = asyncio.create_task(agent.prompt(session_id=session, prompt=[text_block("hold")]))
        while editor.text == "":
            await asyncio.sleep(0.02)
        await agent.cancel(session_id=session)
        seen["cancel"] = (await held).stop_reason
        listed = await agent.list_sessions(cwd="/work")
        seen["list"] = session in [one.session_id for one in listed.sessions]
        editor.kinds = []
        await agent.load_session(cwd="/work", session_id=session, mcp_servers=[])
        seen["load"] = editor.kinds[:2]
    print(json.dumps(seen))


asyncio.run(main())
