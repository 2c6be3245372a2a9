"""An agent on the official Python SDK 0.3.26 over JSON-RPC: prints its URL, and stops when its input ends."""

import asyncio
import socket
import sys

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Part, TextPart


def part(text):
    return Part(root=TextPart(text=text))


class Executor(AgentExecutor):
    async def execute(self, context, event_queue):
        text = context.get_user_input()
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if context.current_task is not None:
            await updater.start_work()
            await updater.add_artifact([part(f'You said {text}')], artifact_id='answer')
            return await updater.complete()
        await updater.submit()
        await updater.start_work()
        if text == 'ask':
            return await updater.requires_input(updater.new_agent_message([part('Which city?')]), final=True)
        if text == 'fail':
            return await updater.failed(updater.new_agent_message([part('it failed')]))
        await updater.add_artifact([part('Hello')], artifact_id='answer')
        if text == 'hold':
            await asyncio.sleep(60)
        await updater.add_artifact([part(' world')], artifact_id='answer', append=True, last_chunk=True)
        await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


async def main():
    listener = socket.socket()
    listener.bind(('127.0.0.1', 0))
    url = f'http://127.0.0.1:{listener.getsockname()[1]}'
    card = AgentCard(
        name='Python',
        description='The Python SDK 0.3.26.',
        version='1',
        url=url,
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=['text/plain'],
        default_output_modes=['text/plain'],
        skills=[AgentSkill(id='talk', name='Talk', description='Talks.', tags=['talk'])],
    )
    handler = DefaultRequestHandler(agent_executor=Executor(), task_store=InMemoryTaskStore())
    app = A2AStarletteApplication(agent_card=card, http_handler=handler).build()
    server = uvicorn.Server(uvicorn.Config(app, log_level='error'))
    print(url, flush=True)
    asyncio.get_running_loop().run_in_executor(None, lambda: (sys.stdin.read(), setattr(server, 'should_exit', True)))
    await server.serve(sockets=[listener])


asyncio.run(main())
