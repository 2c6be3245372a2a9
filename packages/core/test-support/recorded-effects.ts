import { failure, type NewQuestion, type QuestionAnswer } from '@dragoman/protocols';
import { Refused } from '../src/refusals/refused.ts';
import type {
  ApiAnswer,
  ApiRequest,
  ApprovalRequest,
  Effects,
  StoredValue,
  StoreWrite,
  TargetRequest,
} from '../src/workflow/effects.ts';

/** A world for workflows: answers calls from a table and records the reads. */
export class RecordedEffects implements Effects {
  readonly calls: { key: string; request: ApiRequest; digest: string }[] = [];
  readonly asks: TargetRequest[] = [];
  readonly writes: { key: string; write: StoreWrite }[] = [];
  readonly waits: { key: string; milliseconds: number }[] = [];
  readonly reads: string[] = [];
  readonly questions: NewQuestion[] = [];
  /** Of a person. */
  answer: Pick<QuestionAnswer, 'action' | 'option_id' | 'content'> = { action: 'selected', option_id: 'allow' };
  readonly kept = new Map<string, string>();
  time = Date.parse('2026-03-28T12:00:00Z');
  readonly #answer: (request: ApiRequest, key: string) => ApiAnswer | Promise<ApiAnswer>;

  constructor(answer: (request: ApiRequest, key: string) => ApiAnswer | Promise<ApiAnswer> = noSuchHost) {
    this.#answer = answer;
  }

  async call(key: string, request: ApiRequest, digest: string): Promise<ApiAnswer> {
    this.calls.push({ key, request, digest });
    return this.#answer(request, key);
  }

  async ask(_key: string, request: TargetRequest): Promise<Uint8Array> {
    this.asks.push(request);
    return new TextEncoder().encode(JSON.stringify({ asked: request.target, method: request.method }));
  }

  async store(key: string, write: StoreWrite): Promise<void> {
    this.writes.push({ key, write });
  }

  async wait(key: string, milliseconds: number): Promise<void> {
    this.waits.push({ key, milliseconds });
  }

  async approve(key: string, { question }: ApprovalRequest): Promise<QuestionAnswer> {
    this.reads.push(key);
    this.questions.push(question);
    return { ...this.answer, by: 'ann', channel: 'e2a', at: '2026-03-28T12:00:00.000Z' };
  }

  async now(key: string): Promise<number> {
    this.reads.push(key);
    return this.time;
  }

  async stored(key: string, name: string): Promise<StoredValue | undefined> {
    this.reads.push(key);
    const text = this.kept.get(name);
    return text === undefined ? undefined : { bytes: new TextEncoder().encode(text), labels: [] };
  }
}

/** An answer of 200 with JSON. */
export function answered(json: unknown, status = 200): ApiAnswer {
  return { status, contentType: 'application/json', bytes: new TextEncoder().encode(JSON.stringify(json)) };
}

function noSuchHost({ url }: ApiRequest): never {
  throw new Refused(failure('agent_failed', {}, `cannot connect to ${url}`));
}
