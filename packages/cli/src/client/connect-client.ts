import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type AgentDefinition, DragomanError, type Permissions } from '@dragoman/client';
import { replacementLines } from '../agent-replacement.ts';
import { PROGRAM } from '../command.ts';
import { type ConnectionOptions, connect, findServer, type ServerConnection, talking } from '../connection.ts';
import type { Context, ExitCode } from '../context.ts';
import { fail } from '../trouble.ts';
import { unknownAgentWarnings } from '../unknown-agents.ts';
import { visible } from '../visible.ts';
import { changedLines } from './changed-lines.ts';
import { KNOWN_CLIENTS, type KnownClient, placeIn, type StartedCommand } from './known-clients.ts';
import { snippet, withServer } from './with-server.ts';

export interface ConnectFlags extends ConnectionOptions {
  readonly write?: boolean;
  readonly name: string;
  /** Default: the permissions that the server has for the client, otherwise `NEW_CLIENT`. */
  readonly agents?: string;
  readonly tools?: string;
  readonly workflows?: string;
  readonly operations?: string;
}

/** Shows the settings with which a client uses this server, and writes them with `--write`. */
export async function connectClient(
  options: ConnectFlags & { json: boolean },
  context: Context,
  clientName: string,
): Promise<ExitCode> {
  const client = Object.hasOwn(KNOWN_CLIENTS, clientName) ? KNOWN_CLIENTS[clientName] : undefined;
  if (client === undefined) return unknownClient(clientName);
  const { write = false, name, json } = options;
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) return wrongName(name);
  const place = placeIn(context, process.platform);
  const file = client.file(place);
  const keyFile = join(place.home, '.dragoman', 'keys', `${clientName}.key`);
  const connection = write ? await connect(options, context, 'admin') : undefined;
  const url = connection?.url ?? findServer(options, context).url;
  const entry = client.entry(startedCommand(name, url, keyFile));
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const after = withServer(client, before, name, entry);
  const shown = { client: clientName, file, key_file: keyFile, settings: snippet(client, name, entry) };
  const isChanged = connection !== undefined && after !== undefined;
  if (!json) show(shown, client, context, isChanged ? changedLines(before, after) : undefined);
  if (connection === undefined) {
    if (json) context.terminal.out(`${JSON.stringify({ ...shown, written: false })}\n`);
    else
      context.terminal.note(
        `Nothing was written. To create a key and write these settings: ${PROGRAM} client connect ${clientName} --write\n`,
      );
    return 0;
  }
  if (after === undefined) {
    fail({
      code: 'settings',
      message: `${file} cannot be changed safely: it is not ${client.format.toUpperCase()} of the expected form`,
      fixes: [
        'add the settings above yourself',
        `then create the key: ${await keyCommand(connection, clientName)} > ${keyFile}`,
      ],
    });
  }
  const notes = await makeKey(connection, { clientName, keyFile, client, options });
  const backup = before === '' || before === after ? undefined : `${file}.${stampOf(context.now())}.bak`;
  if (backup !== undefined) copyFileSync(file, backup);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, after);
  if (json) context.terminal.out(`${JSON.stringify({ ...shown, written: true, backup: backup ?? null })}\n`);
  else {
    const wrote = before === after ? '' : `${file}${backup === undefined ? '' : ` (as it was: ${backup})`} and `;
    context.terminal.note(`Wrote ${wrote}${keyFile}.\n`);
    for (const note of notes) context.terminal.note(visible(note));
    context.terminal.note(
      `Restart ${client.title}. To revoke its access: ${PROGRAM} keys list, then ${PROGRAM} keys revoke KEY\n`,
    );
  }
  return 0;
}

/** Shows the change of the file, or the settings for a user who edits the file. */
function show(
  { file, settings }: { file: string; settings: string },
  { title }: KnownClient,
  { terminal }: Context,
  change = settings,
): void {
  terminal.note(`${title}: ${file}\n`);
  terminal.out(change === '' ? 'Settings unchanged.\n' : change);
}

/** The command that starts this program, by absolute paths, because clients have another PATH than a shell. */
function startedCommand(name: string, url: string, keyFile: string): StartedCommand {
  const program = process.argv[1] ?? 'dragoman';
  return { name, command: process.execPath, args: [program, 'mcp', '--server', url, '--key-file', keyFile] };
}

