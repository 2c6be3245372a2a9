import { setTimeout as pause } from 'node:timers/promises';

/** `params.frames` frames of `params.bytes` bytes each, `params.pause_ms` apart. */
export default async function* flood({ params }) {
  for (let number = 0; number < params.frames; number += 1) {
    yield `${number} `.padEnd(params.bytes, 'x');
    await pause(params.pause_ms);
  }
  return { frames: params.frames };
}
