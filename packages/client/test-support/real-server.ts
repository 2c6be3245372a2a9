import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { builtProgram } from '../../core/test-support/built-program.ts';
import type { Server } from '../../server/src/index.ts';
import { type Client, type ClientOptions, createClient } from '../src/client.ts';
import { ADMIN_KEY, type StartOptions, start } from './start.ts';

/** A real server, a caller that may do everything, and clients for its key and the admin's. */
export interface RealServer {
  readonly server: Server;
  readonly url: string;
  readonly folder: string;
  readonly key: string;
  readonly client: Client;
  readonly admin: Client;
}

export async function realServer(options: StartOptions = {}): Promise<RealServer> {
  const folder = await temporaryFolder();
  const server = await startAt(folder, options);
  const { url } = server;
  const key = await callerAt(url);
  return { server, url, folder, key, admin: adminAt(url), client: impatient({ url, key }) };
}

/** A server in a folder that another may have used before. */
export async function startAt(folder: string, options: StartOptions = {}): Promise<Server> {
  const server = await start(folder, options);
  onTestFinished(() => server.stop({ drainMs: 0 }));
  return server;
}

/** The same in its own process, which can be killed. */
export async function spawnAt(folder: string): Promise<{ url: string; kill(): Promise<void> }> {
  const script = builtProgram(new URL('serve.ts', import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [script, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(kill);
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  return { url: line.toString().trim(), kill };
}

export function adminAt(url: string): Client {
  return createClient({ url, key: ADMIN_KEY });
}

/** Makes the caller and gives its key. */
export async function callerAt(url: string): Promise<string> {
  const limits = { requests_per_minute: 1e6, requests_per_hour: 1e6, requests_per_day: 1e6 };
  const permissions = { agents: ['*'], operations: ['*'] };
  const { api_key: key = '' } = await adminAt(url).admin.agents.put({ agent_id: 'caller', permissions, limits });
  return key;
}

/** A client with short pauses for tests. */
export function impatient(options: ClientOptions): Client {
  return createClient({ ...options, retry: { firstMs: 2, mostMs: 20, giveUpAfterMs: 5_000, ...options.retry } });
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'dragoman-client-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