interface KeyOptions {
  readonly clientName: string;
  readonly keyFile: string;
  readonly client: KnownClient;
  readonly options: ConnectFlags;
}

/** The command with which a user creates the key. */
async function keyCommand(connection: ServerConnection, clientName: string): Promise<string> {
  const known = await talking(connection, 'admin', () => agentOf(connection, clientName));
  return known === undefined
    ? `${PROGRAM} agents add ${clientName} --may-call '*' --may-use-tool '*' --may-run-workflow '*'`
    : `${PROGRAM} keys create --agent ${clientName}`;
}

/**
 * Creates a caller and a key for the client. Each client has its own, so that its requests can be distinguished and its
 * key revoked alone. Returns the lines to report.
 */
async function makeKey(
  connection: ServerConnection,
  { clientName, keyFile, client, options }: KeyOptions,
): Promise<string[]> {
  const { admin } = connection.client;
  const { key, notes } = await talking(connection, 'admin', async () => {
    const list = await admin.agents.list();
    const known = list.agents.find(({ agent_id }) => agent_id === clientName);
    const permissions = permissionsOf(options, known?.permissions);
    const warnings = unknownAgentWarnings(permissions.agents ?? [], list);
    if (known === undefined) {
      const { api_key } = await admin.agents.put({ agent_id: clientName, name: client.title, permissions });
      return { key: api_key, notes: warnings };
    }
    const earlier = (await admin.keys.list()).filter((one) => one.agent_id === clientName && one.revoked_at === null);
    const isGiven = PERMISSIONS.some((name) => options[name] !== undefined);
    const now = isGiven ? await admin.agents.put({ ...known, permissions }) : known;
    const { api_key } = await admin.keys.create({ agent_id: clientName, description: client.title });
    const notes = [
      ...warnings,
      `The key belongs to the existing agent ${clientName}, which may use: ${permissionsText(permissions)}.\n`,
      ...replacementLines(known, now).map((line) => `  ${line}\n`),
      ...earlier.map(({ key_id }) => `An earlier key still works. Revoke it with: ${PROGRAM} keys revoke ${key_id}\n`),
    ];
    return { key: api_key, notes };
  });
  mkdirSync(dirname(keyFile), { recursive: true, mode: 0o700 });
  writeFileSync(keyFile, `${key}\n`, { mode: 0o600 });
  return notes;
}

/** The agent, or `undefined` if the server does not know it. */
function agentOf({ client: { admin } }: ServerConnection, agentId: string): Promise<AgentDefinition | undefined> {
  return admin.agents.get(agentId).catch((error: unknown) => {
    if (error instanceof DragomanError && error.is('not_found')) return undefined;
    throw error;
  });
}

/** The given permissions. For those that are not given, the client keeps its previous ones. */
function permissionsOf(options: ConnectFlags, before: Permissions = NEW_CLIENT): Permissions {
  const given = PERMISSIONS.flatMap((name) => {
    const text = options[name];
    return text === undefined ? [] : [[name, listIn(text)] as const];
  });
  return { ...before, ...Object.fromEntries(given) };
}

function permissionsText(permissions: Permissions): string {
  return PERMISSIONS.map((name) => `${name} ${(permissions[name] ?? []).join(', ') || 'none'}`).join('; ');
}

function listIn(text: string): string[] {
  return text.split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim()]));
}

/** A time as part of a file name. */
function stampOf(now: Date): string {
  return now.toISOString().replaceAll(/[:.]/g, '-');
}

function wrongName(name: string): never {
  fail({
    code: 'usage',
    message: `--name must have 1 to 64 letters, digits, "-" or "_"; got ${JSON.stringify(name)}`,
    fixes: ['clients put it before the names of tools, as in mcp__dragoman__ask_echo'],
    exitCode: 2,
  });
}

function unknownClient(name: string): never {
  const known = Object.keys(KNOWN_CLIENTS);
  fail({
    code: 'usage',
    message: `unknown client ${JSON.stringify(name)}; known clients: ${known.join(', ')}`,
    fixes: [`for any other client, configure this command: ${PROGRAM} mcp --server URL --key-file FILE`],
    exitCode: 2,
  });
}

const PERMISSIONS = ['agents', 'tools', 'workflows', 'operations'] as const;
const NEW_CLIENT: Permissions = { agents: ['*'], tools: ['*'], workflows: ['*'], operations: [] };
