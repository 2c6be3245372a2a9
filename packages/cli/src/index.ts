// The whole public surface, by name.

export type { ExitCode } from './context.ts';
export { main } from './main.ts';
export { processSurroundings, type Surroundings } from './surroundings.ts';
export type { Terminal } from './terminal.ts';
