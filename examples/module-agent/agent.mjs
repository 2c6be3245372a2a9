// An agent as a function: what it yields is sent at once, what it returns is the result, what it throws the error.
import { setTimeout as pause } from 'node:timers/promises';

export default async function* poet({ params }, call) {
  const subject = String(params.content ?? '').trim();
  if (subject === '') throw Object.assign(new Error('A poem about what?'), { code: 'POET.NO_SUBJECT' });
  const earlier = await call.history();
  const lines = [`O ${subject}, `, `my ${subject}, `, `a ${subject} `, `you are.`];
  for (const line of lines) {
    yield line;
    await pause(20, undefined, { signal: call.signal });
  }
  return { lines: lines.length, poems_before: earlier.filter(({ role }) => role === 'agent').length };
}
