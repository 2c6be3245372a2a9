import { expect } from 'vitest';
import { workflowOf } from '../workflow-caller.ts';
import type { LoadClient, LoadContext } from './load-context.ts';

/** Workflows of POST, Wait, POST: neither POST is ever made twice. */
export function orders(load: LoadContext): LoadClient {
  const fates = load.fatesOf('orders');
  return {
    async send() {
      const id = load.nextId('workflow');
      const order = (step: string) => ({
        ApiCall: { method: 'POST', url: load.orderUrl(`${id}/${step}`), body: {}, outputPath: `/workflow/${step}` },
      });
      const wait = { Wait: { duration: load.below(300) } };
      const workflow = workflowOf({ first: order('first'), wait, second: order('second') }, { id });
      const { status, error } = await load.untilAnswered(fates, async () => {
        const result = await load.post(fates, '/api/v1/workflows/execute', { workflow });
        return result['status'] === 'running' ? undefined : result;
      });
      load.ended.set(id, undefined);
      const counts = ['first', 'second'].map((step) => load.ordersOf(`${id}/${step}`));
      if (status === 'success') {
        expect(counts, id).toEqual([1, 1]);
        fates.complete += 1;
      } else {
        // The node was killed while it waited for the answer to a POST: whether that took effect is unknown, and it is not sent again.
        expect(Math.max(...counts), `${id} ${status}`).toBeLessThanOrEqual(1);
        expect(error, id).toMatchObject({ details: { outcome: 'unknown' } });
        fates.interrupted += 1;
      }
    },
  };
}
