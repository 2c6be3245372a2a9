// The whole public surface, by name.

export { parseConfig, readConfig } from './config/config.ts';
export { type Config, ConfigShape } from './config/config-schema.ts';
export type { ConfigIssue } from './config/yaml-issues.ts';
export { parseYaml } from './config/yaml-text.ts';
export type { LineOutput } from './edges/ndjson-lines.ts';
export { serveStdio } from './edges/stdio.ts';
export type { ServerOptions } from './parts/server-options.ts';
export { jsonLog, systemClock, systemIds } from './parts/system-ports.ts';
export type { WirePart } from './parts/wire.ts';
export type { Reloaded, ReloadOptions } from './reload/reload.ts';
export { Server, startServer } from './server.ts';
export { VERSION } from './version.ts';
