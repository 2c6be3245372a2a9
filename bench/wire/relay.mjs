// The least that a process between a client and an MCP server can do: it starts the given server and forwards bytes.
import { spawn } from 'node:child_process';

const [command, ...args] = process.argv.slice(2);
const { stdin, stdout } = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.pipe(stdin);
stdout.pipe(process.stdout);
