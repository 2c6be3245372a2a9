import type { AgentDefinition } from '@dragoman/client';
import { asWord } from './as-word.ts';

/**
 * What `agents add` puts in the place of an agent: all that was given and, unless it was given too, the public key of
 * before: changing an agent's permissions must not lock it out.
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

/** A warning, with the options that keep them, where a replacement has removed permissions. */
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

/** Every member by its place, as text: `permissions.agents` → `echo, clock`. */
function membersOf({ agent_id: _, ...definition }: AgentDefinition): Map<string, string> {
  const members = Object.entries(definition).flatMap(([name, value]) => placesIn(name, value));
  // An empty list allows nothing, as no list does.
  return new Map(members.filter(([, text]) => text !== ''));
}

function placesIn(name: string, value: unknown): (readonly [place: string, text: string])[] {
  // A key has several lines; its end identifies it.
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
