import { crc32 } from 'node:zlib';
import type { FrameRow } from '../store.ts';
import { StoreError } from '../store-error.ts';

/** Frames that were added together, as one row. */
export interface PackedFrames {
  /** Sequence of the first frame; the others follow without a gap. */
  readonly first: number;
  readonly count: number;
  /** 1 when the last of these frames is the final one of the answer, else 0. */
  readonly ends: number;
  /** The length of each text in UTF-16 units, separated by commas; null for a single frame. */
  readonly lengths: string | null;
  readonly text: string;
}

export interface FramesRow extends PackedFrames {
  readonly checksum: number;
}

/**
 * Packs frames into rows. Many frames become several rows, so that reading a few of them never loads a large row.
 * Throws if the frames do not follow each other.
 */
export function packFrames(frames: readonly FrameRow[]): PackedFrames[] {
  const rows: PackedFrames[] = [];
  let start = 0;
  let length = 0;
  for (const [index, { sequence, isFinal, text }] of frames.entries()) {
    const expected = (frames[0]?.sequence ?? 0) + index;
    if (sequence !== expected) throw new Error(`frame ${sequence} where ${expected} was expected`);
    if (isFinal && index < frames.length - 1) throw new Error('a frame after the final one');
    length += text.length;
    if (length < ROW_LENGTH && index < frames.length - 1) continue;
    rows.push(pack(frames.slice(start, index + 1)));
    start = index + 1;
    length = 0;
  }
  return rows;
}

export function unpackFrames(row: FramesRow): FrameRow[] {
  if (row.checksum !== frameChecksumOf(row)) {
    throw new StoreError(
      'store_damaged',
      `Frames ${row.first} to ${row.first + row.count - 1} of a request are damaged in the database.`,
    );
  }
  if (row.lengths === null) return [{ sequence: row.first, isFinal: row.ends === 1, text: row.text }];
  let offset = 0;
  return row.lengths.split(',').map((length, index) => {
    const text = row.text.slice(offset, offset + Number(length));
    offset += text.length;
    return { sequence: row.first + index, isFinal: row.ends === 1 && index === row.count - 1, text };
  });
}

function pack(frames: readonly FrameRow[]): PackedFrames {
  return {
    first: frames[0]?.sequence ?? 0,
    count: frames.length,
    ends: frames.at(-1)?.isFinal ? 1 : 0,
    lengths: frames.length === 1 ? null : frames.map(({ text }) => text.length).join(','),
    text: frames.length === 1 ? (frames[0]?.text ?? '') : frames.map(({ text }) => text).join(''),
  };
}

export function frameChecksumOf(row: PackedFrames): number {
  return crc32(row.text, crc32(`${row.first},${row.count},${row.ends},${row.lengths}`));
}

const ROW_LENGTH = 65_536;
