// One question in five protocols. Every step is checked; the last line says so, and the exit code is 0 only then.
import assert from 'node:assert/strict';
import {
  convert,
  DIALECTS,
  dialectNamed,
  dialectOf,
  e2aResponseToAcpJsonrpcResponse,
  envelopeFromAcpJsonrpc,
  FrameOrder,
  newResponse,
  parseJson,
  projectionsFor,
} from '@dragoman/protocols';
import { signedContent } from '@dragoman/protocols/a2a-messages';
import { HostSession } from '@dragoman/protocols/a2e-wire';
import { checkWorkflow, parseWorkflow } from '@dragoman/protocols/a2e-workflow';

const now = new Date('2026-03-28T12:00:00.000Z');
const stamp = { id: '0123456789abcdef0123456789abcdef', now };
let step = 0;

say('An agent posts to a mailbox, in shorthand');
const posted = read('{"from":"Ada","message":"Is the build green?","metadata":{"messageId":"msg_1","threadId":"t_1"}}');
const mailbox = dialectOf(posted);
assert.equal(mailbox.name, 'a2a-mailbox');
const message = mailbox.decode(posted, now).value;
show('recognised as', mailbox.name);
show('written out', mailbox.encode(message).message);

say('It becomes the envelope every agent gets');
const envelope = mailbox.toEnvelope(message);
show('envelope', { method: envelope.method, session_id: envelope.session_id, params: envelope.params.content });
assert.equal(envelope.request_id, 'msg_1');
assert.equal(envelope.provenance.source_protocol, 'a2a-mailbox');

say('The agent answers in frames, in order, one of them final');
const frames = [
  frame(0, { response_kind: 'e2a.chunk', body: { delta_kind: 'text', delta: 'Yes, ' } }),
  frame(1, { response_kind: 'e2a.chunk', body: { delta_kind: 'text', delta: 'since noon.' } }),
  frame(2, {
    response_kind: 'e2a.complete',
    is_final: true,
    status: 'succeeded',
    body: { result: { content: 'Yes, since noon.' } },
  }),
];
const order = new FrameOrder();
for (const one of frames) assert.deepEqual(order.receive(one), []);
assert.deepEqual(order.end(), []);
assert.equal(order.receive(frames[1])[0].code, 'after_final');
show(
  'frames',
  frames.map((one) => one.response_kind),
);

say('The sender reads the answer in its own protocol');
const [answer] = frames.flatMap((one) => mailbox.fromResponse(one, envelope));
show('answer', { replyTo: answer.replyTo, threadId: answer.threadId, content: answer.message.content });
assert.equal(answer.replyTo, 'msg_1');

say('The same question in the other protocols, with every loss named');
for (const to of DIALECTS.filter((dialect) => dialect.name !== 'a2a-mailbox')) {
  const converted = convert(posted, { from: mailbox, to, stamp });
  if (!converted.ok) {
    show(to.name, converted.issues[0].message);
    assert.equal(to.name, 'a2e-workflow');
    continue;
  }
  assert.deepEqual(
    DIALECTS.filter((dialect) => dialect.recognizes(converted.value.result)),
    [to],
  );
  show(
    to.name,
    `${Object.keys(converted.value.result).length} fields, losing ${converted.value.losses.map((loss) => loss.pointer).join(' ') || 'nothing'}`,
  );
}

say('An editor asks over ACP and is answered in JSON-RPC');
const prompt = envelopeFromAcpJsonrpc({
  method: 'session/prompt',
  params: { sessionId: 's1', prompt: [{ type: 'text', text: 'Is the build green?' }] },
  jsonrpc_id: 42,
  now,
});
const last = { ...frames[2], projections: projectionsFor(frames[2], prompt) };
const rpc = e2aResponseToAcpJsonrpcResponse({ ...last, jsonrpc_id: 42 });
show('JSON-RPC', rpc);
assert.equal(rpc.id, 42);

say('A signed A2A message: these are the bytes both sides sign');
const request =
  read(`{"message_id":"a7f8d9e2-3c4b-4d6e-8f8a-9b0c1d2e3f40","message_type":"request","sender_id":"ada-agent",
  "recipient_id":"build-agent","timestamp":"2026-03-28T12:00:00.000Z","payload":{"method":"build_status"},
  "auth":{"agent_id":"ada-agent","timestamp":"2026-03-28T12:00:00.000Z","nonce":"a1b2c3d4e5f678901234567890123456","signature":"AAAA"}}`);
const messages = dialectNamed('a2a-messages');
const signed = signedContent(messages.decode(request, now).value).value;
show('canonical text', `${signed.text.slice(0, 60)}… (${signed.bytes.length} bytes)`);
assert.ok(!signed.text.includes('AAAA'), 'a signature does not sign itself');

say('A tool host shakes hands over the wire');
let ids = 0;
const session = new HostSession({
  policy: {
    accept: () => ({ ok: true, principal: 'ada' }),
    capabilities: [{ capability: 'tools', enabled: true, metadata: {} }],
    maxParallel: 4,
    startedAt: now,
  },
  newId: () => String(++ids).padStart(32, '0'),
  now,
});
const hello = '{"a2e":"1.0","type":"handshake/req","id":"h1","ts":1774699200,"agent_id":"ada","agent_caps":["tools"]}';
const [welcome] = session.receive(read(hello), now).send;
show('host says', { type: welcome.type, ok: welcome.ok, accepted: welcome.accepted_caps.map((one) => one.capability) });
assert.equal(welcome.ok, true);

say('A workflow is checked before anything runs');
const workflow = parseWorkflow(
  [
    '{"type":"operationUpdate","operationId":"fetch-users","operation":{"ApiCall":{"method":"GET","url":"https://api.example.com/users","outputPath":"/workflow/users"}}}',
    '{"type":"operationUpdate","operationId":"active","operation":{"FilterData":{"inputPath":"/workflow/user","conditions":[{"field":"status","operator":"==","value":"active"}],"outputPath":"/workflow/active"}}}',
    '{"type":"beginExecution","executionId":"exec-1","operationOrder":["fetch-users","active"]}',
  ].join('\n'),
);
const [finding] = checkWorkflow(workflow.value, { level: 'moderate' });
show('finding', `${finding.operationId}: ${finding.message}; ${finding.suggestion}`);
assert.match(finding.suggestion, /\/workflow\/users, written by fetch-users/);

say('Problems are reported as data');
const wrong = mailbox.decode(read('{"from":{"nmae":"Ada"},"message":"hi","metadata":{"priority":"urgnet"}}'), now);
for (const issue of wrong.issues)
  show(issue.pointer, `${issue.message}${issue.suggestion ? ` (${issue.suggestion})` : ''}`);
const twice = parseJson('{"amount":1,"amount":2}');
show('JSON', twice.issues[0].message);
assert.equal(twice.issues[0].code, 'duplicate_key');

console.log(`\nAll ${step} checks passed.`);

function frame(sequence, given) {
  return newResponse({
    response_id: `4f1d6a52-9d4e-4c5b-8a6f-2b7c3d1e0f9${sequence}`,
    request_id: envelope.request_id,
    message_id: envelope.message_id,
    session_id: envelope.session_id,
    method: envelope.method,
    sequence,
    timestamp: now.toISOString(),
    ...given,
  });
}

function read(text) {
  const outcome = parseJson(text);
  assert.ok(outcome.ok, JSON.stringify(outcome.issues));
  return outcome.value;
}

function say(title) {
  step += 1;
  console.log(`\n${step}. ${title}`);
}

function show(label, value) {
  console.log(`   ${label}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
}
