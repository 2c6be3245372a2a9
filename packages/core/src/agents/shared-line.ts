import {
  type E2AEnvelope,
  encodeEnvelope,
  isObject,
  isServerPush,
  type Json,
  type JsonObject,
  newEnvelope,
  type Outcome,
} from '@dragoman/protocols';
import type { Call } from '../call/call.ts';
import { LimitedLog } from '../ports/limited-log.ts';
import type { Clock, Ids, Log } from '../ports/ports.ts';
import type { AgentPush } from '../pushes/pushes.ts';
import { type AgentPart, agentFailed } from './agent.ts';
import { readAgentFrame } from './agent-frame.ts';
import { AgentQuestions } from './agent-questions.ts';
import { isConnectionEvent } from './connection-event.ts';
import { Inbox } from './inbox.ts';
import { LineIds } from './line-ids.ts';
import { RemoteFrames } from './remote-frames.ts';

/** Sends the envelopes of a line to the agent. */
export interface LineSender {
  /** Sends one envelope. A failure is reported through `SharedLine.lose`. */
  send(envelope: JsonObject): void;
  /** Bytes that `send` accepted and that are not sent yet. */
  readonly unsentBytes: number;
}

/**
 * One connection to an agent, shared by the requests that the agent works on. Each received frame is given to the
 * request that it names. When the connection is lost, every request in flight ends.
 */
export class SharedLine {
  readonly #agentId: string;
  readonly #sender: LineSender;
  readonly #onPush: OnPush | undefined;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #lineIds: LineIds;
  readonly #log: LimitedLog;
  readonly #inFlight = new Map<string, Unanswered>();
  #answered = 0;
  #unread = 0;
  #full: Full | undefined;
  #lost: AgentPart | undefined;
  /** Resolves when the latest push is handled. Pushes are handled one at a time, in the order received. */
  #pushing: Promise<void> = Promise.resolve();

  constructor({ agentId, sender, clock, ids, log, onPush }: SharedLineOptions) {
    this.#agentId = agentId;
    this.#onPush = onPush;
    this.#sender = sender;
    this.#clock = clock;
    this.#ids = ids;
    this.#lineIds = new LineIds(ids);
    this.#log = new LimitedLog({ log, clock, fields: { agent: agentId } });
  }

  /** Requests in flight. */
  get load(): number {
    return this.#inFlight.size;
  }

  /** Requests that got their whole answer. */
  get answered(): number {
    return this.#answered;
  }

