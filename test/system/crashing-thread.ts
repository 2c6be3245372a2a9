import { workerData } from 'node:worker_threads';

// In place of the store's thread in servers that are killed: the same thread, with a SQLite that dies on demand.
const url = new URL('./crashing-engine.js', import.meta.url).href;
Object.assign(workerData, { engine: { url, data: process.env['DRAGOMAN_CRASH'] ?? '' } });
await import('../../packages/core/src/store/sqlite-thread.ts');
