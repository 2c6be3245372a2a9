// A server in its own process, to be killed: `serve.ts FOLDER` prints its url.
import { start } from './start.ts';

const server = await start(process.argv[2] ?? '', { store: 'sqlite' });
process.stdout.write(`${server.url}\n`);
