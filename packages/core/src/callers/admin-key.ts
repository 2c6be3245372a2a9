import { type Keys, SHORTEST_KEY } from './keys.ts';

export interface AdminKeyOptions {
  /** The operator's key, from the environment. */
  readonly adminKey?: string | undefined;
  /** Called with a new key if there was none. */
  readonly onAdminKey?: ((key: string) => void) | undefined;
}

/**
 * Ensures that there is an admin key. A new key from the environment revokes the previous one from there; other admin
 * keys stay valid. Without a key in the environment, one is created on the first start. Throws where the operator's key
 * cannot be used.
 */
export async function provideAdminKey(keys: Keys, { adminKey, onAdminKey }: AdminKeyOptions): Promise<void> {
  if (adminKey !== undefined) return useOwn(keys, adminKey);
  const isThere = (await keys.list()).some(({ role, revokedAt }) => role === 'admin' && revokedAt === null);
  if (isThere) return;
  const { secret } = await keys.create({ agentId: 'admin', role: 'admin', description: 'first start' });
  onAdminKey?.(secret);
}

/** Throws where an operator's key is short enough to be guessed. */
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
  // Runs after the new key is recorded: after a crash in between both keys work, and the next start revokes the old one.
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
