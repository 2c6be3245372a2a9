/**
 * An agent's place in an ERC-8004 registry: `eip155:{chainId}:{registryAddress}:{tokenId}` (A2A mailbox, Field
 * Reference, `from`). The numbers stay text: a token id has up to 256 bits.
 */
export interface MailboxAgentId {
  readonly chainId: string;
  readonly registry: string;
  readonly tokenId: string;
}

export function parseAgentId(text: string): MailboxAgentId | undefined {
  if (!isMailboxAgentId(text)) return undefined;
  const [, chainId = '', registry = '', tokenId = ''] = text.split(':');
  return { chainId, registry, tokenId };
}

export function formatAgentId({ chainId, registry, tokenId }: MailboxAgentId): string {
  return `eip155:${chainId}:${registry}:${tokenId}`;
}

export function isMailboxAgentId(text: string): boolean {
  if (!FORM.test(text)) return false;
  // The length is checked here, not in the pattern.
  const chainEnd = text.indexOf(':', 7);
  const registryEnd = text.indexOf(':', chainEnd + 1);
  return registryEnd - chainEnd === 43 && chainEnd - 7 <= 32 && text.length - registryEnd - 1 <= 78;
}

/** Whether two ids name the same agent. The case of an address is only a checksum, and 012 is 12. */
export function sameAgentId(one: string, other: string): boolean {
  const [a, b] = [parseAgentId(one), parseAgentId(other)];
  return a !== undefined && b !== undefined && canonical(a) === canonical(b);
}

function canonical({ chainId, registry, tokenId }: MailboxAgentId): string {
  return formatAgentId({
    chainId: withoutLeadingZeros(chainId),
    registry: registry.toLowerCase(),
    tokenId: withoutLeadingZeros(tokenId),
  });
}

function withoutLeadingZeros(digits: string): string {
  return digits.replace(/^0+(?=\d)/, '');
}

// The spec's pattern with its numbers bounded: CAIP-2 gives a chain 32 characters, a 256-bit token has 78 digits.
export const AGENT_ID_PATTERN = '^eip155:\\d{1,32}:0x[a-fA-F0-9]{40}:\\d{1,78}$';
const FORM = /^eip155:\d+:0x[a-fA-F0-9]+:\d+$/;
