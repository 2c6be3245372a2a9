import { lookup } from 'node:dns/promises';
import type { Clock } from '../ports/ports.ts';

/** Every address of a name, in the order to try them. Rejects when there is none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** A pending lookup of a name. */
export interface Lookup {
  readonly answers: Promise<readonly string[]>;
  /** Whether the lookup has started. Until then, a failure says nothing about the name. */
  readonly hasStarted: boolean;
}

/** Resolves names as this machine does, including by its hosts file. */
export const systemResolve: Resolve = async (name) => {
  const answers = await lookup(name, { all: true, order: 'ipv4first' });
  return answers.map(({ address }) => address);
};

/** Whether a later lookup may succeed: only ENOTFOUND means that the name does not exist. */
export function isPassingLookup(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code !== 'ENOTFOUND';
}

/** Settles like `answers`, or rejects with `NoAnswerYet` when they take too long. */
export function inTime(
  answers: ReturnType<Resolve>,
  { name, clock, withinMs }: { name: string; clock: Clock; withinMs: number },
): ReturnType<Resolve> {
  return new Promise((found, fail) => {
    const cancel = clock.after(withinMs, () => fail(new NoAnswerYet(name)));
    answers.then(found, fail).finally(cancel);
  });
}

/** The system's code for a temporary lookup failure. */
export class NoAnswerYet extends Error {
  readonly code = 'EAI_AGAIN';

  constructor(name: string) {
    super(`the lookup of ${name} takes too long`);
  }
}
