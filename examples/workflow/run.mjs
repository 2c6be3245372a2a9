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
  const binding = { type: 'bearer-token', value: TOKEN, hosts: [api.host] };
  await server.put('/admin/v1/credentials/shop-token', binding);
  const operations = ['ApiCall', 'FilterData', 'TransformData'];
  const clerk = await server.as({
    agent_id: 'clerk',
    permissions: { operations, apis: ['shop'], credentials: ['shop-token'] },
  });
  const guest = await server.as({ agent_id: 'guest', permissions: { operations, apis: ['shop'] } });

  const report = await post(clerk, 'validate', { workflow });
  assert.equal(report.valid, true);
  assert.equal(api.calls.length, 0);
  step('The workflow is valid; nothing has been called.');

  const result = await post(clerk, 'execute', { workflow });
  assert.equal(result.status, 'success');
  assert.deepEqual(result.results.sum, { result: 142 });
  step('It ran: the two large orders make 142.');

  assert.ok(!JSON.stringify(result).includes(TOKEN));
  assert.equal(result.results.fetch[0].seen, 'Bearer [redacted]');
  step('The API told the token back, and the agent did not get it.');

  const refused = await post(guest, 'execute', { workflow: workflow.replace('"report"', '"other"') });
  assert.equal(refused.error.type, 'PermissionError');
  assert.equal(api.calls.length, 1);
  step('Who may not use the credential is refused before a byte leaves.');

  const wrong = await post(clerk, 'validate', {
    workflow: workflow.replace('"/workflow/large","transform"', '"/workflow/larg","transform"'),
  });
  assert.equal(wrong.valid, false);
  assert.match(JSON.stringify(wrong.errors), /\/workflow\/large/);
  step('A misspelt path is found before anything runs, and the right one named.');
} finally {
  await server[Symbol.asyncDispose]();
  api.stop();
}
allHold();

async function post({ key }, action, body) {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const answer = await fetch(`${server.url}/api/v1/workflows/${action}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  return answer.json();
}
