import { DragomanError } from '@dragoman/client';
import type { WireClient } from '@dragoman/client/wire';
import { isObject, nearest } from '@dragoman/protocols';
import type { ToolDefinition, ToolResult, WireMessage } from '@dragoman/protocols/a2e-wire';
import type { Command } from 'commander';
import { asWord } from '../as-word.ts';
import { each, newCommand, PROGRAM, runs } from '../command.ts';
import {
  type ConnectionOptions,
  connect,
  ELSEWHERE,
  findServer,
  isHere,
  talking,
  withConnectionOptions,
} from '../connection.ts';
import type { Context } from '../context.ts';
import { duration, inWords } from '../duration.ts';
import { DEFAULT_CONFIG } from '../environment.ts';
import { objectOption } from '../input.ts';
import { table } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { fail } from '../trouble.ts';
import { visible } from '../visible.ts';

export function toolsCommand(context: Context): Command {
  return newCommand(context, {
    name: 'tools',
    summary: 'list and call tools, locally or on a server',
    examples: [`${PROGRAM} tools list`, `${PROGRAM} tools call add --args '{"a":1,"b":2}' --url http://127.0.0.1:7420`],
  })
    .addCommand(listCommand(context))
    .addCommand(callCommand(context))
    .addCommand(acceptCommand(context));
}

interface ToolsOptions extends ConnectionOptions {
  readonly config?: string;
}

interface ListOptions {
  readonly query?: string;
  readonly tag?: readonly string[];
  readonly deferred?: boolean;
}

function listCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'tools list',
    summary: 'list the tools this key may use',
    examples: [`${PROGRAM} tools list`, `${PROGRAM} tools list --query file --config dragoman.yaml`],
  })
    .option('--query <text>', 'text to find in names, descriptions and tags')
    .option('--tag <tag>', 'only tools with this tag; may be repeated', each)
    .option('--deferred', 'include deferred tools, which are otherwise only found by search');
  withToolsOptions(command);
  return runs<ToolsOptions & ListOptions>(command, context, async (options) => {
    const { query = '', tag = [], deferred = false } = options;
    const filter = { query, filter_tags: [...tag], include_deferred: deferred };
    const tools = await withWire(options, context, (wire) => wire.tools(filter));
    context.terminal.out(options.json ? `${JSON.stringify({ tools })}\n` : toolTable(tools, context.terminal));
    const isFiltered = query !== '' || tag.length > 0;
    const none = isFiltered ? 'none: no tool matches' : whyNone(options, context);
    if (tools.length === 0 && !options.json) context.terminal.note(`${none}\n`);
    return 0;
  });
}

function callCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'tools call',
    summary: 'call a tool and show its result; Ctrl-C cancels it',
    examples: [
      `${PROGRAM} tools call add --args '{"a":1,"b":2}'`,
      `${PROGRAM} tools call add --args - < arguments.json`,
    ],
  })
    .argument('<name>', 'the tool')
    .option('--args <json>', 'its arguments, a JSON object; - reads them from stdin (default: {})')
    .option(
      '--timeout <time>',
      'the timeout: seconds, or a time such as 500ms or 5m (default: 30)',
      duration({ fromMs: 1, toMs: TEN_MINUTES_MS }),
    );
  withToolsOptions(command);
  return runs<ToolsOptions & { args?: string; timeout?: number }>(command, context, async (options, [name = '']) => {
    const { terminal, onSignal } = context;
    const args = await objectOption('--args', options.args, context);
    const { timeout = 30_000 } = options;
    const stop = new AbortController();
    const forget = onSignal(() => stop.abort(new DragomanError({ code: 'cancelled', message: 'cancelled' })));
    try {
      const result = await withWire(options, context, (wire) =>
        wire
          .call(name, args, {
            signal: stop.signal,
            timeoutMs: timeout,
            onEvent: (event) => terminal.note(options.json ? `${JSON.stringify(event)}\n` : `${lineOf(event)}\n`),
          })
          .catch((error: unknown) => uncalled(error, { ...options, timeout }, context)),
      );
      if (options.json) terminal.out(`${JSON.stringify(result)}\n`);
      else if (result.success || result.data !== null) terminal.out(resultText(result));
      if (!options.json && result.truncated === true) terminal.note('the result is longer than this, and was cut\n');
      if (!options.json && !result.success) terminal.note(`${failureText(name, result)}\n`);
      return result.success ? 0 : 1;
    } finally {
      forget();
    }
  });
}

function acceptCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'tools accept',
    summary:
      'accept a tool whose definition its MCP server has changed; until then the tool is blocked (needs the admin key)',
    examples: [
      `${PROGRAM} tools accept files__read_file`,
      `${PROGRAM} tools accept files__read_file --config dragoman.yaml --data FOLDER`,
    ],
  }).argument('<name>', 'the tool');
  withConnectionOptions(command, 'admin');
  command.option(
    '--config <file>',
    `accept the tool for \`${PROGRAM} wire\`, not on a server: give the same --config and --data as that command`,
  );
  return runs<ToolsOptions>(command, context, async (options, [name = '']) => {
    const accepted = await (options.config === undefined
      ? acceptOnServer(name, options, context)
      : acceptInFolder(name, options.config, options.data, context));
    context.terminal.out(options.json ? `${JSON.stringify(accepted)}\n` : `accepted ${name}\n`);
    return 0;
  });
}

interface Accepted {
  readonly name: string;
  readonly accepted: boolean;
}

