import { type Keys, SHORTEST_KEY } from './keys.ts';

export interface AdminKeyOptions {
  /** The operator's own, from the environment. */
  readonly adminKey?: string | undefined;
  /** Called with the new key when one is generated. */
  readonly onAdminKey?: ((key: string) => void) | undefined;
}

/**
 * Ensures that there is an admin key. The operator's own key has priority; a new value revokes the previous one, but no
 * other admin keys. Without one, a key is generated on the first start. Throws where the operator's key cannot be used.
 */
export async function provideAdminKey(keys: Keys, { adminKey, onAdminKey }: AdminKeyOptions): Promise<void> {
  if (adminKey !== undefined) return useOwn(keys, adminKey);
  const isThere = (await keys.list()).some(({ role, revokedAt }) => role === 'admin' && revokedAt === null);
  if (isThere) return;
  const { secret } = await keys.create({ agentId: 'admin', role: 'admin', description: 'first start' });
  onAdminKey?.(secret);
}

/** Throws where an operator's key is so short that it could be guessed. */
export function checkAdminKey(adminKey: string | undefined): void {
  if (adminKey !== undefined && adminKey.length < SHORTEST_KEY) {
    throw unusable(`has ${adminKey.length} characters; it needs at least ${SHORTEST_KEY}`);
  }
}

async function useOwn(keys: Keys, secret: string): Promise<void> {
  checkAdminKey(secret);
  const known = await keys.recorded(secret);
  if (known !== undefined && known.revokedAt !== null) {
    throw unusable(`holds the key ${known.keyId}, which was revoked on ${new Date(known.revokedAt).toISOString()}`);
  }
  if (known?.role === 'agent') throw unusable(`holds an API key of the agent ${known.agentId}`);
  const { keyId } =
    known ?? (await keys.create({ agentId: 'admin', role: 'admin', description: FROM_ENVIRONMENT, secret })).row;
  // After the new one is recorded: a crash in between leaves two that work, and the next start retires the earlier one.
  for (const row of await keys.list()) {
    const isEarlier = row.role === 'admin' && row.description === FROM_ENVIRONMENT && row.keyId !== keyId;
    if (isEarlier && row.revokedAt === null) await keys.revoke(row.keyId);
  }
}

function unusable(why: string): Error {
  const message = `DRAGOMAN_ADMIN_KEY ${why}. Make a new one: ${MAKE_ADMIN_KEY}`;
  return Object.assign(new Error(message), { code: 'admin_key' });
}

/** The description of the key from the environment. It is reserved, because rotation finds the key by it. */
export const FROM_ENVIRONMENT = 'from the environment';
const MAKE_ADMIN_KEY = `export DRAGOMAN_ADMIN_KEY=$(node -p "crypto.randomBytes(32).toString('hex')")`;
