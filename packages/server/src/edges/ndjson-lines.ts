import type { Readable } from 'node:stream';
import type { Cancel, Clock, Entrance, UnreadAccount, UnreadBudget, WireConnection, WireSink } from '@dragoman/core';
import { type Issue, LineSplitter, type Outcome, reject } from '@dragoman/protocols';
import type { Intake } from './intake.ts';
import { type MessageRates, senderOf } from './message-rates.ts';

/** A byte stream each way. */
export interface PeerStreams {
  readonly input: Readable;
  readonly output: LineOutput;
}

/** The stream that lines are written to. */
export interface LineOutput {
  readonly writableLength: number;
  /** Calls back when it is written, or never will be. */
  write(text: string, done: (error?: Error | null) => void): unknown;
  /** Calls back when everything is written. */
  end(done: () => void): unknown;
  destroy(): unknown;
  on(event: 'error' | 'close', listener: () => void): unknown;
}

/** A service for lines. `undefined` when it accepts no further peers. */
export interface LineHost {
  connect(sink: WireSink, entrance?: Entrance, address?: string): LineConnection | undefined;
}

/** One peer of a host: the lines it sends, the end of its input, and its loss. */
export interface LineConnection
  extends Pick<WireConnection, 'end' | 'lost'>,
    Partial<Pick<WireConnection, 'isUnproven' | 'principal'>> {
  /**
   * Takes a line, or its fault and its beginning. If it returns a promise for a line of an unproven peer, the next line is
   * read when that is settled: this line may be the proof.
   */
  receiveLine(line: Outcome<Uint8Array>, start?: Uint8Array): unknown;
}

export interface LineOptions {
  readonly host: LineHost;
  readonly clock: Clock;
  readonly entrance?: Entrance;
  /** Of the peer, where it has one. */
  readonly address?: string | undefined;
  readonly limits: PeerLineLimits;
  /** Absent for a peer without these limits. */
  readonly intake?: Pick<Intake, 'unproven' | 'rates'>;
  /** Shared by all edges of a server. */
  readonly unread?: UnreadBudget | undefined;
}

/** The limits of one peer, in milliseconds and bytes. */
export interface PeerLineLimits {
  readonly maxLineBytes: number;
  /** Without a line break in them; what sends more is past helping. At least twice what a line may have. */
  readonly maxBytesWithoutNewline: number;
  /** Lines that are looked at before others have their turn; 0 for all there are. */
  readonly linesATurn: number;
  /** From the first byte of a line to its last; 0 for as long as it likes. */
  readonly lineMs: number;
  /** Sent and not taken: past the first nothing more is read, past the second the connection is given up. */
  readonly maxUnsentBytes: number;
  readonly mostUnsentBytes: number;
  /** How long a peer may leave sent bytes unread. */
  readonly stallMs: number;
}

export const DEFAULT_LINE_LIMITS: PeerLineLimits = {
  maxLineBytes: 8 * 1024 * 1024,
  maxBytesWithoutNewline: 64 * 1024 * 1024,
  linesATurn: 256,
  lineMs: 10_000,
  maxUnsentBytes: 1024 * 1024,
  mostUnsentBytes: 32 * 1024 * 1024,
  stallMs: 60_000,
};

