import { getHeapStatistics } from 'node:v8';
import { resourceLimits } from 'node:worker_threads';

/**
 * Called before one large allocation, with its maximum size. Does not return if the memory does not suffice: the thread
 * exits.
 */
export type AskMemory = (bytes: number) => void;

/**
 * Whether this thread can allocate this much more. V8 ends only the thread when it exceeds its limit in small steps.
 * But it lets a thread exceed the limit by 16 MiB at a time, and a larger single allocation ends the process.
 */
export function hasMemoryFor(bytes: number): boolean {
  if (bytes < LEEWAY) return true;
  const { maxOldGenerationSizeMb: megabytes = Number.POSITIVE_INFINITY } = resourceLimits;
  return getHeapStatistics().used_heap_size + bytes <= megabytes * 1024 * 1024;
}

/** The memory of an array that grows to this many items: V8 reserves up to 1.5 times its size. */
export function memoryOfItems(count: number): number {
  return count * SLOT * 1.5;
}

/** The memory of an object or map that grows to this many members. */
export function memoryOfMembers(count: number): number {
  // A hash table has three slots per entry, and up to three times as many entries as members.
  return count * SLOT * 9;
}

/** An approximate upper bound of the memory for parsing JSON, including its text. */
export function memoryOfJson(bytes: Uint8Array): number {
  if (bytes.length * MOST_PER_BYTE < LEEWAY) return 0;
  let items = 0;
  let containers = 0;
  let listed = 0;
  let isWide = false;
  /** The number of members so far of each open object. */
  const members: number[] = [0];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) {
        if (bytes[at] === BACKSLASH) at++;
        else if ((bytes[at] as number) >= BEYOND_LATIN) isWide = true;
      }
    } else if (byte === COMMA) items++;
    else if (byte === COLON) {
      const count = (members[members.length - 1] ?? 0) + 1;
      members[members.length - 1] = count;
      if (count > FEW_MEMBERS) listed++;
    } else if (byte === BRACKET || byte === BRACE) {
      containers++;
      members.push(0);
    } else if (byte === BRACKET + CLOSING || byte === BRACE + CLOSING) members.pop();
  }
  const text = bytes.length * (isWide ? 2 : 1);
  return text + memoryOfItems(items) + memoryOfMembers(listed) + containers * CONTAINER;
}

const LEEWAY = 16 * 1024 * 1024;
const SLOT = 8;
/** An empty container with room for some members. */
const CONTAINER = 48;
/** The worst case is `{},{},…`. */
const MOST_PER_BYTE = 21;
/** An object with more members becomes a hash table. */
const FEW_MEMBERS = 1000;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const BRACKET = 0x5b;
const BRACE = 0x7b;
/** The distance from an opening bracket to its closing one in ASCII. */
const CLOSING = 2;
/**
 * The first UTF-8 byte of a character beyond Latin-1. One such character makes V8 store the whole text with two bytes
 * each.
 */
const BEYOND_LATIN = 0xc4;
