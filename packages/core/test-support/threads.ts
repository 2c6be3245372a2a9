/** Every thread a server may start, by the name of the file it looks for beside its own. A new one is a line here. */
export const THREADS = {
  'sqlite-thread': new URL('../src/store/sqlite-thread.ts', import.meta.url),
  worker: new URL('../src/workflow/worker.ts', import.meta.url),
  'embedding-thread': new URL('../src/knowledge/embedding-thread.ts', import.meta.url),
  'signature-thread': new URL('../src/signing/signature-thread.ts', import.meta.url),
} as const;
