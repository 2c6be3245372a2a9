// A Dragoman server of an example's own: on a free port, with a data folder that goes when the example ends.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createClient } from '@dragoman/client';

const program = fileURLToPath(new URL('../../packages/cli/bin/dragoman.js', import.meta.url));

/** `folder` is where paths in `config` begin: the example's own. */
export async function startDragoman({ folder, config }) {
  const data = mkdtempSync(join(tmpdir(), 'dragoman-example-'));
  const adminKey = randomBytes(24).toString('base64url');
  // JSON is YAML too. Beside the data, so that nothing is left in the example.
  const file = join(data, 'dragoman.yaml');
  writeFileSync(file, JSON.stringify(withPaths(config, folder)));
  let child;
  let place;
  const start = async () => {
    child = spawn(process.execPath, [program, 'serve', '--json', '--port', '0', '--config', file, '--data', data], {
      env: { ...process.env, DRAGOMAN_ADMIN_KEY: adminKey },
      // Its log goes to stderr: `inherit` shows it.
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    place = JSON.parse(line);
  };
  await start();
  return {
    get url() {
      return place.url;
    },
    /** Where plain NDJSON is spoken, if the configuration has `wire`. */
    get wire() {
      return place.wire;
    },
    /** Administration, with the operator's key. */
    get admin() {
      return createClient({ url: place.url, key: adminKey }).admin;
    },
    /** Makes an agent, and gives back a client that speaks with its key. */
    async as(definition) {
      const { api_key: key } = await this.admin.agents.put(definition);
      return Object.assign(createClient({ url: place.url, key }), { key });
    },
    /** As a power cut would, and on again. */
    async killAndStart() {
      child.kill('SIGKILL');
      await once(child, 'close');
      await start();
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await once(child, 'close');
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** Files that the configuration names, found from the example. */
function withPaths(config, folder) {
  const absolute = (path) => fileURLToPath(new URL(path, folder));
  const agents = Object.entries(config.agents ?? {}).map(([id, agent]) => [
    id,
    agent.module === undefined ? agent : { ...agent, module: absolute(agent.module) },
  ]);
  const tools = config.tools?.map((tool) => (typeof tool === 'string' ? absolute(tool) : tool));
  return { ...config, agents: Object.fromEntries(agents), ...(tools && { tools }) };
}
