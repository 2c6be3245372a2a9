import { convert } from '../../packages/protocols/src/convert.ts';
import type { Dialect } from '../../packages/protocols/src/dialect.ts';
import { DIALECTS } from '../../packages/protocols/src/dialects.ts';
import { loadFixtures } from '../conformance.ts';
import { FULL_MESSAGES } from './full-messages.ts';

/** What every conversion loses, found by doing it. */
export function lossesPage(): string {
  const sections = DIALECTS.flatMap((from) => {
    return DIALECTS.filter((to) => to !== from && (from.name === 'e2a' || to.name === 'e2a')).map((to) =>
      section(from, to),
    );
  });
  return [HEADING, overview(), ...sections].join('\n');
}

function overview(): string {
  const rows = DIALECTS.map((from) => {
    const cells = DIALECTS.map((to) => {
      if (to === from) return '–';
      const found = fullLosses(from, to);
      return typeof found === 'string'
        ? 'not possible'
        : found.length === 0
          ? 'nothing'
          : found.length === 1
            ? '1 field'
            : `${found.length} fields`;
    });
    return `| **${from.name}** | ${cells.join(' | ')} |`;
  });
  const names = DIALECTS.map(({ name }) => `to ${name}`);
  return [`| lost from | ${names.join(' | ')} |`, `|---|${names.map(() => '---|').join('')}`, ...rows, ''].join('\n');
}

function section(from: Dialect<unknown>, to: Dialect<unknown>): string {
  const found = fullLosses(from, to);
  const { converted, requests } = conformance(from, to);
  const count = `${converted} of the ${requests} requests in \`conformance/${from.name}\` can be converted.`;
  return `## ${from.name} → ${to.name}\n\n${bodyOf(found, to.name)}\n\n${count}\n`;
}

/** Fields without a place as one list; for the others the reason beside each. */
function bodyOf(found: ReturnType<typeof fullLosses>, to: string): string {
  if (typeof found === 'string') return `Not possible: ${found}.`;
  if (found.length === 0) return 'Nothing is lost.';
  const noPlace = `${to} has no place for it`;
  const without = found.filter(({ why }) => why === noPlace).map(({ pointer }) => nameOf(pointer));
  const others = found.filter(({ why }) => why !== noPlace);
  return [
    ...(without.length === 0 ? [] : [`No field in ${to}: ${without.join(', ')}.`]),
    ...(without.length === 0 || others.length === 0 ? [] : ['']),
    ...others.map(({ pointer, why }) => `- ${nameOf(pointer)}: ${why}`),
  ].join('\n');
}

function nameOf(pointer: string): string {
  return pointer === '' ? 'the whole message' : `\`${pointer.slice(1)}\``;
}

/** The losses of a message with every field, or why it cannot be converted. */
function fullLosses(
  from: Dialect<unknown>,
  to: Dialect<unknown>,
): readonly { pointer: string; why: string }[] | string {
  const message = FULL_MESSAGES[from.name] ?? null;
  if (!from.decode(message, STAMP.now).ok) throw new Error(`the full message of ${from.name} is not valid`);
  const converted = convert(message, { from, to, stamp: STAMP });
  if (converted.ok) return converted.value.losses;
  return converted.issues.map(({ message }) => message).join('; ');
}

function conformance(from: Dialect<unknown>, to: Dialect<unknown>): { converted: number; requests: number } {
  const outcomes = loadFixtures(from.name, 'accept').map(({ input, now, options }) => {
    const stamp = { ...STAMP, ...(now !== undefined && { now: new Date(now) }) };
    return convert(input, { from, to, stamp, ...options });
  });
  const requests = outcomes.filter((outcome) => outcome.ok || outcome.issues[0]?.code !== 'not_a_request');
  return { converted: requests.filter(({ ok }) => ok).length, requests: requests.length };
}

const STAMP = { id: '0123456789abcdef0123456789abcdef', now: new Date('2026-03-28T12:00:00.000Z') };

const HEADING = `# Ledger of losses

What a request loses when it is converted from one protocol to another. The list is measured: a request with every field of its protocol
(\`scripts/reference/full-messages.ts\`) is converted and converted back, and the fields that do not return are listed. \`npx dragoman convert\` reports
the same for your own message.

A server converts every message to an E2A envelope, and the answer to the protocol of the request. The lists below are therefore those from and to
E2A.
`;