async function acceptOnServer(name: string, options: ToolsOptions, context: Context): Promise<Accepted> {
  const connection = await connect(options, context, 'admin');
  const { tools } = connection.client.admin;
  return talking(connection, 'admin', () =>
    tools.accept(name).catch(async (error: unknown) => {
      if (!(error instanceof DragomanError) || !error.is('not_found')) throw error;
      return notHeld(name, (await tools.list()).held);
    }),
  );
}

/** Accepts a changed tool that a host with this data folder has recorded. */
async function acceptInFolder(
  name: string,
  config: string,
  data: string | undefined,
  context: Context,
): Promise<Accepted> {
  if (data === undefined) {
    const message = '--config requires --data, the data folder of the host; got none';
    fail({ code: 'usage', message, fixes: [`use the --data of ${PROGRAM} wire`], exitCode: 2 });
  }
  const { withLocalHost } = await import('../wire/local-host.ts');
  return withLocalHost({ config, data }, context, async ({ wire: { servers } }) => {
    for (const server of servers.servers()) await server.ready;
    if (await servers.accept(name)) return { name, accepted: true };
    const why = servers.whyNot(name);
    if (why !== undefined) fail({ code: 'not_found', message: why.message });
    return notHeld(name, servers.held());
  });
}

/** Why no tools are listed. A server lists only the tools that the caller may use. */
function whyNone(options: ToolsOptions, context: Context): string {
  if (isHere(options, context)) {
    const { config = DEFAULT_CONFIG } = options;
    return `none: no tool of ${config} is available; --url URL lists the tools of a server`;
  }
  return 'none: a key may use the tools in permissions.tools of its agent ("*" for all); --deferred includes deferred tools';
}

/** The error of a call with a fix. The host has already suggested the nearest name, if there is one. */
function uncalled(
  error: unknown,
  { timeout, ...options }: ToolsOptions & { timeout: number },
  context: Context,
): never {
  if (!(error instanceof DragomanError)) throw error;
  const { config, url } = options;
  const { code, message, suggestions } = error;
  const where = `${flag('--config', config)}${flag('--url', url)}`;
  const fixes: Readonly<Record<string, string>> = {
    not_found: `see them all: ${PROGRAM} tools list --deferred${where}`,
    timeout: `set a longer --timeout SECONDS (at most 600); it was ${inWords(timeout)}`,
  };
  const fix = fixes[code];
  if (fix === undefined) throw error;
  const elsewhere =
    code === 'not_found' && isHere(options, context)
      ? [`or call a tool of a server: --url ${findServer(options, context).url}`]
      : [];
  fail({ code, message, fixes: [...suggestions, fix, ...elsewhere] });
}

function flag(name: string, value: string | undefined): string {
  return value === undefined ? '' : ` ${name} ${asWord(value)}`;
}

/** Names the held tools, which no list of tools contains. */
function notHeld(name: string, held: readonly string[]): never {
  const close = nearest(name, held);
  const all =
    held.length === 0 ? 'no tool has changed since it was first seen' : `waiting for approval: ${held.join(', ')}`;
  const fixes = [...(close === undefined ? [] : [`did you mean ${close}?`]), visible(all)];
  fail({ code: 'not_found', message: `no changed tool named ${name} waits for approval`, fixes });
}

function withToolsOptions(command: Command): void {
  withConnectionOptions(command, 'agent', { url: ELSEWHERE });
  command.option(
    '--config <file>',
    `local runs only: the configuration file (default: ${DEFAULT_CONFIG}, if it exists)`,
  );
}

/** Uses the tools of the given server, or those of the configuration in this process. */
async function withWire<T>(
  options: ToolsOptions,
  context: Context,
  action: (wire: WireClient) => Promise<T>,
): Promise<T> {
  if (isHere(options, context)) {
    const { withLocalWire } = await import('../wire/local-wire.ts');
    return withLocalWire(options.config, context, (wire) => action(wire).catch(rethrown));
  }
  const { connectWire, httpWire } = await import('@dragoman/client/wire');
  const connection = await connect(options, context, 'agent');
  const { url, key } = connection;
  return talking(connection, 'agent', async () => {
    await using wire = await connectWire({ transport: httpWire({ url, key }), key });
    return await action(wire);
  });
}

function rethrown(error: unknown): never {
  if (!(error instanceof DragomanError)) throw error;
  const { code, message, issues, suggestions } = error;
  fail({ code, message, issues, fixes: suggestions });
}

function toolTable(tools: readonly ToolDefinition[], terminal: Terminal): string {
  const rows = tools.map(({ name, input_parameters, description }) => [
    visible(name),
    visible(input_parameters.map((one) => (one.required ? one.name : `[${one.name}]`)).join(' ')),
    visible(description.split('\n')[0] ?? '').slice(0, 100),
  ]);
  return table(['TOOL', 'ARGUMENTS', 'DESCRIPTION'], rows, terminal);
}

function failureText(name: string, { error, error_code: code }: ToolResult): string {
  return visible(`${name} failed: ${error ?? 'no reason given'}${code == null ? '' : ` (${code})`}`);
}

function resultText({ data }: ToolResult): string {
  return `${visible(typeof data === 'string' ? data : JSON.stringify(data, undefined, 2))}\n`;
}

function lineOf(event: WireMessage): string {
  const data = isObject(event['data']) ? event['data'] : {};
  const text = typeof data['message'] === 'string' ? data['message'] : JSON.stringify(data);
  const percent = typeof data['pct'] === 'number' ? `${Math.round(data['pct'])} % ` : '';
  return visible(`${percent}${text}`);
}

const TEN_MINUTES_MS = 600_000;
