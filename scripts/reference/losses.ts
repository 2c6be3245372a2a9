import { convert } from '../../packages/protocols/src/convert.ts';
import type { Dialect } from '../../packages/protocols/src/dialect.ts';
import { DIALECTS } from '../../packages/protocols/src/dialects.ts';
import { loadFixtures } from '../conformance.ts';
import { FULL_MESSAGES } from './full-messages.ts';

/** What every translation loses, found by doing it. */
export function lossesPage(): string {
  const sections = DIALECTS.flatMap((from) => {
    return DIALECTS.filter((to) => to !== from).map((to) => section(from, to));
  });
  return [HEADING, overview(), ...sections].join('\n');
}

function overview(): string {
  const rows = DIALECTS.map((from) => {
    const cells = DIALECTS.map((to) => {
      if (to === from) return '–';
      const found = fullLosses(from, to);
      return typeof found === 'string'
        ? 'not told'
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
  const { told, requests } = conformance(from, to);
  const count = `Of the ${requests} requests in \`conformance/${from.name}\`, ${told} can be told so.`;
  const body =
    typeof found === 'string'
      ? `Not told: ${found}.`
      : found.length === 0
        ? 'Nothing is lost.'
        : [
            '| lost | |',
            '|---|---|',
            ...found.map(({ pointer, why }) => `| \`${pointer || '(the whole)'}\` | ${why} |`),
          ].join('\n');
  return `## ${from.name} → ${to.name}\n\n${body}\n\n${count}\n`;
}

/** The losses of the message that says all it can, or why there is none in the other protocol. */
function fullLosses(
  from: Dialect<unknown>,
  to: Dialect<unknown>,
): readonly { pointer: string; why: string }[] | string {
  const message = FULL_MESSAGES[from.name] ?? null;
  if (!from.decode(message, STAMP.now).ok) throw new Error(`the full message of ${from.name} is not valid`);
  const told = convert(message, { from, to, stamp: STAMP });
  if (told.ok) return told.value.losses.map(({ pointer, why }) => ({ pointer, why: why.replaceAll('|', '\\|') }));
  return told.issues.map(({ message }) => message).join('; ');
}

function conformance(from: Dialect<unknown>, to: Dialect<unknown>): { told: number; requests: number } {
  const outcomes = loadFixtures(from.name, 'accept').map(({ input, now, options }) => {
    const stamp = { ...STAMP, ...(now !== undefined && { now: new Date(now) }) };
    return convert(input, { from, to, stamp, ...options });
  });
  const requests = outcomes.filter((outcome) => outcome.ok || outcome.issues[0]?.code !== 'not_a_request');
  return { told: requests.filter(({ ok }) => ok).length, requests: requests.length };
}

const STAMP = { id: '0123456789abcdef0123456789abcdef', now: new Date('2026-03-28T12:00:00.000Z') };

const HEADING = `# Ledger of losses

What is lost when a request of one protocol is told in another. Nothing here is written by hand: a request that says all its
protocol can say (\`scripts/reference/full-messages.ts\`) is told in the other one and told back, and what does not return is
listed. \`npx dragoman convert\` does the same for a message of yours, and names what that one loses.

On a server no protocol is told in another directly: what comes in becomes an E2A envelope, and the answer goes out in the
protocol of the question. So of these tables only those to and from e2a are ever on the way of a request. What answers lose, and
the adapters for ACP and Linux Foundation A2A, is told by protocol: [E2A](../protocols/e2a.md#ledger-of-losses),
[A2A messages](../protocols/a2a-messages.md), [A2A mailbox](../protocols/a2a-mailbox.md#ledger-of-losses),
[A2E wire](../protocols/a2e-wire.md#what-is-lost), [A2E workflows](../protocols/a2e-workflow.md#what-is-lost).
`;
