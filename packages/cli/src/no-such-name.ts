import { DragomanError } from '@dragoman/client';
import { nearest } from '@dragoman/protocols';
import { fail } from './trouble.ts';

interface Missing {
  /** Whether the error means that the name does not exist. */
  readonly isIt: (error: DragomanError) => boolean;
  readonly name: string;
  readonly message: string;
  readonly known: () => Promise<readonly string[]>;
  /** The command that lists all names. */
  readonly list: string;
}

/** Ends the command with the nearest existing name. An administrator may know every name. */
export async function noSuchName(error: unknown, { isIt, name, message, known, list }: Missing): Promise<never> {
  if (!(error instanceof DragomanError) || !isIt(error)) throw error;
  const close = nearest(name, await known());
  fail({
    code: error.code,
    message,
    fixes: [...(close === undefined ? [] : [`did you mean ${close}?`]), `see them all: ${list}`],
  });
}
