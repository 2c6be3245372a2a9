import { hash } from 'node:crypto';

/** Where the next page of an owner's list begins. It is bound to that owner: another's is no cursor at all. */
export function cursorFor(owner: string, number: number): string {
  return Buffer.from(`${number}.${sealOf(owner, number)}`).toString('base64url');
}

/** `undefined` for anything that was not made here for this owner. */
export function numberIn(cursor: string, owner: string): number | undefined {
  const [, digits, seal] = /^(\d{1,15})\.([\w-]{16})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  const number = Number(digits);
  return digits !== undefined && seal === sealOf(owner, number) ? number : undefined;
}

function sealOf(owner: string, number: number): string {
  return hash('sha256', `executions ${number} ${owner}`, 'base64url').slice(0, 16);
}
