import { type ArtifactUpdate, type MessagePart, plainText } from '@dragoman/protocols/lf-a2a';
import type { NumberedEvent } from './tasks.ts';

/**
 * Joins neighbouring pieces of text. Some clients join streamed parts with spaces or line breaks, so fewer pieces read better.
 */
export function merged(events: readonly NumberedEvent[], longest = LONGEST): NumberedEvent[] {
  const result: NumberedEvent[] = [];
  for (const next of events) {
    const last = result.at(-1);
    const joined = last && joinedUpdate(last, next, longest);
    if (joined === undefined) result.push(next);
    else result[result.length - 1] = { id: next.id, event: { artifactUpdate: joined } };
  }
  return result;
}

function joinedUpdate(
  { event: first }: NumberedEvent,
  { event: second }: NumberedEvent,
  longest: number,
): ArtifactUpdate | undefined {
  if (!('artifactUpdate' in first) || !('artifactUpdate' in second)) return undefined;
  const { artifact, lastChunk } = first.artifactUpdate;
  const added = second.artifactUpdate;
  const text = onlyText(artifact.parts);
  const more = onlyText(added.artifact.parts);
  const isSame = artifact.artifactId === added.artifact.artifactId && added.append && !lastChunk;
  if (!isSame || text === undefined || more === undefined || text.length + more.length > longest) return undefined;
  const parts = [{ text: text + more }];
  return { ...first.artifactUpdate, artifact: { ...artifact, parts }, lastChunk: added.lastChunk };
}

function onlyText([part, ...others]: readonly MessagePart[]): string | undefined {
  return part === undefined || others.length > 0 ? undefined : plainText(part);
}

/** The default limit on the characters of one piece. */
const LONGEST = 512;