/** Gives a pair of byte streams its session: a line each way is a message. Resolves when the session is over. */
export function serveLines(
  { input, output }: PeerStreams,
  { host, clock, entrance, address, limits, intake, unread }: LineOptions,
): Promise<void> {
  return new Promise((resolve) => {
    let splitter = new LineSplitter({ maxLineBytes: limits.maxLineBytes });
    let isUnproven = false;
    const unproven = intake?.unproven;
    const held = unproven?.hold(address ?? '');
    /** The line that may prove who the peer is has not been judged yet. */
    let isJudging = false;
    let connection: LineConnection | undefined;
    let pending = '';
    let pendingLines = 0;
    /** The lines of this turn are written at its end. */
    let isDue = false;
    let cancelStall: Cancel | undefined;
    /** The unread bytes of the peer that count towards the budget. */
    let account: UnreadAccount | undefined;
    let counted = 0;
    let cancelLine: Cancel | undefined;
    /** Until the peer, which has sent more than its rate, is read again. */
    let cancelPause: Cancel | undefined;
    /** Waits until the peer has read. */
    let onRead: (() => void) | undefined;
    /** Nothing more is taken, though the last words may still be on their way. */
    let isClosed = false;
    let isOver = false;
    let isTaking = false;
    /** Received lines that wait for their turn, and the end, which may follow them. */
    let rest: Uint8Array | undefined;
    let hasEnded = false;

    const flush = () => {
      if (pending === '') return;
      const text = pending;
      pending = '';
      pendingLines = 0;
      output.write(text, written);
      if (output.writableLength > 0) countUnread();
      if (output.writableLength > limits.mostUnsentBytes) return give();
      if (output.writableLength <= limits.maxUnsentBytes || cancelStall !== undefined) return;
      // The peer does not read: nothing more is taken from it until it does.
      input.pause();
      cancelStall = clock.after(limits.stallMs, give);
      watchLine();
    };
    const countUnread = () => {
      if (unread === undefined || isOver) return;
      const change = output.writableLength - counted;
      counted += change;
      // Opened again for the next that is left unread: who the peer is may be known by then.
      account ??= unread.open({ principal: connection?.principal, address: address ?? '', drop: give });
      if (change > 0) account.sent(change);
      else account.read(-change);
      if (counted === 0) account = undefined;
    };
    const flushDue = () => {
      isDue = false;
      flush();
    };
    // `drain` does not report it: that is for streams beyond their own buffer, and a peer may be allowed less.
    const written = (error?: Error | null) => {
      if (account !== undefined) countUnread();
      if (error || output.writableLength > limits.maxUnsentBytes) return;
      if (cancelStall !== undefined) {
        cancelStall();
        cancelStall = undefined;
        goOn();
      }
      if (onRead === undefined || isFull()) return;
      const callback = onRead;
      onRead = undefined;
      callback();
    };
    /** Half of the limit at which we stop reading: a peer must be read while it receives much. */
    const isFull = () => 2 * (output.writableLength + pending.length) > limits.maxUnsentBytes;
    const give = () => {
      connection?.lost();
      output.destroy();
    };
    const over = () => {
      if (isOver) return;
      isOver = true;
      held?.release();
      account?.close();
      cancelLine?.();
      cancelStall?.();
      cancelPause?.();
      input.off('data', take).off('end', end);
      resolve();
    };
    const take = (chunk: Uint8Array) => {
      if (isClosed) return;
      // Lines of an unproven peer one by one: after the one that proves its identity, others may be longer.
      const turn = endOfTurn(chunk, isUnproven ? 1 : limits.linesATurn);
      isTaking = true;
      try {
        const lines = splitter.push(chunk.subarray(0, turn));
        if (intake !== undefined) pace(intake.rates, { messages: lines.length, bytes: turn });
        for (const line of lines) {
          const judged = connection?.receiveLine(line, line.ok ? undefined : splitter.longLineStart);
          if (!isUnproven) continue;
          if (!line.ok) connection?.end();
          else if (judged instanceof Promise) judge(judged);
        }
      } finally {
        isTaking = false;
      }
      if (isUnproven) meet();
      // What could be answered at once has been.
      flush();
      watchLine();
      if (turn < chunk.length && !isOver) rest = chunk.subarray(turn);
      if (isUnproven && held?.set(splitter.bytesHeld + (rest?.length ?? 0)) === false) {
        rest = undefined;
        connection?.receiveLine(reject(NO_ROOM));
        connection?.end();
        return;
      }
      if (rest !== undefined || isPaused()) {
        input.pause();
        if (!isPaused()) setImmediate(goOn);
        return;
      }
      if (hasEnded) finish();
    };
    /** Nothing more is read for now, though more may be there. */
    const isPaused = () => isJudging || cancelStall !== undefined || cancelPause !== undefined;
    const pace = (rates: MessageRates, sent: { readonly messages: number; readonly bytes: number }) => {
      const sender = senderOf(connection?.principal, address ?? '');
      rates.count(sender, sent);
      const delayMs = rates.delay(sender);
      if (delayMs === 0) return;
      cancelPause ??= clock.after(delayMs, () => {
        cancelPause = undefined;
        goOn();
      });
    };
    const judge = (judged: Promise<unknown>) => {
      isJudging = true;
      const settled = () => {
        isJudging = false;
        if (isOver) return;
        meet();
        goOn();
      };
      judged.then(settled, settled);
    };
    /** Applies the limits of an unproven peer, or no longer. Called between two lines. */
    const meet = () => {
      const wasUnproven = isUnproven;
      isUnproven = unproven !== undefined && connection?.isUnproven === true;
      if (isUnproven === wasUnproven) return;
      if (!isUnproven) held?.release();
      const maxLineBytes = isUnproven
        ? Math.min(unproven?.messageBytes ?? 0, limits.maxLineBytes)
        : limits.maxLineBytes;
      splitter = new LineSplitter({ maxLineBytes });
    };
    /** Continues with waiting or new lines, unless the peer has to read first. */
    const goOn = () => {
      if (isOver || isPaused()) return;
      const chunk = rest;
      rest = undefined;
      if (chunk !== undefined) take(chunk);
      if (rest !== undefined || isPaused()) return;
      input.resume();
      watchLine();
    };
    /** While nothing is read, the rest of an incomplete line waits on our side. */
    const watchLine = () => {
      const { bytesSinceNewline } = splitter;
      if (bytesSinceNewline > Math.max(limits.maxBytesWithoutNewline, 2 * limits.maxLineBytes)) give();
      if (bytesSinceNewline === 0 || isPaused()) {
        cancelLine?.();
        cancelLine = undefined;
      } else if (limits.lineMs > 0) cancelLine ??= clock.after(limits.lineMs, give);
    };
    const end = () => {
      hasEnded = true;
      if (rest === undefined) finish();
    };
    const finish = () => {
      cancelLine?.();
      for (const fault of splitter.end()) connection?.receiveLine(fault);
      connection?.end();
    };

    connection = host.connect(
      {
        send: (text) => {
          // The lines of one turn go in few writes. While more of the peer's own lines are to be answered it can start with
          // the first answers; what comes from elsewhere is there all at once.
          pending += `${text}\n`;
          pendingLines += 1;
          if (pendingLines === (isTaking ? SOME : MANY)) flush();
          else if (!isTaking && !isDue) {
            isDue = true;
            process.nextTick(flushDue);
          }
        },
        close: () => {
          isClosed = true;
          flush();
          output.end(over);
        },
        isFull,
        whenRead: (callback) => {
          onRead = callback;
        },
      },
      entrance,
      address,
    );
    for (const stream of [input, output]) stream.on('error', () => connection?.lost());
    input.on('close', () => {
      if (input.errored !== null) connection?.lost();
    });
    output.on('close', () => {
      connection?.lost();
      over();
    });
    if (connection === undefined) {
      // The peer may have received the reason.
      flush();
      output.end(over);
      return;
    }
    meet();
    input.on('data', take).on('end', end);
  });
}

/**
 * Where the lines end that are looked at in one turn. A chunk has room for thousands of lines of nonsense: others must not wait
 * for the end of them, and what is made of them must not be held for all at once.
 */
function endOfTurn(chunk: Uint8Array, lines: number): number {
  if (lines === 0 || chunk.length <= lines) return chunk.length;
  let end = 0;
  for (let line = 0; line < lines; line += 1) {
    const at = chunk.indexOf(LF, end);
    if (at === -1) return chunk.length;
    end = at + 1;
  }
  return end;
}

const NO_ROOM: Issue = {
  pointer: '',
  code: 'busy',
  message: 'the server has reached its limit for data from unauthenticated peers',
  suggestion: 'connect again later',
};
const LF = 0x0a;
/** Lines that are worth their own write: where the peer could wait for them, and where it could not. */
const SOME = 4;
const MANY = 16;
