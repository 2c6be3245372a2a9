import { hash } from 'node:crypto';
import type { Json } from '@dragoman/protocols';

/**
 * A short name for everything computed so far. A repeated run must have the same digest at the same place; otherwise it
 * is another computation. Only the outline of large values is hashed, to limit the cost.
 */
export class Digest {
  #name: string;
  /** Keys and values in turn. They are hashed only when the name is needed, which it often is not. */
  #pending: Json[] = [];

  constructor(start: string) {
    this.#name = start;
  }

  add(key: string, value: Json): void {
    if (this.#pending.push(key, value) > MOST_PENDING) this.name();
  }

  name(): string {
    if (this.#pending.length > 0) {
      let text = this.#name;
      for (let at = 0; at < this.#pending.length; at += 2) {
        text += `\n${this.#pending[at]}=${outline(this.#pending[at + 1] as Json)}`;
      }
      this.#name = hash('sha256', text, 'base64url');
      this.#pending = [];
    }
    return this.#name;
  }
}

function outline(value: Json, depth = 0): string {
  if (typeof value === 'string') return `${value.length}:${value.slice(0, 64)}`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (depth > 1) return '…';
  if (Array.isArray(value)) {
    const [first = null] = value;
    return `[${value.length}:${outline(first, depth + 1)}:${outline(value.at(-1) ?? null, depth + 1)}]`;
  }
  let text = '';
  let members = 0;
  for (const key in value) {
    if (members++ === 8) break;
    text += `${key}:${outline(value[key] as Json, depth + 1)},`;
  }
  return `{${text}}`;
}

/** A small number, because pending values stay in memory. */
const MOST_PENDING = 16;
