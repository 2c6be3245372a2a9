import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type E2AEnvelope, type E2AResponse, newEnvelope } from '@dragoman/protocols';
import { onTestFinished } from 'vitest';
import { memoryStore } from '../../../test-support/memory-store.ts';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { systemClock } from '../../../test-support/system-clock.ts';
import { TestIds } from '../../../test-support/test-ids.ts';
import { ALL_PERMISSIONS, type Principal } from '../../call/principal.ts';
import { Engine } from '../../engine/engine.ts';
import { LimitedLog } from '../../ports/limited-log.ts';
import type { Clock } from '../../ports/ports.ts';
import type { Store } from '../../store/store.ts';
import { JsonReader } from '../../worker-threads/json-reader.ts';
import { eventually } from '../call.contract.ts';
import { AcpAgent, type AcpAgentOptions } from './acp-agent.ts';
import { acpChild } from './acp-child.ts';

/** The fake program; see there what it can do. */
export const FAKE_PROGRAM = fileURLToPath(new URL('../fixtures/acp-program.mjs', import.meta.url));
const log = new SilentLog();
export const ADA: Principal = { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS };

export type CoderOptions = Partial<AcpAgentOptions> & {
  readonly store?: Store;
  readonly command?: string;
  /** The clock of the server. */
  readonly engineClock?: Clock;
};

/** A server whose one agent is the fake program. */
export class Coder {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'dragoman-acp-')));
  readonly store: Store;
  readonly engine: Engine;
  readonly #ids = new TestIds();
  #requests = 0;

  constructor(
    mode = '',
    { store = memoryStore(), command = process.execPath, engineClock = systemClock, ...options }: CoderOptions = {},
  ) {
    this.store = store;
    this.engine = new Engine({ store, clock: engineClock, ids: this.#ids, log, defaultAgent: 'coder' });
    this.engine.addAgent(
      new AcpAgent({
        id: 'coder',
        open: acpChild({
          ...{
            id: 'coder',
            command,
            args: [FAKE_PROGRAM, mode],
            env: async () => ({}),
            cwd: options.cwd,
            clock: systemClock,
          },
          childrenFolder: join(this.folder, 'children'),
          log: new LimitedLog({ log, clock: systemClock }),
          reader: new JsonReader(),
        }),
        access: { files: 'off', terminals: 'off' },
        permissions: {},
        workspaces: [],
        startTimeoutMs: 10_000,
        version: '1',
        sessions: store.sessions,
        folder: this.folder,
        childrenFolder: join(this.folder, 'children'),
        clock: systemClock,
        log,
        ...options,
      }),
      { maxParallel: 8 },
    );
    onTestFinished(() => this.stop());
  }

  async stop(): Promise<void> {
    await this.engine.stop({ drainMs: 0 });
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The frames of one prompt. */
  ask(content: string, envelope: Partial<E2AEnvelope> = {}, principal = ADA) {
    this.#requests += 1;
    const requestId = envelope.request_id ?? `r${this.#requests}`;
    const given = newEnvelope({
      request_id: requestId,
      method: 'chat.send',
      is_stream: true,
      params: { content },
      ...envelope,
    });
    const frames: E2AResponse[] = [];
    const over = (async () => {
      const reading = this.engine.handle(given, { principal, signal: new AbortController().signal, log });
      for await (const frame of reading) frames.push(frame);
      return frames;
    })();
    return { requestId, frames, over };
  }

  async text(content: string, envelope: Partial<E2AEnvelope> = {}): Promise<string> {
    return textOf(await this.ask(content, envelope).over);
  }

  async answer(given: object): Promise<void> {
    await eventually(() => this.engine.questions.openFor(ADA).length).toBe(1);
    const [open] = this.engine.questions.openFor(ADA);
    const questionId = open?.question.question_id ?? '';
    await this.engine.questions.answer({ questionId }, given, { principal: ADA, channel: 'test' });
  }
}

export function textOf(frames: readonly E2AResponse[]): string {
  return frames.flatMap(({ body }) => (body['delta_kind'] === 'text' ? [String(body['delta'])] : [])).join('');
}
