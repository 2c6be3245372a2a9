import type { Failure, JsonObject, NewQuestion, Question, QuestionAnswer, QuestionEnd } from '@dragoman/protocols';
import { MOST_HOPS, TOO_MANY_HOPS } from '../call/hops.ts';
import { abortSignalOf } from '../ending/ending.ts';
import type { Clock } from '../ports/ports.ts';
import { failureOf, Refused, refuse } from '../refusals/refused.ts';
import type { EffectKind, EffectRow } from '../store/executions.ts';
import type {
  ApiAnswer,
  ApiRequest,
  ApprovalRequest,
  Effects,
  StoredValue,
  StoreWrite,
  TargetRequest,
} from '../workflow/effects.ts';
import type { Label } from '../workflow/label.ts';
import { type ApiCalls, type CallContext, outcomeUnknown } from './api-calls.ts';
import type { EffectJournal } from './effect-journal.ts';
import type { AskPerson } from './parked-execution.ts';
import { isIdempotent } from './retry.ts';
import type { StoredData } from './stored-data.ts';
import type { AskTarget } from './target-asks.ts';
import type { UsedSecrets } from './used-secrets.ts';

export interface JournaledEffectsOptions {
  readonly journal: EffectJournal;
  readonly calls: ApiCalls;
  readonly storedData: StoredData;
  readonly askTarget: AskTarget;
  readonly askPerson: AskPerson;
  readonly context: CallContext & { readonly hops: number };
  readonly secrets: UsedSecrets;
  readonly clock: Clock;
}

/**
 * The effects of one execution, each at most once. Recorded effects are answered from the journal.
 *
 *   GET                          done, then noted; the note is written with the next write
 *   PUT, DELETE, or with a key   everything learned before is on the disk first, so that a repeat sends the same
 *   POST, PATCH                  the intent is on the disk first; an intent without an answer means: outcome unknown
 */
export class JournaledEffects implements Effects {
  readonly #options: JournaledEffectsOptions;
  #waiting = 0;

  constructor(options: JournaledEffectsOptions) {
    this.#options = options;
  }

  /** Whether a call of an API, a call of a target or a wait is in progress. */
  get isWaiting(): boolean {
    return this.#waiting > 0;
  }

  async call(key: string, request: ApiRequest, digest: string): Promise<ApiAnswer> {
    const { journal, calls, context, secrets } = this.#options;
    if (context.signal.aborted) throw context.signal.reason;
    secrets.note(request);
    const past = this.#past('call', key, digest);
    if (past !== undefined) return answerOf(past, calls.labelsOf(request));
    if (this.#past('intent', key, digest) !== undefined) {
      throw this.#ended(key, digest, outcomeUnknown(request, 'The server stopped while the call was running.'));
    }
    if (request.method !== 'GET') {
      if (!isIdempotent(request)) journal.add({ kind: 'intent', key, note: { digest } });
      await journal.flush();
    }
    let answer: ApiAnswer;
    this.#waiting++;
    try {
      answer = await calls.call(request, context);
    } catch (error) {
      const known = failureOf(error);
      // If the execution was ended from outside, the outcome is unknown, so it is not noted.
      if (known === undefined || context.signal.aborted) throw error;
      throw this.#ended(key, digest, known);
    } finally {
      this.#waiting--;
    }
    journal.add({ kind: 'call', key, note: noteOf(digest, answer), bytes: answer.bytes });
    if (request.method !== 'GET') journal.flushSoon();
    return answer;
  }

  /**
   * Everything learned before is on the disk before the target is asked, so that a repeat sends the same request. The
   * hub then answers the repeat from its record: the target is called once.
   */
  async ask(key: string, request: TargetRequest, digest: string): Promise<Uint8Array> {
    const { journal, askTarget, context, secrets } = this.#options;
    if (context.signal.aborted) throw context.signal.reason;
    const past = this.#past('ask', key, digest);
    if (past !== undefined) return answerOf(past, undefined).bytes;
    if (context.hops >= MOST_HOPS) refuse('invalid_message', {}, TOO_MANY_HOPS);
    await journal.flush();
    const { target, method, timeoutMs, carries } = request;
    const clean = await secrets.redactedBytes(request.params);
    const params = JSON.parse(new TextDecoder().decode(clean)) as JsonObject;
    const requestId = `${journal.key.executionId}:${key}`;
    let bytes: Uint8Array;
    this.#waiting++;
    try {
      const by = { principal: context.principal, signal: abortSignalOf(context.signal) };
      const result = await askTarget(
        { requestId, target, method, params, timeoutMs, carries, hops: context.hops + 1 },
        by,
      );
      bytes = new TextEncoder().encode(JSON.stringify(result));
    } catch (error) {
      const known = failureOf(error);
      if (known === undefined || context.signal.aborted) throw error;
      journal.add({ kind: 'ask', key, note: { digest, failure: known } });
      throw error;
    } finally {
      this.#waiting--;
    }
    journal.add({ kind: 'ask', key, note: { digest }, bytes });
    return bytes;
  }

