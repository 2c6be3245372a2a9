// An agent has a workflow checked and run against an API, with a credential it never sees.
// Run it: node examples/workflow/run.mjs
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { startDragoman } from '../support/server.mjs';
import { allHold, step } from '../support/steps.mjs';
import { startApi } from './api.mjs';

const TOKEN = 'a-very-secret-token';
const api = await startApi(TOKEN);
const server = await startDragoman({
  folder: import.meta.url,
  config: {
    gate: { allow: [api.host] },
    apis: { shop: { base_url: `http://${api.host}`, description: 'Orders of the shop.' } },
  },
});
const workflow = readFileSync(new URL('./report.jsonl', import.meta.url), 'utf8').replace(
  'http://API',
  `http://${api.host}`,
);
try {
  await server.admin.credentials.put('shop-token', { type: 'bearer-token', value: TOKEN, hosts: [api.host] });
  const operations = ['ApiCall', 'FilterData', 'TransformData'];
  const clerk = await server.as({
    agent_id: 'clerk',
    permissions: { operations, apis: ['shop'], credentials: ['shop-token'] },
  });
  const guest = await server.as({ agent_id: 'guest', permissions: { operations, apis: ['shop'] } });

  const report = await clerk.workflows.validate(workflow);
  assert.equal(report.valid, true);
  assert.equal(api.calls.length, 0);
  step('The workflow is valid; nothing has been called.');

  const result = await clerk.workflows.execute(workflow);
  assert.equal(result.status, 'success');
  assert.equal(result.results.sum, 142);
  step('It ran: the two large orders make 142.');

  assert.ok(!JSON.stringify(result).includes(TOKEN));
  assert.equal(result.results.fetch[0].seen, 'Bearer [redacted]');
  step('The API echoed the token, and the agent did not get it.');

  const other = workflow.replace('"report"', '"other"');
  await assert.rejects(guest.workflows.execute(other), { code: 'forbidden' });
  assert.equal(api.calls.length, 1);
  step('Who may not use the credential is refused before a byte leaves.');

  const misspelt = workflow.replace('"/workflow/large","transform"', '"/workflow/larg","transform"');
  const wrong = await clerk.workflows.validate(misspelt);
  assert.equal(wrong.valid, false);
  assert.match(JSON.stringify(wrong.errors), /\/workflow\/large/);
  step('A misspelt path is found before anything runs, and the right one named.');
} finally {
  await server[Symbol.asyncDispose]();
  api.stop();
}
allHold();
