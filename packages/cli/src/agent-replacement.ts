import type { AgentDefinition } from '@dragoman/client';

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

/** The kept and changed members of a replacement, one per line. */
export function replacementLines(before: AgentDefinition, after: AgentDefinition): string[] {
  const [old, now] = [membersOf(before), membersOf(after)];
  const lines = [...new Set([...old.keys(), ...now.keys()])].flatMap((name) => {
    const [was, is] = [old.get(name), now.get(name)];
    if (name === 'public_key' && was !== undefined && was === is) return ['kept     public_key'];
    if (was === is) return [];
    if (was === undefined) return [`added    ${name}: ${is}`];
    if (is === undefined) return [`removed  ${name}, which was ${was}`];
    return [`changed  ${name}: ${is}, was ${was}`];
  });
  return lines.length === 0 ? ['nothing changed'] : lines;
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
