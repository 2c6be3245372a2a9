"""An agent on the official Python SDK 1.3.0, over both bindings: prints its URL, and stops when its input ends."""

import asyncio
import socket
import sys

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part, Task, TaskState, TaskStatus
from starlette.applications import Starlette


class Executor(AgentExecutor):
    async def execute(self, context, event_queue):
        text = context.get_user_input()
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if context.current_task is None:
            status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
            task = Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])
            await event_queue.enqueue_event(task)
        else:
            await updater.start_work()
            await updater.add_artifact([Part(text=f'You said {text}')], artifact_id='answer')
            return await updater.complete()
        await updater.start_work()
        if text == 'ask':
            return await updater.requires_input(updater.new_agent_message([Part(text='Which city?')]))
        if text == 'fail':
            return await updater.failed(updater.new_agent_message([Part(text='it failed')]))
        await updater.add_artifact([Part(text='Hello')], artifact_id='answer')
        if text == 'hold':
            await asyncio.sleep(60)
        await updater.add_artifact([Part(text=' world')], artifact_id='answer', append=True, last_chunk=True)
        await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


async def main():
    listener = socket.socket()
    listener.bind(('127.0.0.1', 0))
    url = f'http://127.0.0.1:{listener.getsockname()[1]}'
    bindings = ['JSONRPC', 'HTTP+JSON'] if len(sys.argv) < 2 else sys.argv[1:]
    card = AgentCard(
        name='Python',
        description='The Python SDK 1.3.0.',
        version='1',
        supported_interfaces=[AgentInterface(url=url, protocol_binding=one, protocol_version='1.0') for one in bindings],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=['text/plain'],
        default_output_modes=['text/plain'],
        skills=[AgentSkill(id='talk', name='Talk', description='Talks.', tags=['talk'])],
    )
    handler = DefaultRequestHandler(agent_executor=Executor(), task_store=InMemoryTaskStore(), agent_card=card)
    routes = create_agent_card_routes(card) + create_jsonrpc_routes(handler, '/') + create_rest_routes(handler)
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level='error'))
    print(url, flush=True)
    asyncio.get_running_loop().run_in_executor(None, lambda: (sys.stdin.read(), setattr(server, 'should_exit', True)))
    await server.serve(sockets=[listener])


asyncio.run(main())
