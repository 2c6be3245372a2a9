import { setTimeout as pause } from 'node:timers/promises';

/**
 * Echoes `params.content`, a word a frame, `params.pause_ms` apart. `params.crash` names a moment of its answer, and a
 * life of the server: there it ends the server it runs in, or writes what makes the store's thread end it. Not in the next
 * life, where the same request arrives again: an idempotent agent may be called before the request is known to be a repeat.
 */
export default async function* load({ params }) {
  const { content, pause_ms = 0, crash } = params;
  const words = content.split(' ');
  const deadly = crash?.life === process.env['DRAGOMAN_TEST_LIFE'] ? crash?.at : undefined;
  for (const [index, word] of words.entries()) {
    if (deadly === 'first frame' && index === 0) die();
    if (deadly === 'middle' && index === words.length >> 1) die();
    if (crash?.at === 'frame' && index === words.length >> 1) yield `crash:${crash.moment}:${crash.life}`;
    yield word;
    if (pause_ms > 0) await pause(pause_ms);
  }
  if (deadly === 'return') die();
  return { echoed: content, ...(crash?.at === 'final' && { crash: `crash:${crash.moment}:${crash.life}` }) };
}

function die() {
  process.kill(process.pid, 'SIGKILL');
  // The signal needs a moment to arrive; nothing more must happen until it does.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
}
