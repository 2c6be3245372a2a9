import { type Client, createClient, DragomanError } from '@dragoman/client';
import { computed, signal } from '@preact/signals';
import { watchedFetch } from './connection.ts';

/**
 * The keys of the user: an agent's, the administrator's, or both. They are in memory, and in `sessionStorage` if the
 * user wants that.
 */
export interface Keys {
  readonly agent?: string;
  readonly admin?: string;
}

const KEPT = 'dragoman-keys';

export const keys = signal<Keys>(kept());
/** Why the link that opened this page did not sign in. */
export const linkTrouble = signal<unknown>(undefined);

export const isSignedIn = computed(() => keys.value.agent !== undefined || keys.value.admin !== undefined);

/** The clients with the agent's key and with the admin key. */
export const asAgent = computed(() => clientWith(keys.value.agent));
export const asAdmin = computed(() => clientWith(keys.value.admin));

/** Signs in with a key of either kind. Throws if the server refuses it. */
export async function signIn(key: string, { remember }: { readonly remember: boolean }): Promise<void> {
  const kind = await kindOf(key);
  setKeys({ ...keys.value, [kind]: key }, remember);
}

export function signOut(): void {
  sessionStorage.removeItem(KEPT);
  keys.value = {};
}

/** Forgets one of the two keys. */
export function dropKey(kind: keyof Keys): void {
  const { [kind]: _, ...rest } = keys.value;
  setKeys(rest, sessionStorage.getItem(KEPT) !== null);
}

/** Exchanges the one-time token behind `#` for keys. First removes it from the URL. */
export async function signInFromLink(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return;
  history.replaceState(null, '', location.pathname + location.search);
  try {
    const { key, admin_key } = await anonymous().signInWithToken(token);
    setKeys({ ...(key !== undefined && { agent: key }), ...(admin_key !== undefined && { admin: admin_key }) }, true);
  } catch (error) {
    // A user who has keys already, for example after a reload, does not need the link.
    if (!isSignedIn.value) linkTrouble.value = error;
  }
}

function setKeys(next: Keys, remember: boolean): void {
  keys.value = next;
  if (remember) sessionStorage.setItem(KEPT, JSON.stringify(next));
  else sessionStorage.removeItem(KEPT);
}

/**
 * The kind of a key. The server refuses an admin key as an agent's and the other way round. If the administration has
 * its own port, its routes do not exist on this one.
 */
async function kindOf(key: string): Promise<keyof Keys> {
  const client = clientWith(key);
  try {
    await client?.admin.agents.list();
    return 'admin';
  } catch (error) {
    if (!(error instanceof DragomanError) || !(error.is('forbidden') || error.is('not_found'))) throw error;
  }
  await client?.workflows.limits();
  return 'agent';
}

function clientWith(key: string | undefined): Client | undefined {
  return key === undefined ? undefined : createClient({ url: location.origin, key, fetch: watchedFetch, retry: RETRY });
}

/** A page stays open while a server is down, so its requests are retried for long, with short pauses. */
const RETRY = { mostMs: 2000, giveUpAfterMs: 600_000 } as const;

function anonymous(): Client {
  return createClient({ url: location.origin, fetch: watchedFetch });
}

function kept(): Keys {
  try {
    const { agent, admin } = JSON.parse(sessionStorage.getItem(KEPT) ?? '{}');
    return { ...(typeof agent === 'string' && { agent }), ...(typeof admin === 'string' && { admin }) };
  } catch {
    return {};
  }
}
