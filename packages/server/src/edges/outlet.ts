/** Where the answer to one request is written. Fields are name and value in turn. */
export interface Outlet {
  /** The connection ends behind this answer. */
  isLast: boolean;
  /** Of the answer, once it has begun. */
  readonly status: number | undefined;
  /** There is nobody left to write to. */
  readonly isGone: boolean;
  /** Tells the peer that its body is awaited, or that its answer will come. */
  inform(status: 100 | 102): void;
  /** An answer in one piece, of so many bytes. Throws before the first of them when it cannot be written. */
  writeWhole(status: number, fields: readonly string[], text: string, length: number): void;
  /** The head of an answer that comes bit by bit; the peer sees it at once. Throws like `writeWhole`. */
  begin(status: number, fields: readonly string[]): void;
  /** Never nothing, which would be the end. `false`: the peer has enough for now, and has until its patience is over to take it. */
  write(chunk: string | Uint8Array): boolean;
  /** Calls back once, when there is room again. */
  whenDrained(callback: () => void): void;
  end(): void;
  /** Ends the connection behind what was written so far, without the end of the answer: it cannot be taken for whole. */
  breakOff(): void;
  /** Drops the connection. */
  destroy(): void;
  /** Calls back once, when the answer was taken or its connection is gone. Gives what takes that back. */
  whenOver(callback: OverListener): () => void;
}

export type OverListener = (isDelivered: boolean) => void;

/** Text with a byte for each character is ASCII. Told so, Node copies it; else it makes room for three times as much. */
export function encodingOf(text: string, length: number): 'latin1' | 'utf8' {
  return length === text.length ? 'latin1' : 'utf8';
}

/** Bytes from which putting a head before a text, which copies all of it, costs more than writing the two. */
export const LONG = 4096;
