/** All threads, by the names of their built files. A new thread adds one line here. */
export const THREADS = {
  'sqlite-thread': new URL('../store/sqlite-thread.ts', import.meta.url),
  worker: new URL('../workflow/worker.ts', import.meta.url),
  'embedding-thread': new URL('../knowledge/embedding-thread.ts', import.meta.url),
  'json-thread': new URL('./json-thread.ts', import.meta.url),
  'signature-thread': new URL('../signing/signature-thread.ts', import.meta.url),
} as const;
