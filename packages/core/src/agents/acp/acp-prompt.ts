import { type E2AEnvelope, isObject, type Json, type JsonObject, respellAcp } from '@dragoman/protocols';
import { validAcpBlock } from '@dragoman/protocols/acp';

/** The content beside text and links that an agent accepts in a prompt, as it declared in initialize. */
export interface PromptCapabilities {
  readonly image?: boolean;
  readonly audio?: boolean;
  readonly embeddedContext?: boolean;
}

/** The content blocks of a prompt, in the forms that the agent accepts. */
export function acpPromptOf({ params }: E2AEnvelope, can: PromptCapabilities): JsonObject[] {
  const given = [params['prompt'], params['content_blocks']].find(Array.isArray) ?? [];
  const blocks = given.flatMap((block) => (isObject(block) ? blockOf(respellAcp(block, 'camelCase'), can) : []));
  const prompt = blocks.length > 0 ? blocks : [{ type: 'text', text: textOf(params) }];
  const links = blocks.length > 0 ? [] : filesOf(params['files'] ?? params['attachments']);
  return [...prompt, ...links];
}

function blockOf(given: JsonObject, can: PromptCapabilities): JsonObject[] {
  const block = validAcpBlock(given);
  if (block === undefined) return [];
  const { type, mimeType, resource } = block;
  if ((type === 'image' && can.image !== true) || (type === 'audio' && can.audio !== true)) {
    return [{ type: 'text', text: `[${type} ${String(mimeType)} left out: this agent does not support it]` }];
  }
  if (type !== 'resource' || can.embeddedContext === true || !isObject(resource)) return [block];
  const { uri, text } = resource;
  return typeof text === 'string'
    ? [{ type: 'text', text: `${String(uri)}\n${text}` }]
    : [{ type: 'resource_link', uri: String(uri), name: String(uri) }];
}

/** The text of a request without blocks, or all of its params. */
function textOf(params: JsonObject): string {
  const text = ['text', 'content', 'query'].map((name) => params[name]).find((value) => typeof value === 'string');
  return typeof text === 'string' ? text : JSON.stringify(params);
}

function filesOf(files: Json | undefined): JsonObject[] {
  if (!Array.isArray(files)) return [];
  return files.flatMap((file) => {
    if (!isObject(file) || typeof file['uri'] !== 'string') return [];
    const { uri, name, mime_type: mimeType } = file;
    const link = { type: 'resource_link', uri, name: typeof name === 'string' ? name : uri };
    return [typeof mimeType === 'string' ? { ...link, mimeType } : link];
  });
}
