import { failure, isObject, type Json, type JsonObject, oneLineJson } from '@dragoman/protocols';
import { lookup, type WireMessage } from '@dragoman/protocols/a2e-wire';
import { Refused } from '../../refusals/refused.ts';
import { auditEntry } from './audit.ts';
import type { ConnectionParts } from './connection-parts.ts';
import type { WireSession } from './plugin.ts';
import { requestError, wireErrorAbout } from './request-error.ts';
import { WireRequest, type WrittenAnswer } from './wire-request.ts';

export type AuditParts = Pick<ConnectionParts, 'audit' | 'clock' | 'ids' | 'log' | 'plugins'>;

/** The audit of one connection: a line for each request, including those that were never started. */
export class ConnectionAudit {
  readonly #parts: AuditParts;
  readonly #contextOf: () => WireSession;
  /** Bytes of the current line. */
  #bytes = 0;
  /** Bytes of the lines of waiting requests, by id. */
  readonly #waitingBytes = new Map<string, number>();

  /** `contextOf`: called only after the handshake. */
  constructor(parts: AuditParts, contextOf: () => WireSession) {
    this.#parts = parts;
    this.#contextOf = contextOf;
  }

  /** Call it when a line was received. */
  received(bytes: number): void {
    this.#bytes = bytes;
  }

  /** Call it when the request of the current line must wait. */
  waits(id: string): void {
    // Another message with the same id is refused, and must not replace the value.
    if (!this.#waitingBytes.has(id)) this.#waitingBytes.set(id, this.#bytes);
  }

  /** The bytes of the line that contained a message. Can be read only once. */
  bytesOf({ id = '' }: WireMessage): number {
    if (this.#waitingBytes.size === 0) return this.#bytes;
    const bytes = this.#waitingBytes.get(id);
    if (bytes !== undefined) this.#waitingBytes.delete(id);
    return bytes ?? this.#bytes;
  }

  /** The start of a request in the clock's elapsed milliseconds; 0 without an audit, which alone needs it. */
  startedAt(): number {
    const { audit, clock } = this.#parts;
    return audit === undefined ? 0 : clock.elapsed();
  }

  record(request: WireRequest, { type, fields, text }: WrittenAnswer): void {
    const { audit, clock, log } = this.#parts;
    if (audit === undefined) return;
    try {
      const outputBytes = Buffer.byteLength(text);
      audit(auditEntry(request, { type, fields, outputBytes, now: clock.now(), endedAt: clock.elapsed() }));
    } catch (error) {
      log.warn({ error: String(error) }, 'an audit line could not be written');
    }
  }

  /** Records that the request of the current line was refused with these messages. */
  recordRefusal(json: Json, send: readonly WireMessage[]): void {
    if (!isObject(json)) return;
    const { type, id } = json;
    // Other messages are not requests.
    if (typeof type !== 'string' || !isRequest(type, this.#parts.plugins)) return;
    // If another running request has the same id, the error has an empty id.
    const refusal = wireErrorAbout(id, send) ?? wireErrorAbout('', send);
    if (refusal !== undefined) this.#recordUnstarted(json as unknown as WireMessage, this.#bytes, refusal);
  }

  /** Records that a waiting request was dropped. `answer` is the error that the agent receives, if any. */
  recordDropped(message: WireMessage, answer: JsonObject | undefined): void {
    this.#recordUnstarted(message, this.bytesOf(message), answer);
  }

  clear(): void {
    this.#waitingBytes.clear();
  }

  /** Records a request that was never started. */
  #recordUnstarted(message: WireMessage, bytes: number, answer: JsonObject | undefined): void {
    const { audit, clock, ids, log } = this.#parts;
    if (audit === undefined) return;
    const parts = { session: this.#contextOf(), message, log, bytes, emit: () => {} };
    const request = new WireRequest({ ...parts, startedAt: clock.elapsed() });
    const stamp = { id: ids.hex(), now: clock.now() };
    const fields = answer ?? requestError(request, new Refused(GONE), { log, stamp });
    this.record(request, { type: 'error', fields, text: answer === undefined ? '' : oneLineJson(answer) });
  }
}

function isRequest(type: string, plugins: AuditParts['plugins']): boolean {
  return lookup(type)?.answer !== undefined || plugins.answerTo(type) !== undefined;
}

/** The end of a request whose caller is gone. */
export const GONE = failure('cancelled', {}, 'The connection closed.');
