import { type Question, type QuestionEnd, SseParser } from '@dragoman/protocols';
import type { ExecutionResult } from '@dragoman/protocols/a2e-workflow';
import { unreachable } from './attempt.ts';
import { DragomanError } from './dragoman-error.ts';
import type { Http } from './http.ts';
import { type RetryOptions, RetryPauses } from './retry.ts';

export type ExecutionEvent =
  | { readonly event: 'operation-started'; readonly operationId: string; readonly key?: string }
  | {
      readonly event: 'operation-finished';
      readonly operationId: string;
      readonly key?: string;
      readonly status: string;
      readonly duration_ms: number;
      /** Whether the result is from the cache. */
      readonly cached?: boolean;
      /** The URL of the API call that failed, without secrets. */
      readonly url?: string;
    }
  /** The execution waits for a person. */
  | {
      readonly event: 'question-asked';
      readonly operationId: string;
      readonly key?: string;
      readonly question: Question;
    }
  | {
      readonly event: 'question-resolved';
      readonly operationId: string;
      readonly key?: string;
      readonly end: QuestionEnd;
    }
  | { readonly event: 'execution-finished'; readonly status: string; readonly result: ExecutionResult };

export interface EventsOptions {
  readonly http: Http;
  readonly retry: Required<RetryOptions>;
  /** The path of the events, relative to the server's URL. */
  readonly path: string;
  readonly signal: AbortSignal | undefined;
}

/** The events of an execution, from start to end, over as many connections as needed. */
export async function* executionEvents(options: EventsOptions): AsyncGenerator<ExecutionEvent, void> {
  const backoff = new RetryPauses(options.retry);
  const place = { after: -1 };
  for (;;) {
    try {
      for await (const event of eventsAfter(place, options)) {
        backoff.progress();
        yield event;
        if (event.event === 'execution-finished') return;
      }
      throw unreachable(options.http.url, 'the stream ended before the execution did');
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!(error instanceof DragomanError)) throw error;
      await backoff.wait(backoff.next(error), options.signal);
    }
  }
}

/** The events over one connection. Each event moves `place`. */
async function* eventsAfter(
  place: { after: number },
  { http, path, signal }: EventsOptions,
): AsyncGenerator<ExecutionEvent> {
  const accept = 'text/event-stream';
  const { response, attempt } = await http.open({ path: `${path}?after=${place.after}`, accept, signal });
  const parser = new SseParser({ maxEventBytes: MOST_BYTES });
  const reader = response.body?.getReader();
  try {
    for (;;) {
      const { done = true, value } = (await attempt.wait(reader?.read() ?? NOTHING)) ?? {};
      if (done || value === undefined) return;
      for (const message of parser.push(value)) {
        if (!message.ok)
          throw new DragomanError({ code: 'bad_frame', message: 'The server sent an unreadable event.' });
        place.after = Number(message.value.lastEventId);
        yield JSON.parse(message.value.data) as ExecutionEvent;
      }
    }
  } finally {
    attempt.end();
  }
}

const NOTHING = Promise.resolve(undefined);
/** The limit of one event. It is higher than elsewhere, because the last event has all results. */
const MOST_BYTES = 128 * 1024 * 1024;
