import { describe, expect, test } from 'vitest';
import type { ToolEvent } from '../call/caller-tools.ts';
import { NO_PERMISSIONS } from '../call/principal.ts';
import { RunningTool } from './running-tool.ts';

const ADA = { id: 'ada', kind: 'agent', permissions: NO_PERMISSIONS } as const;

/** The artifact chunks that a tool sends. */
function chunksOf(make: (tool: RunningTool) => void): { chunk: string; final: boolean }[] {
  const events: ToolEvent[] = [];
  make(new RunningTool(ADA, { onEvent: (event) => events.push(event) }));
  return events.map(({ data }) => data as { chunk: string; final: boolean });
}

describe('an artifact', () => {
  test.each([
    ['nothing', 0, 1],
    ['a byte', 1, 1],
    ['as much as fits', 262_143, 1],
    ['a byte more', 262_144, 2],
    ['a megabyte', 1_000_000, 4],
  ])('of %s is sent in as many pieces as it needs, each readable by itself', (_, size, count) => {
    const made = Buffer.alloc(size, 'abcdefg');
    const pieces = chunksOf((tool) => tool.artifact({ name: 'it', chunk: made, final: true }));
    expect(pieces).toHaveLength(count);
    expect(Buffer.concat(pieces.map(({ chunk }) => Buffer.from(chunk, 'base64'))).equals(made)).toBe(true);
    expect(Buffer.from(pieces.map(({ chunk }) => chunk).join(''), 'base64').equals(made)).toBe(true);
    expect(pieces.map(({ final }) => final)).toEqual([...Array(count - 1).fill(false), true]);
  });

  test('that is a part of a larger buffer is sent alone, and is not final by default', () => {
    const part = new Uint8Array(Buffer.from('before it after')).subarray(7, 9);
    const pieces = chunksOf((tool) => tool.artifact({ name: 'it', chunk: part }));
    expect(pieces).toEqual([expect.objectContaining({ chunk: Buffer.from('it').toString('base64'), final: false })]);
  });
});
