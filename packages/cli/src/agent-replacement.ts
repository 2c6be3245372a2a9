import type { AgentDefinition } from '@dragoman/client';
import { asWord } from './as-word.ts';

/**
 * The definition with which `agents add` replaces an agent: the given one and, unless it has a public key, that of the
 * previous one, because a change of permissions must not lock out the agent.
 */
export function replacing(
  before: AgentDefinition | undefined,
  given: AgentDefinition,
  { dropPublicKey }: { dropPublicKey: boolean },
): AgentDefinition {
  if (before?.public_key === undefined || given.public_key !== undefined || dropPublicKey) return given;
  return { ...given, public_key: before.public_key };
}

/** The kept and changed members of a replacement, one per line; none if it changed nothing. */
export function replacementLines(before: AgentDefinition, after: AgentDefinition): string[] {
  const [old, now] = [membersOf(before), membersOf(after)];
  const changes = [...new Set([...old.keys(), ...now.keys()])].flatMap((name) => {
    const [was, is] = [old.get(name), now.get(name)];
    if (was === is) return [];
    if (was === undefined) return [`added    ${name}: ${is}`];
    if (is === undefined) return [`removed  ${name}, which was ${was}`];
    return [`changed  ${name}: ${is}, was ${was}`];
  });
  const key = old.get('public_key');
  const isKept = changes.length > 0 && key !== undefined && key === now.get('public_key');
  return isKept ? ['kept     public_key', ...changes] : changes;
}

/** A warning if a replacement has removed permissions, with the options that keep them. */
export function lostPermissions(before: AgentDefinition | undefined, after: AgentDefinition): string[] {
  const options = Object.entries(PERMISSION_OPTIONS).flatMap(([name, option]) => {
    const [was = [], is = []] = [
      before?.permissions[name as PermissionName],
      after.permissions[name as PermissionName],
    ];
    return is.length > 0 ? [] : was.map((one) => `${option} ${asWord(one)}`);
  });
  return options.length === 0 ? [] : [`  warning: it lost permissions; to keep them, repeat ${options.join(' ')}`];
}

/** Every member as text, by its path: `permissions.agents` → `echo, clock`. */
function membersOf({ agent_id: _, ...definition }: AgentDefinition): Map<string, string> {
  const members = Object.entries(definition).flatMap(([name, value]) => placesIn(name, value));
  // An empty list is left out, because it allows nothing, like a missing list.
  return new Map(members.filter(([, text]) => text !== ''));
}

function placesIn(name: string, value: unknown): (readonly [place: string, text: string])[] {
  // A key has several lines. The end of its last line identifies it.
  if (name === 'public_key') return [[name, `…${String(value).trim().split('\n').at(-2)?.slice(-8)}`]];
  if (Array.isArray(value)) return [[name, value.join(', ')]];
  if (typeof value !== 'object' || value === null) return [[name, String(value)]];
  return Object.entries(value).flatMap(([inner, each]) => placesIn(`${name}.${inner}`, each));
}

type PermissionName = keyof AgentDefinition['permissions'];

const PERMISSION_OPTIONS: Readonly<Record<PermissionName, string>> = {
  agents: '--may-call',
  operations: '--may-run',
  apis: '--may-use-api',
  credentials: '--may-use-credential',
  tools: '--may-use-tool',
  workflows: '--may-run-workflow',
};
