// Signed, durable A2A requests against the same unsigned, with what one verification and one signature cost, in one run; and
// discovery by two capabilities among 10,000 agents against 100; and how long a wrong signature takes to be refused, for any
// claimed sender. Everything runs on this machine, so ratios count.
import type { ChildProcess } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, randomBytes, randomUUID, sign, verify } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { announcement } from '../packages/core/src/a2a-messages/announcement.ts';
import { SenderProof } from '../packages/core/src/a2a-messages/sender-proof.ts';
import { AgentRegistry } from '../packages/core/src/agent-registry/agent-registry.ts';
import { Callers } from '../packages/core/src/callers/callers.ts';
import { Signatures } from '../packages/core/src/signing/signatures.ts';
import { memoryStore } from '../packages/core/test-support/memory-store.ts';
import type { A2AMessage, DiscoverAgentsMessage } from '../packages/protocols/src/a2a-messages/message.ts';
import { canonicalJson } from '../packages/protocols/src/canonical-json.ts';
import { systemClock } from '../packages/server/src/parts/system-ports.ts';
import { endAll, forkPart, nextMessage } from './support/child.ts';
import { load } from './support/load.ts';
import { inTurns, measure, medianRatio, table } from './support/measure.ts';

export async function run(): Promise<readonly string[]> {
  return [...(await signedRequests()), ...(await discovery()), ...(await refusals())];
}

async function signedRequests(): Promise<string[]> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  // Neither checks a signature nor makes one: else a part of what is measured would be in what it is measured against.
  const plain = await BenchServer.start(pem, 'unsigned');
  const proving = await BenchServer.start(pem, 'signed');
  try {
    // Made before they are sent: the client's own signatures are not what is measured.
    const ready: string[] = [];
    const prepare = (count: number) => {
      for (let at = 0; at < count; at++) ready.push(proving.post(signed(request(), privateKey)));
    };
    const results = { unsigned: 0, signed: 0 };
    const measured = { connections: 64, milliseconds: 1500 };
    for (let round = 0; round < ROUNDS; round++) {
      const next = () => plain.post(request(), `Authorization: Bearer ${plain.key}\r\n`);
      const unsigned = await load({ port: plain.port, ...measured, next });
      results.unsigned = Math.max(results.unsigned, unsigned.perSecond);
      prepare(Math.ceil(unsigned.perSecond * 2));
      const nextSigned = () => ready.pop() ?? proving.post(signed(request(), privateKey));
      const proven = await load({ port: proving.port, ...measured, next: nextSigned });
      results.signed = Math.max(results.signed, proven.perSecond);
    }
    const bytes = Buffer.from(canonicalJson(request()));
    const signature = sign(null, bytes, privateKey);
    const cost = measure({
      verify: () => verify(null, bytes, publicKey, signature),
      sign: () => sign(null, bytes, privateKey),
    });
    const verifies = 1e9 / cost.verify;
    const signs = 1e9 / cost.sign;
    const ideal = 1 / (1 / results.unsigned + 1 / verifies + 1 / signs);
    const ratio = results.signed / ideal;
    console.log(
      table([
        ['requests, 64 connections', 'per second'],
        ['unsigned, durable', results.unsigned.toFixed(0)],
        ['signed, durable', results.signed.toFixed(0)],
        ['verifications', verifies.toFixed(0)],
        ['signatures', signs.toFixed(0)],
        ['one after the other', ideal.toFixed(0)],
        [`signed, of that; at least ${SIGNED}`, ratio.toFixed(2)],
      ]),
    );
    return ratio >= SIGNED
      ? []
      : [`signed durable requests: ${ratio.toFixed(2)} × the sum of the parts, at least ${SIGNED} wanted`];
  } finally {
    await plain.stop();
    await proving.stop();
  }
}

/** The built server in its own process. */
class BenchServer {
  readonly port: number;
  readonly key: string;
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(parts: { port: number; key: string; child: ChildProcess; folder: string }) {
    this.port = parts.port;
    this.key = parts.key;
    this.#child = parts.child;
    this.#folder = parts.folder;
  }

  static async start(publicKey: string, signs: 'signed' | 'unsigned'): Promise<BenchServer> {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-messages-'));
    const agent = fileURLToPath(new URL('./support/agent.mjs', import.meta.url));
    const args = [join(folder, 'data'), agent, publicKey, signs];
    const child = forkPart(new URL('./a2a-messages/server.mjs', import.meta.url), args);
    return new BenchServer({ ...(await nextMessage<{ port: number; key: string }>(child)), child, folder });
  }

  /** The bytes of a request. */
  post(message: object, header = ''): string {
    const body = JSON.stringify(message);
    const type = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
    return `POST /a2a/messages HTTP/1.1\r\nHost: 127.0.0.1:${this.port}\r\n${header}${type}\r\n\r\n${body}`;
  }

