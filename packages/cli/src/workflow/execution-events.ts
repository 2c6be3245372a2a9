import { SseParser } from '@dragoman/protocols';
import type { ExecutionResult } from '@dragoman/protocols/a2e-workflow';

/** One thing an execution tells. */
export type ExecutionProgress =
  | { readonly event: 'operation-started'; readonly operationId: string; readonly key?: string }
  | {
      readonly event: 'operation-finished';
      readonly operationId: string;
      readonly key?: string;
      readonly status: string;
      readonly duration_ms: number;
      /** What it gave was kept from before. */
      readonly cached?: boolean;
    }
  | { readonly event: 'execution-finished'; readonly status: string; readonly result: ExecutionResult };

/** The events of a stream, as they come. */
export async function* executionEvents({ body }: Response): AsyncGenerator<ExecutionProgress> {
  if (body === null) return;
  const parser = new SseParser({ maxEventBytes: MOST_BYTES });
  for await (const chunk of body) {
    for (const message of parser.push(chunk)) {
      if (!message.ok) throw new Error('the server sent an event that cannot be read');
      yield JSON.parse(message.value.data) as ExecutionProgress;
    }
  }
}

/** The last event holds all results: more than most streams do. */
const MOST_BYTES = 128 * 1024 * 1024;
