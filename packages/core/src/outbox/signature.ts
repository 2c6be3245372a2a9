import { createHmac } from 'node:crypto';
import type { SigningKeys } from './signing-keys.ts';

export interface Signed {
  readonly messageId: string;
  /** The time of this try, in epoch seconds. */
  readonly timestamp: number;
  readonly body: string;
  /** The agent whose shared secret also signs it; absent for a sender without one. */
  readonly agentId: string | undefined;
  /** Whether signing may wait for a thread. Default: false. */
  readonly isAhead?: boolean;
}

/**
 * The headers of Standard Webhooks: the message id stays the same, the time and the signatures are those of this try.
 * `v1a` is Ed25519, for receivers with the public key; `v1` is HMAC-SHA256, for agents that share a secret with us.
 */
export async function webhookHeaders(signed: Signed, keys: SigningKeys): Promise<Record<string, string>> {
  const { messageId, timestamp, body, agentId, isAhead = false } = signed;
  const content = `${messageId}.${timestamp}.${body}`;
  const secret = agentId === undefined ? undefined : await keys.secretOf(agentId);
  const shared = secret === undefined ? '' : `v1,${createHmac('sha256', secret).update(content).digest('base64')} `;
  return {
    'webhook-id': messageId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `${shared}v1a,${await keys.sign(content, { isAhead })}`,
  };
}
