import { type E2AResponse, FAILURES } from '@dragoman/protocols';

/** How many requests and frames there were since the start: numbers only, nothing of whose they are. */
export class RunCounts {
  /** Requests recorded, repeats left out. */
  accepted = 0;
  /** Frames recorded. */
  frames = 0;
  /** Requests that got their final frame, by how they ended. */
  readonly finished = new Map<string, number>();

  finish(final: E2AResponse): void {
    const outcome = outcomeOf(final);
    this.finished.set(outcome, (this.finished.get(outcome) ?? 0) + 1);
  }
}

/** A code of ours, or one word for all that agents make up: a set somebody else can add to is no set to count by. */
function outcomeOf({ status, body }: E2AResponse): string {
  if (status !== 'failed') return 'succeeded';
  const code = body['code'];
  return typeof code === 'string' && OUR_CODES.has(code) ? code : 'failed';
}

const OUR_CODES: ReadonlySet<string> = new Set(Object.values(FAILURES).map((row) => row.e2a));
