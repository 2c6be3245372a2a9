// The whole public surface, by name.

export { parseConfig, readConfig } from './config.ts';
export { type Config, ConfigShape } from './config-schema.ts';
export type { LineOutput } from './edges/ndjson-lines.ts';
export { serveStdio } from './edges/stdio.ts';
export type { Reloaded, ReloadOptions } from './reload.ts';
export { Server, type ServerOptions, startServer } from './server.ts';
export { jsonLog, systemClock, systemIds } from './system-ports.ts';
export { VERSION } from './version.ts';
export type { Wire } from './wire.ts';
export type { ConfigIssue } from './yaml-issues.ts';
export { parseYaml } from './yaml-text.ts';
