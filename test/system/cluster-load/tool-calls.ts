import { connect } from 'node:net';
import { expect } from 'vitest';
import type { JsonObject } from '../../../packages/protocols/src/json.ts';
import { socketPeer } from '../../../packages/server/src/edges/wire-peer.contract.ts';
import type { System } from '../system.ts';
import { WireCaller } from '../wire-caller.ts';
import type { LoadClient, LoadContext } from './load-context.ts';

/** Durable calls on the A2E wire of a tool that places an order, at most once. The same call again gets the recorded answer. */
export function toolCalls(load: LoadContext): LoadClient {
  const fates = load.fatesOf('tool calls');
  const callAt = async ({ wireUrl }: System, id: string, url: string) => {
    const { hostname, port } = new URL(wireUrl);
    await using wire = new WireCaller(await socketPeer(connect(Number(port), hostname)));
    await wire.greet(load.cluster.key);
    wire.call('order', { url }, { id, durable: true });
    const answer = await wire.answer(id);
    return isForNow(answer) ? undefined : answer;
  };
  return {
    async send() {
      const id = load.nextId('wire');
      const url = load.orderUrl(id);
      const { type, code, data } = await load.untilAnswered(fates, (node) => callAt(node, id, url));
      load.ended.set(id, undefined);
      if (type === 'tool/call/resp') {
        expect(data, id).toMatchObject({ success: true, data: { ordered: id } });
        expect(load.ordersOf(id), id).toBe(1);
        fates.complete += 1;
      } else {
        expect(code, id).toBe('runtime_error');
        expect(load.ordersOf(id), id).toBeLessThanOrEqual(1);
        fates.interrupted += 1;
      }
      const again = await load.untilAnswered(fates, (node) => callAt(node, id, url));
      expect(again, id).toMatchObject({ type, ...(type === 'error' && { code }) });
      expect(load.ordersOf(id), id).toBeLessThanOrEqual(1);
    },
  };
}

/** The node has no database, or stops. */
function isForNow({ type, code }: JsonObject): boolean {
  return type === 'error' && (code === 'busy' || code === 'internal_error');
}
