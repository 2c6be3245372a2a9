import { respellAcp } from '../e2a/adapters/spelling.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';

/** The params of an envelope that is an ACP prompt: the blocks as received, in E2A's spelling, and as plain text. */
export function acpPromptParams(prompt: readonly Json[]): JsonObject {
  const blocks = prompt.filter(isObject);
  const text = blocks.flatMap(textIn).join('\n\n');
  const files = blocks.flatMap(fileIn);
  return {
    prompt: [...blocks],
    content_blocks: blocks.map((block) => respellAcp(block, 'snake_case')),
    text,
    // The member that chat agents read.
    content: text,
    ...(files.length > 0 && { files }),
  };
}

/** The text of a text block, or of an embedded resource below its URI. */
function textIn({ type, text, resource }: JsonObject): string[] {
  if (type === 'text' && typeof text === 'string') return [text];
  if (type !== 'resource' || !isObject(resource) || typeof resource['text'] !== 'string') return [];
  const { uri } = resource;
  return [typeof uri === 'string' ? `${uri}\n${resource['text']}` : resource['text']];
}

/** Attachments as E2A file references. */
function fileIn(block: JsonObject): JsonObject[] {
  const { type, uri, name, mimeType, size, resource } = block;
  if (type === 'resource_link' && typeof uri === 'string') {
    return [
      {
        uri,
        ...(typeof name === 'string' && { name }),
        ...(typeof mimeType === 'string' && { mime_type: mimeType }),
        ...(typeof size === 'number' && { size }),
      },
    ];
  }
  if (type !== 'resource' || !isObject(resource) || typeof resource['blob'] !== 'string') return [];
  const { blob, mimeType: mime, uri: address } = resource;
  const kind = typeof mime === 'string' ? mime : 'application/octet-stream';
  return [
    {
      uri: `data:${kind};base64,${blob}`,
      mime_type: kind,
      ...(typeof address === 'string' && { name: address.split('/').at(-1) ?? address }),
    },
  ];
}

/** The user's message, from the params of any request, as blocks for ACP clients. */
export function userBlocksOf(params: JsonObject): JsonObject[] {
  const { prompt, text, content, query } = params;
  if (Array.isArray(prompt)) {
    const shown = prompt.flatMap((block) => (isObject(block) ? textIn(block) : []));
    if (shown.length > 0) return shown.map((text) => ({ type: 'text', text }));
  }
  const words = [text, content, query].find((value) => typeof value === 'string' && value !== '');
  return typeof words === 'string' ? [{ type: 'text', text: words }] : [];
}