  async store(key: string, write: StoreWrite, digest: string): Promise<void> {
    const { journal, storedData, context, secrets } = this.#options;
    if (context.signal.aborted) throw context.signal.reason;
    // `sessionStorage` lasts only for this execution, whose next run computes the data again.
    if (write.storage === 'sessionStorage') return;
    if (this.#past('store', key, digest) !== undefined) return;
    await journal.flush();
    const effect = journal.place({ kind: 'store', key, note: { digest } });
    const json = await secrets.redactedBytes(write.json);
    await storedData.keep(
      { ...write, json },
      { owner: context.principal.id, by: { held: await journal.hold(), effects: [effect] } },
    );
  }

  async wait(key: string, milliseconds: number, digest: string): Promise<void> {
    const { journal, clock, context } = this.#options;
    const past = this.#past('wait', key, digest);
    let until = past === undefined ? clock.now().getTime() + milliseconds : (JSON.parse(past.note).until as number);
    // A clock that was set back must not extend the wait.
    until = Math.min(until, clock.now().getTime() + milliseconds);
    if (past === undefined) {
      journal.add({ kind: 'wait', key, note: { digest, until } });
      await journal.flush();
    }
    const left = until - clock.now().getTime();
    if (left <= 0) return;
    this.#waiting++;
    await clock.wait(left, abortSignalOf(context.signal)).finally(() => this.#waiting--);
  }

  /**
   * The question, with everything learned before, is on the disk before it is shown. Its answer is recorded before it
   * is used.
   */
  async approve(
    key: string,
    { operationId, question: given }: ApprovalRequest,
    digest: string,
  ): Promise<QuestionAnswer> {
    const { journal, askPerson, secrets } = this.#options;
    let question = noteIn<{ question: Question }>(this.#past('question', key, digest))?.question;
    if (question === undefined) {
      const text = new TextEncoder().encode(JSON.stringify(given));
      const clean = new TextDecoder().decode(await secrets.redactedBytes(text));
      question = askPerson.made(JSON.parse(clean) as NewQuestion);
      journal.add({ kind: 'question', key, note: { digest, question } });
      await journal.flush();
    }
    const end = noteIn<{ end: QuestionEnd }>(this.#past('answer', key, digest))?.end;
    return askPerson.ask({ operationId, key, digest, question, end }, () => this.#settled());
  }

  /**
   * Resolves when no other effect is in progress and all outcomes are on the disk. Several are in progress in a loop
   * that runs items in parallel.
   */
  async #settled(): Promise<void> {
    const { journal, clock, context } = this.#options;
    do {
      while (this.#waiting > 0) await clock.wait(SETTLE_MS, abortSignalOf(context.signal));
      await journal.flush();
    } while (this.#waiting > 0);
  }

  async now(key: string, digest: string): Promise<number> {
    const { journal, clock } = this.#options;
    const past = this.#past('now', key, digest);
    if (past !== undefined) return JSON.parse(past.note).at;
    const at = clock.now().getTime();
    journal.add({ kind: 'now', key, note: { digest, at } });
    return at;
  }

  async stored(key: string, name: string): Promise<StoredValue | undefined> {
    const { journal, storedData, context } = this.#options;
    const past = journal.find('stored', key);
    if (past !== undefined) {
      return past.bytes === null ? undefined : { bytes: past.bytes, labels: JSON.parse(past.note).labels ?? [] };
    }
    const value = await storedData.read(context.principal.id, name);
    const labels = value?.labels.length ? value.labels : undefined;
    journal.add({
      kind: 'stored',
      key,
      note: { labels },
      ...(value !== undefined && { bytes: value.bytes }),
    });
    return value;
  }

  /**
   * Finds a recorded effect. Refuses one with another digest: the run would continue with the effect of another
   * computation.
   */
  #past(kind: EffectKind, key: string, digest: string): EffectRow | undefined {
    const past = this.#options.journal.find(kind, key);
    if (past === undefined || JSON.parse(past.note).digest === digest) return past;
    refuse('internal', { operation: key }, 'The records from before the restart do not match the resumed execution.');
  }

  /** Notes the failure of a call, so that the call fails the same way in every later run. */
  #ended(key: string, digest: string, known: Failure): Refused {
    const { journal } = this.#options;
    journal.add({ kind: 'call', key, note: { digest, failure: known } });
    journal.flushSoon();
    return new Refused(known);
  }
}

/** How often to check whether the effects in progress have ended. */
const SETTLE_MS = 20;

function noteIn<Note>(past: EffectRow | undefined): Note | undefined {
  return past === undefined ? undefined : (JSON.parse(past.note) as Note);
}

function noteOf(digest: string, { bytes: _, ...note }: ApiAnswer): object {
  return { digest, ...note };
}

/** Reads a recorded answer. Its recorded labels win, because the credential may be bound to other hosts by now. */
function answerOf({ note, bytes }: EffectRow, labelsNow: readonly Label[] | undefined): ApiAnswer {
  const { failure, digest: _, ...answer } = JSON.parse(note);
  if (failure !== undefined) throw new Refused(failure);
  return { ...(labelsNow !== undefined && { labels: labelsNow }), ...answer, bytes: bytes ?? new Uint8Array(0) };
}
