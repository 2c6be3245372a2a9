import { textOfResult } from '../e2a/adapters/result-text.ts';
import { respellAcp } from '../e2a/adapters/spelling.ts';
import type { E2AResponse } from '../e2a/response.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { isThought, type PeerArtifact, readPeerEvent } from './read-event.ts';
import type { MessagePart } from './shapes.ts';

/** The changes of a frame to its task. */
export type FrameChange =
  | { readonly text: string }
  /** The current activity of the agent. */
  | { readonly news: MessagePart[] }
  | {
      readonly artifact: string;
      readonly parts: MessagePart[];
      readonly append: boolean;
      /** The artifact is complete. */
      readonly isWhole: boolean;
    };

/**
 * The changes in a frame of any kind: E2A's own kinds, or those that carry ACP and A2A. Reasoning is left out, because
 * A2A has no place for it.
 */
export function changesIn({ response_kind: kind, body, sequence, is_final: isFinal }: E2AResponse): FrameChange[] {
  const ownArtifact = (data: Json): FrameChange => {
    return { artifact: `data-${sequence}`, parts: [{ data }], append: false, isWhole: true };
  };
  switch (kind) {
    case 'e2a.chunk': {
      const { delta_kind: deltaKind, delta = '' } = body;
      if (deltaKind === 'reasoning') return [];
      if (deltaKind === 'text') return textChange(typeof delta === 'string' ? delta : textOfResult(delta));
      return [deltaKind === 'tool' ? { news: [{ data: delta }] } : ownArtifact(delta)];
    }
    case 'acp.session_update':
      return isObject(body['update']) ? acpChanges(respellAcp(body['update'], 'camelCase')) : [];
    case 'a2a.task':
      return a2aChanges({ task: body });
    case 'a2a.message':
      return a2aChanges({ message: body });
    case 'a2a.stream_event': {
      const { branch, payload } = body;
      return typeof branch === 'string' && isObject(payload) ? a2aChanges({ [branch]: payload }) : [];
    }
    case 'ext':
      return [ownArtifact(body)];
    case 'e2a.complete':
    case 'acp.prompt_result':
      return [];
    default:
      return isFinal ? [ownArtifact(body)] : [];
  }
}

function acpChanges(update: JsonObject): FrameChange[] {
  const { sessionUpdate: kind, content } = update;
  if (kind === 'agent_message_chunk') return textChange(isObject(content) ? textOfResult(content['text']) : undefined);
  return kind === 'tool_call' || kind === 'tool_call_update' ? [{ news: [{ data: update }] }] : [];
}

/** Leaves out the ids and states, because the caller's task has its own. */
function a2aChanges(json: JsonObject): FrameChange[] {
  const event = readPeerEvent(json);
  switch (event?.kind) {
    case 'artifact':
      return artifactChange(event.artifact, event.append);
    case 'message':
      return event.isFromAgent ? textChange(event.parts.map(({ text = '' }) => text).join('')) : [];
    case 'status':
      return newsOf(event.status.message?.parts ?? []);
    case 'task':
      return [
        ...event.artifacts.flatMap((artifact) => artifactChange(artifact, false)),
        ...newsOf(event.status.message?.parts ?? []),
      ];
    default:
      return [];
  }
}

function artifactChange({ id, parts }: PeerArtifact, append: boolean): FrameChange[] {
  const shown = parts.filter((part) => !isThought(part));
  return shown.length === 0 ? [] : [{ artifact: `artifact-${id}`, parts: shown, append, isWhole: false }];
}

function newsOf(parts: readonly MessagePart[]): FrameChange[] {
  const shown = parts.filter((part) => !isThought(part));
  return shown.length === 0 ? [] : [{ news: shown }];
}

function textChange(text: string | undefined): FrameChange[] {
  return text === undefined || text === '' ? [] : [{ text }];
}
