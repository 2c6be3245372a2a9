import { beforeEach, expect, test } from 'vitest';
import { type AgentConnection, AgentSocketHub } from './agent-socket-hub.ts';
import { eventually, failureIn, resultIn, TestContext } from './call.contract.ts';

let context: TestContext;
let hub: AgentSocketHub;

beforeEach(() => {
  context = new TestContext();
  hub = new AgentSocketHub(context);
});

test('an agent that has not dialled in is not connected, and the request may be repeated', async () => {
  expect(hub.isConnected('agent')).toBe(false);
  expect(failureIn(await context.ask(hub.agent('agent'), 'x'))).toMatchObject({
    code: 'agent_failed',
    retryable: true,
    message: 'The agent is not connected.',
  });
});

test('an agent is reachable as long as it is connected', async () => {
  const line = new Line('one');
  const attached = hub.attach('agent', line);
  expect(hub.isConnected('agent')).toBe(true);
  expect(hub.isConnected('another')).toBe(false);
  expect(resultIn(await context.ask(hub.agent('agent'), 'x'))).toBe('one');
  line.close();
  await attached;
  expect(hub.isConnected('agent')).toBe(false);
});

test('requests in flight end when the agent disconnects', async () => {
  const line = new Line(undefined);
  const attached = hub.attach('agent', line);
  const answer = context.ask(hub.agent('agent'), 'x');
  await eventually(() => line.received).toBe(1);
  line.close();
  expect(failureIn(await answer)).toMatchObject({
    message: 'The connection to the agent was lost before it had answered.',
  });
  await attached;
});

test('an agent that is connected twice receives requests on its newest connection, and on the other when that is gone', async () => {
  const [first, second] = [new Line('first'), new Line('second')];
  const attached = [hub.attach('agent', first), hub.attach('agent', second)];
  const agent = hub.agent('agent');
  expect(resultIn(await context.ask(agent, 'x'))).toBe('second');
  second.close();
  await attached[1];
  expect(resultIn(await context.ask(agent, 'x'))).toBe('first');
  first.close();
  await attached[0];
});

test('a connection that accepts nothing more ends its requests', async () => {
  const line = new Line('x');
  line.send = () => Promise.reject(new Error('gone'));
  const attached = hub.attach('agent', line);
  const answer = context.ask(hub.agent('agent'), 'x');
  line.close();
  expect(failureIn(await answer)?.code).toBe('agent_failed');
  await attached;
});

/** A connection whose peer answers every message with the given text; without a text, it answers nothing. */
class Line implements AgentConnection {
  received = 0;
  readonly #gone = new AbortController();
  readonly #result: string | undefined;
  readonly #texts: string[] = [];
  #wake = () => {};
  readonly signal = this.#gone.signal;
  readonly messages = this.#read();

  constructor(result: string | undefined) {
    this.#result = result;
  }

  async send(text: string): Promise<void> {
    this.received++;
    const { request_id } = JSON.parse(text) as { request_id: string };
    const frame = { request_id, response_kind: 'e2a.complete', body: { result: this.#result } };
    if (this.#result !== undefined) this.#texts.push(JSON.stringify(frame));
    this.#wake();
  }

  close(): void {
    this.#gone.abort();
    this.#wake();
  }

  async *#read(): AsyncGenerator<string> {
    while (!this.#gone.signal.aborted) {
      const text = this.#texts.shift();
      if (text !== undefined) yield text;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
