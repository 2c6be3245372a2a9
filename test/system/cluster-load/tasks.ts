import { expect } from 'vitest';
import type { MessagePart, StreamEvent, Task, TaskStatus } from '../../../packages/protocols/src/lf-a2a/shapes.ts';
import { call } from '../call.ts';
import type { System } from '../system.ts';
import type { LoadClient, LoadContext } from './load-context.ts';

/** Tasks of Linux Foundation A2A: another node continues a stream behind the last event that the client has. */
export function tasks(load: LoadContext): LoadClient {
  const fates = load.fatesOf('tasks');
  const seen = new Map<string, FoldedTask>();
  const { cluster } = load;
  const send = (node: System, messageId: string, text: string) => {
    const json = { message: { messageId, role: 'ROLE_USER', parts: [{ text }] } };
    return call(node.url, { method: 'POST', path: `${AGENT}/message:stream`, key: cluster.key, json });
  };
  const follow = (node: System, taskId: string, after: string) => {
    const path = `${AGENT}/tasks/${taskId}:subscribe`;
    return load.below(2) === 0
      ? call(node.url, { path, key: cluster.key, headers: { 'last-event-id': after } })
      : call(node.url, { path: `${path}?after=${after}`, key: cluster.key });
  };
  return {
    async send() {
      const messageId = load.nextId('task');
      const words = load.words();
      const events: StreamEvent[] = [];
      let taskId = '';
      let last = '';
      await load.untilAnswered(fates, async (node) => {
        const answer = await (last === '' ? send(node, messageId, words.join(' ')) : follow(node, taskId, last));
        if (answer.status >= 500) return undefined;
        expect(answer.status, `${messageId} ${answer.status === 200 ? '' : await answer.text()}`).toBe(200);
        try {
          for await (const { id, data } of answer.events()) {
            const event = JSON.parse(data);
            taskId ||= event.task?.id;
            last = id;
            events.push(event);
            if (isEnd(event)) return true;
            // Now and then the client loses its connection, and not because of a kill.
            if (load.below(10) === 0) return undefined;
          }
          return undefined;
        } finally {
          answer.destroy();
        }
      });
      const { states, text, ...folded } = foldOf(events);
      const isComplete = states.at(-1) === 'TASK_STATE_COMPLETED';
      expect(states, taskId).toEqual([
        'TASK_STATE_SUBMITTED',
        ...(states.length === 3 ? ['TASK_STATE_WORKING'] : []),
        isComplete ? 'TASK_STATE_COMPLETED' : 'TASK_STATE_FAILED',
      ]);
      if (isComplete) expect(text, taskId).toBe(words.join(''));
      else {
        expect(words.join('').startsWith(text), `${taskId}: ${text}`).toBe(true);
        expect(events.at(-1), taskId).toMatchObject({ statusUpdate: { metadata: { e2a_code: 'E2A.INTERRUPTED' } } });
      }
      fates[isComplete ? 'complete' : 'interrupted'] += 1;
      seen.set(taskId, { text, ...folded });
      load.ended.set(taskId, undefined);
    },

    async check() {
      for (const [taskId, folded] of seen) {
        for (const node of cluster.nodes) {
          const found = await call(node.url, { path: `${AGENT}/tasks/${taskId}`, key: cluster.key });
          const { states: _, ...task } = foldOf([{ task: (await found.json()) as Task }]);
          expect(task, taskId).toEqual(folded);
          const events: StreamEvent[] = [];
          for await (const { data } of (await follow(node, taskId, 'task')).events()) events.push(JSON.parse(data));
          const { states: __, ...followed } = foldOf(events);
          expect(followed, taskId).toEqual(folded);
        }
      }
    },
  };
}

interface FoldedTask {
  readonly text: string;
  /** Parts that are not text. */
  readonly parts: readonly MessagePart[];
  readonly status: TaskStatus | undefined;
}

/** The events as a client shows them. Where text is cut into events may differ; what they add up to may not. */
function foldOf(events: readonly StreamEvent[]): FoldedTask & { readonly states: readonly string[] } {
  const parts: MessagePart[] = [];
  const statuses: TaskStatus[] = [];
  for (const event of events) {
    if ('task' in event) {
      statuses.push(event.task.status);
      for (const artifact of event.task.artifacts ?? []) parts.push(...artifact.parts);
    } else if ('statusUpdate' in event) statuses.push(event.statusUpdate.status);
    else if ('artifactUpdate' in event) parts.push(...event.artifactUpdate.artifact.parts);
  }
  return {
    text: parts.map(({ text = '' }) => text).join(''),
    parts: parts.filter(({ text }) => text === undefined),
    status: statuses.at(-1),
    states: statuses.map(({ state }) => state),
  };
}

function isEnd(event: StreamEvent): boolean {
  return 'statusUpdate' in event && /COMPLETED|FAILED/.test(event.statusUpdate.status.state);
}

const AGENT = '/lf-a2a/agents/paced';
