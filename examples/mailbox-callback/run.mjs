// A mailbox message whose answer is sent to a callback: signed, at least once, even if the receiver was away.
// Run it: node examples/mailbox-callback/run.mjs
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CallbackReceiver, createClient } from '@dragoman/client';
// A certificate for this machine alone. With one from a public authority, `gate.ca` is not needed.
import { selfSigned } from '../../packages/cli/dist/self-signed.js';
import { startDragoman } from '../support/server.mjs';
import { allHold, step } from '../support/steps.mjs';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-callback-'));
const { cert, key } = selfSigned({ now: new Date(), days: 1 });
writeFileSync(join(folder, 'cert.pem'), cert);

let receiver;
let isAway = true;
const tries = [];
const receiving = createServer({ cert, key }, async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  tries.push(request.headers['webhook-id']);
  if (isAway) return response.writeHead(503).end();
  await receiver.receive({ headers: request.headers, body: Buffer.concat(parts) });
  response.writeHead(204).end();
});
await once(receiving.listen(0, '127.0.0.1'), 'listening');
const host = `127.0.0.1:${receiving.address().port}`;

const server = await startDragoman({
  folder: import.meta.url,
  config: {
    default_agent: 'clerk',
    agents: { clerk: { driver: 'module', module: './agent.mjs' } },
    gate: { callbacks: [host], ca: [join(folder, 'cert.pem')] },
    mailbox: { name: 'Office', anonymous: ['clerk'], callbacks: { backoff_ms: 50 } },
  },
});
try {
  const client = createClient({ url: server.url });
  const { callbacks } = await client.mailbox.about();
  const answers = [];
  receiver = new CallbackReceiver({ publicKey: callbacks.publicKey, onAnswer: (answer) => answers.push(answer) });

  const posted = await client.mailbox.send({
    from: { name: 'Ada', callbackUrl: `https://${host}/answers` },
    message: 'When do you open?',
  });
  assert.equal(posted.metadata.status, 'received');
  step('The message is taken at once; its answer will come.');

  await until(() => tries.length > 0);
  isAway = false;
  await until(() => answers.length > 0);
  assert.equal(answers[0].replyTo, posted.replyTo);
  assert.equal(answers[0].message.content, 'At nine.');
  step('The receiver was away, and was tried again; the signature is good.');

  assert.equal(new Set(tries).size, 1);
  step('Every try had the same id, so that nothing is done twice.');

  const forged = forgedCallback({ 'webhook-id': tries[0], 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) });
  await assert.rejects(receiver.receive(forged), { status: 401 });
  step('What is not signed by the server is refused.');
} finally {
  await server[Symbol.asyncDispose]();
  receiving.closeAllConnections();
  receiving.close();
  rmSync(folder, { recursive: true, force: true });
}
allHold();

/** A callback as somebody else would send it. */
function forgedCallback(headers) {
  return { headers: { ...headers, 'webhook-signature': 'v1a,AAAA' }, body: Buffer.from('{}') };
}

async function until(holds) {
  for (const giveUp = Date.now() + 20_000; !holds(); ) {
    if (Date.now() > giveUp) throw new Error('it did not happen in 20 s');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
