import { type Keys, SHORTEST_KEY } from './keys.ts';

export interface AdminKeyOptions {
  /** The operator's own, from the environment. */
  readonly adminKey?: string | undefined;
  /** Called with the key that is made when there is none. */
  readonly onAdminKey?: ((key: string) => void) | undefined;
}

/**
 * Sees to it that there is an admin key. The operator's own wins, and one with a new value retires the one before it, which
 * other admin keys outlive. Without one, a key is made on the first start. Throws where the operator's key cannot be used.
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

/** Describes the key that came from the environment. Nobody else may describe one so: it is what rotation goes by. */
export const FROM_ENVIRONMENT = 'from the environment';
const MAKE_ADMIN_KEY = `export DRAGOMAN_ADMIN_KEY=$(node -p "crypto.randomBytes(32).toString('hex')")`;
