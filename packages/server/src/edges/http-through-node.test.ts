// What the edge promises holds however a request was read. Here none counts as plain, so that Node reads them all.
import { vi } from 'vitest';

vi.mock('./plain-request.ts', () => ({
  PlainReader: class {
    read(): undefined {}
  },
}));

// Files share what one of them has loaded: what others loaded has registered its tests with them, and what is loaded here is not
// for them.
vi.resetModules();
await import('./http.test.ts');
await import('./http-stream.test.ts');
await import('./http-abuse.test.ts');
vi.resetModules();
