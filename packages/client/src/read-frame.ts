import { DATA_LIMITS, decodeResponse, type E2AResponse, parseJson } from '@dragoman/protocols';
import { DragomanError } from './dragoman-error.ts';

/** Reads a frame from JSON. Unknown values, which a newer server may send, are kept for the reader. */
export function readFrame(text: string): E2AResponse {
  const json = parseJson(text, DATA_LIMITS);
  const frame = json.ok ? decodeResponse(json.value, { lenient: true }) : json;
  if (frame.ok) return frame.value;
  throw new DragomanError({
    code: 'bad_frame',
    message: `The server sent an invalid E2A response: ${frame.issues[0]?.message ?? 'unknown reason'}.`,
    issues: frame.issues,
    suggestions: ['check that client and server are of the same major version'],
  });
}
