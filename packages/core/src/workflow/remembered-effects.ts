import type { QuestionAnswer } from '@dragoman/protocols';
import type {
  ApiAnswer,
  ApiRequest,
  ApprovalRequest,
  Effects,
  StoredValue,
  StoreWrite,
  TargetRequest,
} from './effects.ts';
import type { EffectRequest } from './pool-messages.ts';
import { unportRequest } from './ported-request.ts';

/** The effects of one execution, each called once: a repeated run gets the recorded results. */
export class RememberedEffects implements Effects {
  readonly #effects: Effects;
  /** Results by name and key of the effect. */
  readonly #answers = new Map<string, Promise<unknown>>();

  constructor(effects: Effects) {
    this.#effects = effects;
  }

  call(key: string, request: ApiRequest, digest: string): Promise<ApiAnswer> {
    return this.#once('call', key, () => this.#effects.call(key, request, digest));
  }

  ask(key: string, request: TargetRequest, digest: string): Promise<Uint8Array> {
    return this.#once('ask', key, () => this.#effects.ask(key, request, digest));
  }

  store(key: string, write: StoreWrite, digest: string): Promise<void> {
    return this.#once('store', key, () => this.#effects.store(key, write, digest));
  }

  wait(key: string, milliseconds: number, digest: string): Promise<void> {
    return this.#once('wait', key, () => this.#effects.wait(key, milliseconds, digest));
  }

  approve(key: string, request: ApprovalRequest, digest: string): Promise<QuestionAnswer> {
    return this.#once('approve', key, () => this.#effects.approve(key, request, digest));
  }

  now(key: string, digest: string): Promise<number> {
    return this.#once('now', key, () => this.#effects.now(key, digest));
  }

  stored(key: string, name: string): Promise<StoredValue | undefined> {
    return this.#once('stored', key, () => this.#effects.stored(key, name));
  }

  /** Runs an effect that a worker thread requests. Bytes are prepared for the transfer. */
  answer(effect: EffectRequest): Promise<unknown> {
    return this.#once<unknown>(effect.name, effect.key, () => this.#perform(effect));
  }

  #once<T>(name: EffectRequest['name'], key: string, perform: () => Promise<T>): Promise<T> {
    const place = `${name} ${key}`;
    let answer = this.#answers.get(place);
    if (answer === undefined) {
      answer = perform();
      this.#answers.set(place, answer);
    }
    return answer as Promise<T>;
  }

  async #perform(effect: EffectRequest): Promise<unknown> {
    const effects = this.#effects;
    if (effect.name === 'call') {
      const answer = await effects.call(effect.key, unportRequest(effect.request), effect.digest);
      return { ...answer, bytes: alone(answer.bytes) };
    }
    if (effect.name === 'ask') return alone(await effects.ask(effect.key, effect.request, effect.digest));
    if (effect.name === 'store') return effects.store(effect.key, effect.write, effect.digest);
    if (effect.name === 'wait') return effects.wait(effect.key, effect.milliseconds, effect.digest);
    if (effect.name === 'approve') return effects.approve(effect.key, effect.request, effect.digest);
    if (effect.name === 'now') return effects.now(effect.key, effect.digest);
    const stored = await effects.stored(effect.key, effect.of);
    return stored === undefined ? undefined : { ...stored, bytes: alone(stored.bytes) };
  }
}

/** Copies a view of a larger buffer, because sending it would send the whole buffer. */
function alone(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
