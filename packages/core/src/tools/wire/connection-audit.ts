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
  /** Of the line that is being looked at. */
  #bytes = 0;
  /** Of those that wait, by id. */
  readonly #waitingBytes = new Map<string, number>();

  /** `contextOf`: called only after the handshake. */
  constructor(parts: AuditParts, contextOf: () => WireSession) {
    this.#parts = parts;
    this.#contextOf = contextOf;
  }

  /** A line has come, of so many bytes. */
  received(bytes: number): void {
    this.#bytes = bytes;
  }

  /** The request of that line has to wait. */
  waits(id: string): void {
    // Another message of its id is refused, and changes nothing about it.
    if (!this.#waitingBytes.has(id)) this.#waitingBytes.set(id, this.#bytes);
  }

  /** Of the line that contained a message; read once. */
  bytesOf({ id = '' }: WireMessage): number {
    if (this.#waitingBytes.size === 0) return this.#bytes;
    const bytes = this.#waitingBytes.get(id);
    if (bytes !== undefined) this.#waitingBytes.delete(id);
    return bytes ?? this.#bytes;
  }

  /** When a request starts, in milliseconds that only ever grow; only the audit needs the duration. */
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

  /** The line's request was refused with this answer. */
  recordRefusal(json: Json, send: readonly WireMessage[]): void {
    if (!isObject(json)) return;
    const { type, id } = json;
    // Anything else is not a request, and may be as long as a line.
    if (typeof type !== 'string' || !isRequest(type, this.#parts.plugins)) return;
    // Where another request in flight has its id, the error names none.
    const refusal = wireErrorAbout(id, send) ?? wireErrorAbout('', send);
    if (refusal !== undefined) this.#recordUnstarted(json as unknown as WireMessage, this.#bytes, refusal);
  }

  /** A waiting request is dropped. `answer`: the error that the agent receives, if any. */
  recordDropped(message: WireMessage, answer: JsonObject | undefined): void {
    this.#recordUnstarted(message, this.bytesOf(message), answer);
  }

  clear(): void {
    this.#waitingBytes.clear();
  }

  /** Refused requests are audited too. */
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
