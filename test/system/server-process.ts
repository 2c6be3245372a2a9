import { readFileSync, rmSync } from 'node:fs';
import type { Clock } from '../../packages/core/src/ports/ports.ts';
import { jsonLog, readConfig, startServer, systemClock, systemIds } from '../../packages/server/src/index.ts';

/**
 * The server in its own process, for tests that kill it: `server-process.ts CONFIG FOLDER`, admin key in the
 * environment. The first line on stdout is where it listens; the log is JSON on stderr. SIGTERM stops it as an operator
 * would.
 */
async function main(configPath: string, folder: string, adminKey: string): Promise<void> {
  const config = readConfig(configPath);
  if (!config.ok) throw new Error(config.issues.map(({ message }) => message).join('\n'));
  const server = await startServer({
    config: config.value,
    folder,
    clock: clockSetBy(process.env['DRAGOMAN_TEST_CLOCK']),
    ids: systemIds,
    log: jsonLog('debug'),
    adminKey,
    ...(process.env['DRAGOMAN_VAULT_KEY'] !== undefined && { vaultKey: process.env['DRAGOMAN_VAULT_KEY'] }),
    ...(process.env['DRAGOMAN_VAULT_KEY_NEXT'] !== undefined && {
      nextVaultKey: process.env['DRAGOMAN_VAULT_KEY_NEXT'],
    }),
    onFatal: () => process.exit(70),
  });
  process.once('SIGTERM', () => {
    const drainMs = Number(process.env['DRAGOMAN_TEST_DRAIN_MS'] ?? 10_000);
    server.stop({ drainMs }).then(() => process.exit(0));
  });
  const { url, messages, wire } = server;
  const signIn = server.signInPath({ admin_key: adminKey });
  const places = { url, messages: messages.url, wire: wire.url, ...(signIn !== undefined && { signIn }) };
  process.stdout.write(`${JSON.stringify({ event: 'listening', ...places })}\n`);
}

/** The real clock, offset by the milliseconds in a file, which is read at each request for the time. */
function clockSetBy(file: string | undefined): Clock {
  if (file === undefined) return systemClock;
  return { ...systemClock, now: () => new Date(Date.now() + Number(readFileSync(file, 'utf8'))) };
}

// A test run that is killed cannot clean up behind itself. Its servers see their stdin end, and do it for it.
process.stdin.resume().once('end', () => {
  rmSync(process.env['DRAGOMAN_TEST_FOLDER'] ?? '', { recursive: true, force: true });
  process.kill(process.pid, 'SIGKILL');
});

await main(process.argv[2] ?? '', process.argv[3] ?? '', process.env['DRAGOMAN_ADMIN_KEY'] ?? '');
