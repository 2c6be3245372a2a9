import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

// Programs of others are installed for a test file, into its own folder: what an earlier installation left broken does not count.

const execute = promisify(execFile);

/** Why peers are not run that this tool installs or runs; nothing when they are. */
export function whyNotRun(peers: string, tool: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const isThere = folders.some((folder) => existsSync(join(folder, tool)));
  const why = isPeersOn ? (isThere ? undefined : `there is no ${tool} in PATH`) : 'DRAGOMAN_PEERS is not 1';
  if (why !== undefined) console.warn(`${peers} NOT RUN: ${why}`);
  return why;
}

/** Installs npm packages, and gives the folder that has them. */
export async function installFromNpm(home: string, packages: readonly string[]): Promise<string> {
  const flags = ['--prefix', home, '--no-audit', '--no-fund', '--engine-strict=false', '--loglevel=error'];
  await execute('npm', ['install', ...flags, ...packages], { timeout: INSTALL_MS });
  return join(home, 'node_modules');
}

/** Installs packages into an environment of their own, and gives its Python. */
export async function installFromPyPI(home: string, packages: readonly string[]): Promise<string> {
  await execute('python3', ['-m', 'venv', home], { timeout: INSTALL_MS });
  const python = join(home, 'bin', 'python');
  await execute(python, ['-m', 'pip', 'install', '--quiet', '--no-compile', ...packages], { timeout: INSTALL_MS });
  return python;
}

/** Builds Go programs, and gives the folder that has them. */
export async function installWithGo(home: string, packages: readonly string[]): Promise<string> {
  const env = { ...process.env, GOBIN: join(home, 'bin') };
  await execute('go', ['install', ...packages], { env, timeout: INSTALL_MS });
  return env.GOBIN;
}

const isPeersOn = process.env['DRAGOMAN_PEERS'] === '1';
const NODE_22_PACKAGE = `node-${process.platform}-${process.arch}`;
/** A Node for programs that the Node of this project is too old for. */
export const NODE_22 = `${NODE_22_PACKAGE}@22.23.3`;
export const node22In = (modules: string) => join(modules, NODE_22_PACKAGE, 'bin', 'node');
export const INSTALL_MS = 240_000;
