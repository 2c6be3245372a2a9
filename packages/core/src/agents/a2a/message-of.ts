import { type E2AEnvelope, isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { filePart, type MessagePart, readParts } from '@dragoman/protocols/lf-a2a';

/**
 * The content of a request as the parts of an A2A message. A message received over A2A is passed on unchanged; other
 * protocols provide text, ACP content blocks, files and data. The parameters of a method that is not a prompt are sent
 * as data, with its name.
 */
export function partsOf(envelope: E2AEnvelope): MessagePart[] {
  const { params, provenance } = envelope;
  const { message } = params;
  if (provenance.source_protocol === 'a2a' && isObject(message)) {
    const parts = readParts(message);
    if (parts.length > 0) return parts;
  }
  const isPrompt = envelope.method === null || PROMPTS.has(envelope.method);
  const parts = [...promptParts(params), ...filesIn(params), ...dataIn(params)];
  if (isPrompt && parts.length > 0) return parts;
  const method = envelope.method === 'ext' ? envelope.ext_method : envelope.method;
  return [...parts, { data: { method, params } }];
}

/** E2A §7: content blocks, else the first text. */
function promptParts(params: JsonObject): MessagePart[] {
  for (const name of ['content_blocks', 'prompt', 'content']) {
    const blocks = params[name];
    const parts = Array.isArray(blocks) ? blocks.flatMap((block) => (isObject(block) ? blockPart(block) : [])) : [];
    if (parts.length > 0) return parts;
  }
  const text = ['text', 'content', 'query', 'prompt', 'message'].map((name) => params[name]).find(isText);
  if (text !== undefined) return [{ text }];
  const { content } = params;
  return isObject(content) ? [{ data: content }] : [];
}

function blockPart(block: JsonObject): MessagePart[] {
  const { type, text, data, uri, name } = block;
  const mediaType = mimeOf(block);
  if (type === 'text' && isText(text)) return [{ text }];
  if ((type === 'image' || type === 'audio') && isText(data)) return [{ raw: data, ...mediaType }];
  if (type === 'resource_link' && isText(uri))
    return [{ url: uri, ...(isText(name) && { filename: name }), ...mediaType }];
  const { resource } = block;
  if (type !== 'resource' || !isObject(resource)) return [];
  const about = { ...(isText(resource['uri']) && { filename: lastSegment(resource['uri']) }), ...mimeOf(resource) };
  if (isText(resource['blob'])) return [{ raw: resource['blob'], ...about }];
  return isText(resource['text']) ? [{ text: resource['text'], ...about }] : [];
}

/** E2A §5: attachments. The bytes of a `data:` URL are sent; any other URL is passed on unchanged, and nothing is fetched. */
function filesIn(params: JsonObject): MessagePart[] {
  const files = [params['files'], params['attachments']].flatMap((list) => (Array.isArray(list) ? list : []));
  return files.flatMap((file) => filePart(file) ?? []);
}

function dataIn({ data }: JsonObject): MessagePart[] {
  if (data === undefined || data === null) return [];
  return (Array.isArray(data) ? data : [data]).map((one) => ({ data: one }));
}

function mimeOf(holder: JsonObject): { mediaType?: string } {
  const mime = holder['mime_type'] ?? holder['mimeType'];
  return isText(mime) ? { mediaType: mime } : {};
}

function lastSegment(uri: string): string {
  return uri.slice(uri.lastIndexOf('/') + 1) || uri;
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

const PROMPTS: ReadonlySet<string> = new Set(['chat.send', 'session/prompt']);
