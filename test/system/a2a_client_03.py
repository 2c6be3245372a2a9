"""The official Python SDK 0.3.26 as a client: prints one line of JSON with what it saw."""

import asyncio
import json
import os
import uuid

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.types import Message, Part, PushNotificationConfig, Role, TaskIdParams, TaskPushNotificationConfig
from a2a.types import TaskQueryParams, TextPart


def message(text, task_id=None):
    return Message(message_id=str(uuid.uuid4()), role=Role.user, parts=[Part(root=TextPart(text=text))], task_id=task_id)


def text_of(task):
    return ''.join(part.root.text for artifact in task.artifacts or [] for part in artifact.parts if hasattr(part.root, 'text'))


async def main():
    headers = {'Authorization': f'Bearer {os.environ["A2A_KEY"]}'}
    async with httpx.AsyncClient(headers=headers, timeout=30) as http:
        client = await ClientFactory.connect(os.environ['A2A_URL'], client_config=ClientConfig(httpx_client=http))
        seen = {}
        last = None
        async for event in client.send_message(message('work')):
            last = event
        task = last[0] if isinstance(last, tuple) else last
        seen['stream'] = [task.status.state.value, text_of(task)]
        again = await client.get_task(TaskQueryParams(id=task.id))
        seen['get'] = [again.status.state.value, text_of(again)]

        held = None
        async for event in client.send_message(message('hold')):
            held = event[0]
            if held.artifacts:
                break
        config = PushNotificationConfig(id='py', url=os.environ['A2A_PUSH_URL'])
        kept = await client.set_task_callback(TaskPushNotificationConfig(task_id=held.id, push_notification_config=config))
        seen['push'] = kept.push_notification_config.url == config.url

        async def cancel_soon():
            await asyncio.sleep(0.2)
            return await client.cancel_task(TaskIdParams(id=held.id))

        cancelling = asyncio.create_task(cancel_soon())
        states = []
        async for event in client.resubscribe(TaskIdParams(id=held.id)):
            states.append(event[0].status.state.value)
        seen['resubscribe'] = [states[0], states[-1]]
        seen['cancel'] = (await cancelling).status.state.value
        try:
            await client.get_task(TaskQueryParams(id='task-unknown'))
            seen['error'] = 'none'
        except Exception as error:
            seen['error'] = str(error)
        url = f'{os.environ["A2A_URL"]}/lf-a2a/agents/asker'
        asker = await ClientFactory.connect(url, client_config=ClientConfig(httpx_client=http))
        async for event in asker.send_message(message('go')):
            stopped = event[0]
        async for _ in asker.send_message(message('allow', stopped.id)):
            pass
        done = await asker.get_task(TaskQueryParams(id=stopped.id))
        seen['question'] = [stopped.status.state.value.replace('-', '_'), done.status.state.value, text_of(done)]
        print(json.dumps(seen))


asyncio.run(main())
