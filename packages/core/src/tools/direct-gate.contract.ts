import { abortSignalOf } from '../ending/ending.ts';
import type { Gate, OutboundRequest } from '../gate/gate.ts';

/** A gate for tests: sends each request straight to its host, without checks. */
export function directGate(seen: OutboundRequest[] = []): Gate {
  return {
    check: async () => undefined,
    async request(request) {
      seen.push(request);
      const url = new URL(request.url);
      for (const [name, value] of request.query ?? []) url.searchParams.append(name, String(value));
      const { body } = request;
      const answer = await fetch(url, {
        method: request.method,
        headers: Object.entries(request.headers ?? {}).map(
          ([name, value]) => [name, String(value)] as [string, string],
        ),
        redirect: 'manual',
        ...(body !== undefined && { body: 'bytes' in body ? Buffer.from(body.bytes) : JSON.stringify(body.json) }),
        ...(request.signal && { signal: abortSignalOf(request.signal) }),
      });
      return {
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        body: (answer.body ??
          new ReadableStream({ start: (controller) => controller.close() })) as unknown as AsyncIterable<Uint8Array>,
      };
    },
  };
}
