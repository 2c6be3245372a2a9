import { signal } from '@preact/signals';

/** Whether the last request could not reach the server. */
export const isLost = signal(false);

/** Increases when the server is back, so that pages reload their data. */
export const reconnections = signal(0);

/** A `fetch` that notices a lost connection, and then polls until the server is back. */
export const watchedFetch: typeof fetch = async (input, init) => {
  try {
    const response = await fetch(input, init);
    lastResponse = Date.now();
    if (isLost.value) restored();
    return response;
  } catch (error) {
    if (init?.signal?.aborted !== true) lost();
    throw error;
  }
};

/** Polls `/health` while there are no other requests, so that an idle page also notices a lost connection. */
export function watchConnection(): () => void {
  const beat = setInterval(() => {
    const isQuiet = Date.now() - lastResponse > BEAT_MS;
    if (isQuiet && !document.hidden && !isLost.value) watchedFetch('/health', { cache: 'no-store' }).catch(() => {});
  }, BEAT_MS);
  const onOnline = () => void (isLost.value && askNow());
  addEventListener('online', onOnline);
  return () => {
    clearInterval(beat);
    removeEventListener('online', onOnline);
  };
}

/** Checks whether the server is back, and repeats that until it is. */
export async function askNow(): Promise<void> {
  clearTimeout(timer);
  try {
    const { ok } = await fetch('/health', { cache: 'no-store' });
    if (ok) return restored();
  } catch {
    // The server is still unreachable.
  }
  timer = setTimeout(askNow, EVERY_MS);
}

function lost(): void {
  if (isLost.value) return;
  isLost.value = true;
  timer = setTimeout(askNow, EVERY_MS);
}

function restored(): void {
  clearTimeout(timer);
  if (!isLost.value) return;
  isLost.value = false;
  reconnections.value++;
}

let timer: ReturnType<typeof setTimeout> | undefined;
let lastResponse = Date.now();
const EVERY_MS = 1500;
const BEAT_MS = 5000;
