import { expect } from 'vitest';
import type { JsonObject } from '../../../packages/protocols/src/json.ts';
import { workflowOf } from '../workflow-caller.ts';
import type { LoadClient, LoadContext } from './load-context.ts';

/** Workflows that wait for a person in the store while nodes are killed. Once approved, at any node, each places its order once. */
export function approvals(load: LoadContext): LoadClient {
  const fates = load.fatesOf('approvals');
  const waiting: string[] = [];

  /** The question of an execution, when a node has opened it. It is listed once. */
  async function questionOf(id: string): Promise<string> {
    return load.untilAnswered(fates, async () => {
      const { json } = await load.request(fates, { path: '/e2a/questions' });
      const listed = json['questions'] as unknown as { request_id: string; question_id: string }[];
      const mine = listed.filter(({ request_id }) => request_id === id);
      expect(mine.length, JSON.stringify(mine)).toBeLessThanOrEqual(1);
      return mine[0]?.question_id;
    });
  }

  async function approve(id: string): Promise<void> {
    const question = await questionOf(id);
    const path = `/e2a/requests/${id}/questions/${question}`;
    const answered = await load.request(fates, { method: 'POST', path, json: { option_id: 'allow' } });
    // 409: an earlier try has arrived, though its response was lost.
    expect([200, 409], `${id} ${JSON.stringify(answered.json)}`).toContain(answered.status);
    const { results, status, error } = await load.untilAnswered(fates, async () => {
      const { json } = await load.request(fates, { path: `/api/v1/executions/${id}` });
      return json['status'] === 'running' ? undefined : json;
    });
    load.ended.set(id, undefined);
    expect((results as JsonObject)['ask'], id).toMatchObject({ option_id: 'allow', by: 'client' });
    if (status === 'success') {
      expect(load.ordersOf(id), id).toBe(1);
      fates.complete += 1;
    } else {
      expect(load.ordersOf(id), id).toBeLessThanOrEqual(1);
      expect(error, id).toMatchObject({ operationId: 'order', details: { outcome: 'unknown' } });
      fates.interrupted += 1;
    }
  }

  return {
    async send() {
      const id = load.nextId('approval');
      const ask = { AskApproval: { title: 'Order it?', outputPath: '/workflow/approval' } };
      const order = { ApiCall: { method: 'POST', url: load.orderUrl(id), body: {}, outputPath: '/workflow/order' } };
      const workflow = workflowOf({ ask, order }, { id });
      await load.post(fates, '/api/v1/workflows/execute', { workflow }, { prefer: 'respond-async' });
      waiting.push(id);
      if (waiting.length > MOST_WAITING) await approve(String(waiting.shift()));
    },
    async check() {
      for (const id of waiting.splice(0)) await approve(id);
    },
  };
}

/** So many wait at any time, each for as long as it takes to start the same number after it. */
const MOST_WAITING = 8;
