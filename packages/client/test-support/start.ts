import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SilentLog } from '../../core/test-support/silent-log.ts';
import { type Config, type Server, startServer, systemClock, systemIds } from '../../server/src/index.ts';

export interface StartOptions {
  readonly store?: 'memory' | 'sqlite';
  /** Further configuration. */
  readonly config?: Partial<Config>;
}

/** A real server with the agents below, in this folder, on any port. */
export async function start(folder: string, { store = 'memory', config: more }: StartOptions = {}): Promise<Server> {
  const config: Config = { ...more, port: 0, store, agents: await agentsIn(folder), default_agent: 'echo' };
  return startServer({ config, folder, clock: systemClock, ids: systemIds, log: QUIET, adminKey: ADMIN_KEY });
}

async function agentsIn(folder: string): Promise<NonNullable<Config['agents']>> {
  const entries = Object.entries(AGENTS).map(async ([id, source]) => {
    const module = join(folder, `${id}.mjs`);
    await writeFile(module, source);
    return [id, { driver: 'module', module, max_parallel: 100 }] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

export const ADMIN_KEY = 'an-admin-key-of-the-tests';
const QUIET = new SilentLog();

const AGENTS = {
  /** Echoes `params.content`, a word at a time; the same bytes every time it is read. */
  echo: `export default async function* (envelope) {
    const words = envelope.params.content.match(/\\S+\\s*/g) ?? [];
    for (const word of words) yield word;
    return { content: envelope.params.content, words: words.length };
  }`,
  /** The requested count of numbers, with a pause before each. */
  counter: `export default async function* (envelope, call) {
    const { count = 5, everyMs = 0 } = envelope.params;
    for (let n = 0; n < count; n++) {
      if (everyMs > 0) await new Promise((resolve) => setTimeout(resolve, everyMs));
      yield String(n) + ' ';
    }
    return { count };
  }`,
  /** One frame, then nothing until it is aborted. */
  forever: `export default async function* (envelope, call) {
    yield 'started';
    await new Promise((_, reject) => call.signal.addEventListener('abort', () => reject(call.signal.reason)));
  }`,
  failing: `export default async function* () {
    yield 'so far, ';
    throw Object.assign(new Error('The kettle is empty.'), { code: 'KETTLE_EMPTY', details: { litres: 0 } });
  }`,
  silent: 'export default async function* () { return "only a result"; }',
  large: `export default async function* (envelope) {
    yield 'small';
    yield 'x'.repeat(envelope.params.size);
    return {};
  }`,
};
