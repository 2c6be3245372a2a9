import { type E2AEnvelope, type E2AResponse, failure } from '@dragoman/protocols';
import { type Call, ExtendedCall } from '../call/call.ts';
import type { Handler } from '../call/handler.ts';
import { unlessAborted } from '../ending/until-aborted.ts';
import type { Clock, Ids, Log } from '../ports/ports.ts';
import { failureOf, Refused, refuse } from '../refusals/refused.ts';
import type { RequestRow } from '../store/store.ts';
import { withoutCallerSecrets } from './caller-secrets.ts';
import { FrameMaker } from './frame-maker.ts';
import type { LiveRequest } from './live-request.ts';
import type { RunTable } from './run-table.ts';

interface RequestRunnerOptions {
  readonly table: RunTable;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Resolves when the agent of a request is reachable; `undefined` when the request need not wait for it. */
  readonly heldFor: (row: RequestRow) => Promise<void> | undefined;
  /** Called for a request that another process answers now. */
  readonly onLost: (live: LiveRequest) => void;
}

/** Answers requests, each from its turn to its recorded final frame. */
export class RequestRunner {
  readonly #options: RequestRunnerOptions;

  constructor(options: RequestRunnerOptions) {
    this.#options = options;
  }

  async work(live: LiveRequest, envelope: E2AEnvelope, call: Call, answer: Handler): Promise<void> {
    try {
      await this.#answer(live, envelope, call, answer);
    } catch (error) {
      const { requestId } = live.row;
      this.#options.log.error({ request_id: requestId, error: String(error) }, 'a request could not be answered');
    }
  }

  async #answer(live: LiveRequest, envelope: E2AEnvelope, call: Call, answer: Handler): Promise<void> {
    const { log } = this.#options;
    const { row, run } = live;
    const secrets = withoutCallerSecrets(envelope);
    let frames: AsyncIterator<E2AResponse> | undefined;
    try {
      if (live.slot === undefined && !(await this.#turn(live, call))) return;
      live.insert = (given) => {
        run.give(secrets.frame(this.maker(envelope, run.next).frame(given)));
        return run.flushed();
      };
      frames = answer(envelope, new ExtendedCall(call, { log: secrets.log(call.log) }))[Symbol.asyncIterator]();
      while (!run.answered) {
        // An agent that hangs and ignores its signal is abandoned, too.
        const item = await unlessAborted(frames.next(), live);
        if (item.done === true) refuse('agent_failed', {}, 'The agent ended without an answer.');
        if (live.recorded?.takes(item.value) === true) continue;
        while (live.held !== undefined) await unlessAborted(live.held.released, live);
        const durable = run.give(secrets.frame(numbered(item.value, run.next)));
        if (durable !== undefined) await durable;
      }
    } catch (error) {
      if (live.isAbandoned) return;
      if (run.answered) throw error;
      const known = failureOf(error);
      if (known === undefined) {
        secrets.log(log).error({ request_id: row.requestId, error: String(error) }, 'the agent failed');
      }
      await run.give(secrets.frame(this.maker(envelope, run.next).error(known ?? failure('agent_failed'))));
    } finally {
      // The agent is stopped, but not waited for.
      frames?.return?.().catch(() => {});
      for (const callback of live.over) callback();
    }
  }

  /** Makes the frames that the server itself adds to an answer. */
  maker(envelope: E2AEnvelope, from: number): FrameMaker {
    const { clock, ids } = this.#options;
    return new FrameMaker({ envelope, clock, ids, from });
  }

  /** Waits for the request's turn and records that it has started. False when it is not to be answered here. */
  async #turn(live: LiveRequest, { principal }: Call): Promise<boolean> {
    const { table, clock, heldFor, onLost } = this.#options;
    const { row } = live;
    this.#endExpired(live);
    await table.turn(live, { lane: row.agentId, principal, priority: row.priority }, heldFor(row));
    if (live.isAbandoned) return false;
    if (hasExpired(row, clock)) refuse('expired');
    if (live.isResumed || (await live.run.start())) return true;
    onLost(live);
    return false;
  }

  /** A waiting request fails as soon as it expires. */
  #endExpired(live: LiveRequest): void {
    const { clock } = this.#options;
    const { expiresAt } = live.row;
    if (expiresAt === null) return;
    const expire = () => {
      if (live.isWaiting) live.end(new Refused(failure('expired')));
    };
    live.onOver(clock.after(Math.max(0, expiresAt - clock.now().getTime()), expire));
  }
}

export function hasExpired({ expiresAt }: Pick<RequestRow, 'expiresAt'>, clock: Clock): boolean {
  return expiresAt !== null && expiresAt <= clock.now().getTime();
}

/** The agent numbers its own frames, but the server may have inserted frames in between. */
function numbered(frame: E2AResponse, sequence: number): E2AResponse {
  return frame.sequence === sequence ? frame : { ...frame, sequence };
}