  async *answer(envelope: E2AEnvelope, call: Call): AsyncGenerator<AgentPart, void, undefined> {
    call.signal.throwIfAborted();
    if (this.#lost !== undefined) return yield this.#lost;
    if (this.#sender.unsentBytes > MAX_UNSENT) return yield agentFailed('The agent does not read its input.');
    const id = this.#lineIds.next(envelope.request_id);
    const inbox = new Inbox();
    const frames = new RemoteFrames(id);
    const questions = new AgentQuestions({
      envelope,
      requestId: id,
      call,
      clock: this.#clock,
      ids: this.#ids,
      send: (reply) => this.#sender.send(encodeEnvelope(reply)),
    });
    const { request_id: requestId, session_id: sessionId } = envelope;
    this.#inFlight.set(id, { inbox, sessionId, request: { owner: call.principal.id, requestId } });
    try {
      this.#sender.send({ ...encodeEnvelope(envelope), request_id: id });
      while (!frames.ended) {
        const arrival = await inbox.next(call.signal);
        this.#read(arrival.bytes);
        const part = 'end' in arrival ? frames.fail(arrival.end) : frames.receive(arrival.frame);
        if (part?.part === 'frame' && frames.ended) this.#answered++;
        if (part !== undefined && !questions.take(part)) yield part;
      }
    } finally {
      this.#inFlight.delete(id);
      this.#read(inbox.bytes);
      if (!frames.ended && this.#lost === undefined) this.#interrupt(envelope, id);
    }
  }

  /** Handles a received frame; `text` has its length in bytes. */
  receive(frame: Outcome<Json>, text: FrameText): void {
    if (isConnectionEvent(frame)) return;
    if (frame.ok && isPush(frame.value)) {
      this.#push(frame.value, text.bytes);
      return;
    }
    const id = frame.ok ? requestIdOf(frame.value) : mentioned(text.excerpt);
    const found = id === undefined ? this.#onlyOne(frame) : this.#inFlight.get(id);
    if (found !== undefined) {
      found.inbox.put({ frame, bytes: text.bytes });
      this.#take(text.bytes);
    } else if (frame.ok && id === undefined) {
      // The request ends by its time limit only; the log shows the agent's author why.
      this.#log.write('warn', {}, 'the agent sent a frame without request_id');
    } else if (frame.ok) {
      // A late frame of a cancelled request, or an answer to no request.
      this.#log.write('debug', { request_id: id }, 'the agent sent a frame for no request in flight');
    } else {
      const { code, message } = frame.issues[0] ?? { code: 'not_json', message: '' };
      this.#log.write(
        'warn',
        { code, error: message, text: text.excerpt.slice(0, 200) },
        'the agent sent an invalid frame',
      );
    }
  }

  /**
   * `undefined` while there is room for more frames. Otherwise, do not read from the agent until the promise resolves.
   */
  room(): Promise<void> | undefined {
    return this.#full?.over;
  }

  /** The connection is gone: requests in flight end with this part, after the frames already received. */
  lose(end: AgentPart): void {
    if (this.#lost !== undefined) return;
    this.#lost = end;
    for (const { inbox } of this.#inFlight.values()) inbox.put({ end, bytes: 0 });
    this.#full?.end();
    this.#log.flush();
  }

  /**
   * A frame that is too long and does not begin with an id belongs to the only request in flight. With several in
   * flight it is dropped, and its request ends because a sequence number is missing. A short invalid frame may be
   * anything that the agent printed by mistake.
   */
  #onlyOne(frame: Outcome<Json>): Unanswered | undefined {
    if (frame.ok || this.#inFlight.size !== 1 || !frame.issues.some(({ code }) => TOO_LONG.has(code))) return;
    return this.#inFlight.values().next().value;
  }

  /** Pushes count against the room of the line, so that an agent that floods is not read. */
  #push(json: Json, bytes: number): void {
    const read = readAgentFrame(json);
    if (!read.ok) {
      this.#log.write('warn', { error: read.issues[0]?.message }, 'the agent sent an invalid push');
      return;
    }
    const request = this.#inFlight.get(requestIdOf(json) ?? '')?.request;
    const push = { agentId: this.#agentId, request, frame: read.value };
    this.#take(bytes);
    this.#pushing = this.#pushing
      .then(() => this.#onPush?.(push))
      .catch((error: unknown) => this.#log.write('warn', { error: String(error) }, 'a push could not be delivered'))
      .then(() => this.#read(bytes));
  }

  #take(bytes: number): void {
    this.#unread += bytes;
    if (this.#unread > MAX_UNREAD) this.#full ??= this.#fill();
  }

  #read(bytes: number): void {
    this.#unread -= bytes;
    if (this.#unread <= MAX_UNREAD / 2) this.#full?.end();
  }

  #fill(): Full {
    const ended = new AbortController();
    const full: Full = {
      over: new Promise((resolve) => ended.signal.addEventListener('abort', () => resolve(), { once: true })),
      end: () => {
        this.#full = undefined;
        ended.abort();
      },
    };
    this.#watch(ended.signal).catch(() => {});
    return full;
  }

  /** While the line is full, an unread answer blocks all the others, so it is dropped after a while. */
  async #watch(ended: AbortSignal): Promise<void> {
    for (;;) {
      const before = new Map([...this.#inFlight.values()].map(({ inbox }) => [inbox, inbox.taken]));
      await this.#clock.wait(STALLED_AFTER_MS, ended);
      if (this.#inFlight.size < 2) continue;
      const stalled = [...before].filter(([inbox, taken]) => inbox.bytes > 0 && inbox.taken === taken);
      const [largest] = stalled.map(([inbox]) => inbox).sort((a, b) => b.bytes - a.bytes);
      if (largest === undefined) continue;
      const bytes = largest.bytes;
      largest.replace(agentFailed('The answer was not read for too long, and blocked other answers.'));
      this.#read(bytes);
    }
  }

  /**
   * Sends an interrupt, unless another request uses the session: in the reference server an interrupt stops the whole
   * session.
   */
  #interrupt({ session_id, channel, user_id }: E2AEnvelope, id: string): void {
    if ([...this.#inFlight.values()].some((other) => other.sessionId === session_id)) return;
    const interrupt = newEnvelope({
      request_id: this.#ids.uuid(),
      timestamp: this.#clock.now().toISOString(),
      method: 'chat.interrupt',
      params: { intent: 'cancel', request_id: id },
      session_id,
      channel,
      user_id,
    });
    this.#sender.send(encodeEnvelope(interrupt));
  }
}

/** The length and beginning of a frame's text. */
export interface FrameText {
  readonly bytes: number;
  /** The beginning of the text, for frames that cannot be read. */
  readonly excerpt: string;
}

interface SharedLineOptions {
  readonly agentId: string;
  readonly sender: LineSender;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly onPush?: OnPush | undefined;
}

/** Handles a push of the agent; resolves when that is done. */
export type OnPush = (push: AgentPush) => Promise<void>;

/** A request whose answer has not ended. */
interface Unanswered {
  readonly inbox: Inbox;
  readonly sessionId: string | null;
  readonly request: AgentPush['request'];
}

/** Set while the line is full. `over` resolves when there is room again. */
interface Full {
  readonly over: Promise<void>;
  end(): void;
}

function isPush(json: Json): boolean {
  return isObject(json) && isObject(json['metadata']) && isServerPush({ metadata: json['metadata'] });
}

function requestIdOf(json: Json): string | undefined {
  const id = isObject(json) ? json['request_id'] : undefined;
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined;
}

/** The request id in a text that is not valid JSON, for example because it has `NaN` from Python or a repeated key. */
function mentioned(text: string): string | undefined {
  return /"request_id"\s*:\s*"([^"\\]{1,256})"/.exec(text)?.[1];
}

/** Unread bytes of all answers together at which reading from the agent stops. */
const MAX_UNREAD = 4 * 1024 * 1024;
const TOO_LONG: ReadonlySet<string> = new Set(['line_too_long', 'frame_too_large']);
const MAX_UNSENT = 16 * 1024 * 1024;
const STALLED_AFTER_MS = 30_000;
