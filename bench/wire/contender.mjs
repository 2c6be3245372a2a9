// One contender: a client in its own process, with whatever it calls. It receives how many calls
// to make at once and for how long, and reports the result. It runs what is published, ours and the SDK's alike.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { connectWire, streamWire } from '../../packages/client/dist/node/wire.js';
import { cpuOfTree } from './cpu-of-tree.mjs';
import { RawPeer } from './raw-peer.mjs';

const [name, config] = process.argv.slice(2);
const DRAGOMAN = fileURLToPath(new URL('../../packages/cli/bin/dragoman.js', import.meta.url));
const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(4);
const ARGUMENTS = { message: TEXT };
const MCP_SERVER = fileOf('mcp-server.mjs');

/** By name: starts what it calls, and gives a call of it. */
const CONTENDERS = {
  'bare NDJSON echo': () => {
    const peer = new RawPeer(start([fileOf('echo.mjs')]));
    return () => peer.ask(wireRequest());
  },
  'wire, bare client': async () => {
    const peer = new RawPeer(start([DRAGOMAN, 'wire', '--config', config]));
    await peer.ask({ a2e: '1.0', type: 'handshake/req', id: 'hello', ts: 1 });
    return () => peer.ask(wireRequest());
  },
  'wire, our client': async () => {
    const wire = await openWire();
    return () => wire.call('echo', ARGUMENTS);
  },
  'MCP SDK': async () => {
    const client = new Client({ name: 'bench', version: '1.0.0' });
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [MCP_SERVER], stderr: 'inherit' }),
    );
    return () => client.callTool({ name: 'echo', arguments: ARGUMENTS });
  },
  'MCP server through the wire': async () => {
    const wire = await openWire();
    return () => wire.call('sdk__echo', ARGUMENTS);
  },
  'MCP server, bare relay': async () => {
    const peer = new RawPeer(start([fileOf('relay.mjs'), process.execPath, MCP_SERVER]));
    const clientInfo = { name: 'bench', version: '1.0.0' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    await peer.ask({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params });
    peer.tell({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return () => peer.ask(mcpRequest());
  },
};

const call = await CONTENDERS[name]();
process.on('message', async ({ parallel, milliseconds }) => process.send(await slice(parallel, milliseconds)));
// What was started ends with its standard input.
process.on('disconnect', () => process.exit());
process.send('ready');

async function slice(parallel, milliseconds) {
  const startedAt = performance.now();
  const cpu = cpuOfTree();
  let calls = 0;
  const work = async () => {
    while (performance.now() - startedAt < milliseconds) {
      await call();
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return { calls, milliseconds: performance.now() - startedAt, cpuMicroseconds: cpuOfTree() - cpu };
}

async function openWire() {
  const { stdout, stdin } = start([DRAGOMAN, 'wire', '--config', config]);
  const wire = await connectWire({ transport: streamWire({ input: stdout, output: stdin }) });
  await wire.tools();
  return wire;
}

function start(args) {
  return spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
}

let requests = 0;
function wireRequest() {
  const id = `r${++requests}`;
  return { a2e: '1.0', type: 'tool/call/req', id, ts: 1, tool_name: 'echo', arguments: ARGUMENTS };
}

function mcpRequest() {
  const params = { name: 'echo', arguments: ARGUMENTS };
  return { jsonrpc: '2.0', id: `m${++requests}`, method: 'tools/call', params };
}

function fileOf(file) {
  return fileURLToPath(new URL(file, import.meta.url));
}
