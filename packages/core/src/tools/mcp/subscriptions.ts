import type { JsonObject } from '@dragoman/protocols';
import { WireRefused } from '../wire/wire-refused.ts';

/** One listener's subscription to one resource. */
export interface Subscription {
  readonly emit: (params: JsonObject) => void;
  /** Whether the server has confirmed the subscription. */
  isSure: boolean;
  /** The number of pending requests for the subscription. */
  asking: number;
}

/** The listeners of one server's resources. */
export class Subscriptions {
  readonly #byUri = new Map<string, Map<object, Subscription>>();
  readonly #counts = new Map<object, number>();

  /** The listener's existing subscription, or a new one. */
  add(uri: string, listener: object, emit: (params: JsonObject) => void): Subscription {
    const listeners = this.#byUri.get(uri) ?? new Map<object, Subscription>();
    const known = listeners.get(listener);
    if (known !== undefined) return known;
    const count = this.#counts.get(listener) ?? 0;
    if (count >= MOST) {
      throw new WireRefused('busy', `A connection may have ${MOST} subscriptions; it has them already.`);
    }
    this.#counts.set(listener, count + 1);
    const subscription = { emit, isSure: false, asking: 0 };
    this.#byUri.set(uri, listeners.set(listener, subscription));
    return subscription;
  }

  /** True if the resource has no listener any more. */
  remove(uri: string, listener: object): boolean {
    const listeners = this.#byUri.get(uri);
    if (listeners?.delete(listener) !== true) return false;
    const count = (this.#counts.get(listener) ?? 1) - 1;
    if (count > 0) this.#counts.set(listener, count);
    else this.#counts.delete(listener);
    if (listeners.size > 0) return false;
    return this.#byUri.delete(uri);
  }

  emit(params: JsonObject): void {
    const { uri } = params;
    const listeners = typeof uri === 'string' ? this.#byUri.get(uri) : undefined;
    for (const { emit } of listeners?.values() ?? []) emit(params);
  }

  uris(): string[] {
    return [...this.#byUri.keys()];
  }
}

/** Maximum subscriptions of one connection at one server. */
const MOST = 100;
