import { setTimeout as pause } from 'node:timers/promises';

/**
 * Answers a mailbox message: `{"wait_ms"}` in its content waits first, `{"crash"}` comes back with the answer, and
 * `{"report": true}` returns everything the agent received.
 */
export default async function* letters(envelope, call) {
  const { content } = envelope.params;
  if (content.wait_ms !== undefined) await pause(content.wait_ms, undefined, { signal: call.signal });
  if (content.fail === true) throw Object.assign(new Error('out of ink'), { code: 'PEN.EMPTY' });
  if (content.report === true) {
    return { content: { envelope, history: await call.history(), principal: call.principal.id } };
  }
  return { content: typeof content === 'string' ? `You said: ${content}` : { result: content, status: 'success' } };
}
