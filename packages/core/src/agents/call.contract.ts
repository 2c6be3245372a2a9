import { type E2AEnvelope, type GivenAnswer, type NewQuestion, newEnvelope } from '@dragoman/protocols';
import { expect } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import type { Ask } from '../call/ask.ts';
import type { Call } from '../call/call.ts';
import { ALL_PERMISSIONS } from '../call/principal.ts';
import { openGate } from '../gate/network-gate.ts';
import type { Agent, AgentPart } from './agent.ts';

/** The context that a test passes to an agent. */
export class TestContext {
  readonly clock = new TestClock();
  readonly ids = new TestIds();
  readonly log = new SilentLog();
  readonly gate = openGate({ clock: this.clock, log: new SilentLog() });

  /** The questions that were put, and a person's answers to them. */
  readonly questions: NewQuestion[] = [];
  person: (question: NewQuestion) => GivenAnswer | Promise<GivenAnswer> = () => ({ action: 'decline' });

  call(signal = new AbortController().signal): Call {
    const ask: Ask = async (question) => {
      this.questions.push(question);
      return { action: 'accept', by: 'ada', channel: 'test', at: '', ...(await this.person(question)) };
    };
    return { principal: { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS }, signal, log: this.log, ask };
  }

  /** The parts of an answer. */
  async ask(agent: Agent, content: string, envelope: Partial<E2AEnvelope> = {}): Promise<AgentPart[]> {
    const parts: AgentPart[] = [];
    for await (const part of agent.answer(asking(content, envelope), this.call())) parts.push(part);
    return parts;
  }

  get logged(): string[] {
    return this.log.lines.map((line) => line.message);
  }
}

export function asking(content: string, envelope: Partial<E2AEnvelope> = {}): E2AEnvelope {
  return newEnvelope({ request_id: 'r1', method: 'chat.send', is_stream: true, params: { content }, ...envelope });
}

/** Polls until the expectation holds, with a limit for slow machines. */
export function eventually<T>(what: () => T | Promise<T>) {
  return expect.poll(what, { timeout: 30_000, interval: 5 });
}

/** The failure in the last part of an answer. */
export function failureIn(parts: readonly AgentPart[]) {
  const last = parts.at(-1);
  return last?.part === 'failure' ? last.failure : undefined;
}

/** The result in the last part of an answer. */
export function resultIn(parts: readonly AgentPart[]) {
  const last = parts.at(-1);
  return last?.part === 'frame' ? last.frame.body?.['result'] : undefined;
}
