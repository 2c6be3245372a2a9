"""The official Python SDK 1.3.0 as a client, over both bindings: prints one line of JSON with what it saw."""

import asyncio
import json
import os
import uuid

import httpx
from a2a.client import ClientConfig, create_client
from a2a.types import CancelTaskRequest, GetExtendedAgentCardRequest, GetTaskRequest, ListTasksRequest, Message, Part
from a2a.types import Role, SendMessageRequest, SubscribeToTaskRequest, TaskPushNotificationConfig, TaskState


def request(text, task_id=''):
    message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)], task_id=task_id)
    return SendMessageRequest(message=message)


def state_of(status):
    return TaskState.Name(status.state).removeprefix('TASK_STATE_').lower()


def text_of(task):
    return ''.join(part.text for artifact in task.artifacts for part in artifact.parts)


async def run(http, binding):
    preference = ClientConfig(httpx_client=http, supported_protocol_bindings=[binding], use_client_preference=True)
    client = await create_client(os.environ['A2A_URL'], client_config=preference)
    seen = {}
    task_id, text, state = '', '', ''
    async for event in client.send_message(request('work')):
        if event.HasField('task'):
            task_id = event.task.id
        if event.HasField('artifact_update'):
            text += ''.join(part.text for part in event.artifact_update.artifact.parts)
        if event.HasField('status_update'):
            state = state_of(event.status_update.status)
    seen['stream'] = [state, text]
    again = await client.get_task(GetTaskRequest(id=task_id))
    seen['get'] = [state_of(again.status), text_of(again)]
    page = await client.list_tasks(ListTasksRequest(context_id=again.context_id))
    assert [task.id for task in page.tasks] == [task_id] and page.total_size == 1, page
    card = await client.get_extended_agent_card(GetExtendedAgentCardRequest())
    assert card.skills and card.signatures, card

    held = ''
    async for event in client.send_message(request('hold')):
        if event.HasField('task'):
            held = event.task.id
        if event.HasField('artifact_update'):
            break
    url = os.environ['A2A_PUSH_URL']
    config = TaskPushNotificationConfig(task_id=held, id='py', url=url)
    kept = await client.create_task_push_notification_config(config)
    seen['push'] = kept.url == url

    async def cancel_soon():
        await asyncio.sleep(0.2)
        return await client.cancel_task(CancelTaskRequest(id=held))

    cancelling = asyncio.create_task(cancel_soon())
    states = []
    async for event in client.subscribe(SubscribeToTaskRequest(id=held)):
        status = event.task.status if event.HasField('task') else event.status_update.status
        states.append(state_of(status))
    seen['resubscribe'] = [states[0], states[-1]]
    seen['cancel'] = state_of((await cancelling).status)
    try:
        await client.get_task(GetTaskRequest(id='task-unknown'))
        seen['error'] = 'none'
    except Exception as error:
        seen['error'] = str(error)
    asker = await create_client(f'{os.environ["A2A_URL"]}/lf-a2a/agents/asker', client_config=preference)
    async for event in asker.send_message(request('go')):
        if event.HasField('task'):
            task_id = event.task.id
        if event.HasField('status_update'):
            state = state_of(event.status_update.status)
    async for _ in asker.send_message(request('allow', task_id)):
        pass
    done = await asker.get_task(GetTaskRequest(id=task_id))
    seen['question'] = [state, state_of(done.status), ''.join(part.text for part in done.artifacts[0].parts)]
    return seen


async def main():
    headers = {'Authorization': f'Bearer {os.environ["A2A_KEY"]}'}
    async with httpx.AsyncClient(headers=headers, timeout=30) as http:
        rpc = await run(http, 'JSONRPC')
        rest = await run(http, 'HTTP+JSON')
        assert rest == rpc, (rest, rpc)
        print(json.dumps(rpc))


asyncio.run(main())
