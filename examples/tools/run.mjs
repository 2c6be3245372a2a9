// An agent that starts its own tool host, and uses the tools of ./tools.mjs. Run it: node examples/tools/run.mjs
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { connectWire, streamWire } from '@dragoman/client/wire';
import { allHold, step } from '../support/steps.mjs';

const file = (path) => fileURLToPath(new URL(path, import.meta.url));
const command = [file('../../packages/cli/bin/dragoman.js'), 'wire', '--config', file('./dragoman.yaml')];
const host = spawn(process.execPath, command, { stdio: ['pipe', 'pipe', 'inherit'] });
const wire = await connectWire({ transport: streamWire({ input: host.stdout, output: host.stdin }) });

const tools = await wire.tools();
// The toolkits `agents` and `workflows` hold what else can be called by name.
const own = tools.filter(({ toolkit }) => toolkit === null);
assert.deepEqual(
  own.map(({ name }) => name),
  ['add', 'countdown', 'divide'],
);
step(`The host has ${own.length} tools of its own.`);

const { data } = await wire.call('add', { a: 1, b: 2 });
assert.deepEqual(data, { sum: 3 });
step('1 and 2 are 3.');

await assert.rejects(wire.call('add', { a: 1 }), { code: 'schema_violation' });
step('Arguments that do not fit never reach the tool.');

const refused = await wire.call('divide', { a: 1, b: 0 });
assert.equal(refused.success, false);
assert.equal(refused.error_code, 'DIVISION_BY_ZERO');
step('A tool that did not succeed is an answer, not an error.');

const events = [];
await wire.call('countdown', { from: 3 }, { onEvent: ({ data: { message } }) => events.push(message) });
assert.deepEqual(events, ['3…', '2…', '1…']);
step('What a tool tells while it runs comes in order.');

const chain = await wire.request('chain/req', {
  entry_node: 'sum',
  initial_input: { price: 20 },
  nodes: [
    { node_id: 'sum', kind: 'tool', name: 'add', input: { b: 5 }, input_map: { a: '$.price' }, next_node: 'half' },
    { node_id: 'half', kind: 'tool', name: 'divide', input: { b: 2 }, input_map: { a: '$.sum.sum' } },
  ],
});
assert.deepEqual(chain.final_output, { quotient: 12.5 });
step('Two tools in one request, the second with what the first gave.');

const basket = await wire.request('chain/req', {
  entry_node: 'each',
  initial_input: { prices: [20, 7.5], limit: 25 },
  nodes: [
    { node_id: 'each', kind: 'map', items_path: '$.prices', map_node: 'packed', next_node: 'total' },
    { node_id: 'packed', kind: 'tool', name: 'add', input: { b: 1 }, input_map: { a: '$.item' } },
    {
      node_id: 'total',
      kind: 'tool',
      name: 'add',
      input_map: { a: '$.each.0.sum', b: '$.each.1.sum' },
      next_node: 'dear',
    },
    { node_id: 'dear', kind: 'branch', condition: '$.total.sum > $.limit', true_node: 'half' },
    { node_id: 'half', kind: 'tool', name: 'divide', input: { b: 2 }, input_map: { a: '$.total.sum' } },
  ],
});
assert.deepEqual(basket.outputs.each, [{ sum: 21 }, { sum: 8.5 }]);
assert.deepEqual(basket.final_output, { quotient: 14.75 });
step('A map runs a tool for each item, and a branch goes by what came of it.');

await wire.close();
host.stdin.end();
allHold();