  async stop(): Promise<void> {
    await endAll([this.#child]);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function discovery(): Promise<string[]> {
  const [few, many] = [await registryOf(100), await registryOf(10_000)];
  const query: DiscoverAgentsMessage = {
    ...request(),
    message_type: 'discover_agents',
    recipient_id: 'registry',
    payload: { capabilities: ['half', 'third'], filters: { max_results: 10 } },
  };
  // The whole answer as it is made for the caller, before it is signed and sent. A hundred times as many agents may take a
  // hundred times as long, which is below a millisecond.
  const stamp = { id: randomBytes(16).toString('hex'), now: new Date() };
  const ask = (registry: AgentRegistry) => announcement(query, registry, { stamp, elapsed: () => performance.now() });
  const look = (registry: AgentRegistry) =>
    registry.discover({ capabilities: ['half', 'third'], status: 'healthy', limit: 10 });
  const cost = measure({
    few: () => ask(few),
    many: () => ask(many),
    lookupFew: () => look(few),
    lookupMany: () => look(many),
  });
  const whole = cost.many / cost.few;
  const lookup = cost.lookupMany / cost.lookupFew;
  const microseconds = (nanoseconds: number) => (nanoseconds / 1000).toFixed(2);
  console.log(
    `\n${table([
      ['discovery by two capabilities, µs', '100 agents', '10,000 agents', '×'],
      ['the lookup alone', microseconds(cost.lookupFew), microseconds(cost.lookupMany), lookup.toFixed(2)],
      ['the whole answer', microseconds(cost.few), microseconds(cost.many), whole.toFixed(2)],
    ])}`,
  );
  return Object.entries({ 'the lookup alone': lookup, 'the whole answer': whole })
    .filter(([, ratio]) => ratio > 150)
    .map(([what, ratio]) => `discovery, ${what}: ${ratio.toFixed(0)} × among 10,000 agents, at most 150 wanted`);
}

/** The time must not reveal whether such an agent exists. */
async function refusals(): Promise<string[]> {
  const agents: Readonly<Record<string, readonly KeyObject[]>> = {
    [NOBODY]: [],
    'signs with Ed25519': [generateKeyPairSync('ed25519').publicKey],
    'signs with P-256': [generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey],
    'signs with RSA': [generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey],
  };
  await using signatures = new Signatures();
  const store = memoryStore();
  const callers = new Callers({ store: store.agents, clock: systemClock });
  const { privateKey } = generateKeyPairSync('ed25519');
  const contenders: Record<string, () => Promise<unknown>> = {};
  for (const [at, [name, keys]] of Object.entries(agents).entries()) {
    const agent_id = `agent-${at}`;
    const public_key = keys.map((key) => key.export({ format: 'pem', type: 'spki' })).join('');
    if (keys.length > 0) await callers.put({ agent_id, permissions: {}, public_key });
    contenders[name] = () => proof.of(signed({ ...request(), sender_id: agent_id }, privateKey) as A2AMessage);
  }
  const proof = new SenderProof({
    callers,
    nonces: store.nonces,
    signatures,
    clock: systemClock,
    requireSignatures: true,
  });
  const rounds = await inTurns(contenders, REFUSALS, async (refuse) => {
    const from = performance.now();
    const refused = (await refuse()) as { code?: string };
    if (refused.code !== 'unauthenticated') throw new Error(`a wrong signature was answered by ${refused.code}`);
    return performance.now() - from;
  });
  const ratios = Object.keys(contenders).map((name) => [name, medianRatio(rounds, name, NOBODY, (ms) => ms)] as const);
  console.log(
    `\n${table([['a wrong signature is refused in, of one', '×'], ...ratios.map(([name, ratio]) => [name, ratio.toFixed(2)])])}`,
  );
  return ratios
    .filter(([, ratio]) => ratio < 0.6 || ratio > 1.7)
    .map(([name, ratio]) => `a wrong signature of one who ${name}: ${ratio.toFixed(2)} ×, 0.6 to 1.7 wanted`);
}

async function registryOf(count: number): Promise<AgentRegistry> {
  const registry = new AgentRegistry({
    store: memoryStore().registrations,
    clock: systemClock,
    hosted: { agents: () => [], version: () => 0 },
    isTaken: () => false,
    mostOwned: count,
  });
  for (let at = 0; at < count; at++) {
    const agent_id = `agent-${at}`;
    const capabilities = ['all', ...(at % 2 === 0 ? ['half'] : []), ...(at % 3 === 0 ? ['third'] : [])];
    const card = { agent_id, name: agent_id, version: '1.0.0', description: '', capabilities };
    await registry.register('bench', { ...card, supported_protocols: ['A2A/1.0'] }, 'https://agent.example.com/a2a');
  }
  return registry;
}

function request() {
  return {
    message_id: randomUUID(),
    message_type: 'request',
    sender_id: 'bench-client',
    recipient_id: 'bench',
    timestamp: new Date().toISOString(),
    payload: { method: 'say', parameters: { content: 'hello my world' } },
    correlation_id: null,
  };
}

function signed(message: ReturnType<typeof request>, key: Parameters<typeof sign>[2]): object {
  const auth = { agent_id: message.sender_id, timestamp: message.timestamp, nonce: randomBytes(16).toString('hex') };
  const signature = sign(null, Buffer.from(canonicalJson({ ...message, auth })), key).toString('base64');
  return { ...message, auth: { ...auth, signature } };
}

const ROUNDS = 3;
const NOBODY = 'there is not';
const REFUSALS = 2_000;
/** The least that signed requests may reach of what verifying, working and signing one after the other would. */
const SIGNED = 0.75;
