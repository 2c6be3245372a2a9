import type { ApiInput, KeptApi } from '@dragoman/client';
import type { Issue } from '@dragoman/protocols';
import { API_METHODS } from '@dragoman/protocols/a2e-workflow';
import type { Command } from 'commander';
import { each, newCommand, PROGRAM, runs } from '../command.ts';
import { type ConnectionOptions, connect, talking, withConnectionOptions } from '../connection.ts';
import type { Context } from '../context.ts';
import { readText } from '../input.ts';
import { noSuchName } from '../no-such-name.ts';
import { table } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { fail } from '../trouble.ts';
import { visible } from '../visible.ts';

export function apisCommand(context: Context): Command {
  return newCommand(context, {
    name: 'apis',
    summary: 'list, add and remove the APIs that workflows may call (needs the admin key)',
    examples: [`${PROGRAM} apis list`, `${PROGRAM} apis add shop --openapi shop.yaml`],
  })
    .addCommand(listCommand(context))
    .addCommand(addCommand(context))
    .addCommand(removeCommand(context));
}

function listCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'apis list',
    summary: 'list all APIs and the number of their endpoints',
    examples: [`${PROGRAM} apis list`],
  });
  withConnectionOptions(command, 'admin');
  return runs<ConnectionOptions>(command, context, async (options) => {
    const connection = await connect(options, context, 'admin');
    const apis = await talking(connection, 'admin', () => connection.client.admin.apis.list());
    context.terminal.out(options.json ? `${JSON.stringify({ apis })}\n` : apiTable(apis, context.terminal));
    return 0;
  });
}

function apiTable(apis: readonly KeptApi[], terminal: Terminal): string {
  const rows = apis.map(({ id, base_url, endpoints, from, description }) => [
    id,
    visible(base_url),
    String(endpoints.length),
    from,
    visible((description ?? '').slice(0, 80)),
  ]);
  return table(['API', 'BASE URL', 'ENDPOINTS', 'FROM', 'DESCRIPTION'], rows, terminal);
}

interface AddOptions extends ConnectionOptions {
  readonly baseUrl?: string;
  readonly description?: string;
  readonly endpoint?: readonly string[];
  readonly openapi?: string;
  readonly acceptsDataFrom?: readonly string[];
}

function addCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'apis add',
    summary: 'create or replace an API, from options or an OpenAPI document',
    examples: [
      `${PROGRAM} apis add shop --base-url https://shop.example.com --endpoint "GET /orders Lists the orders."`,
      `${PROGRAM} apis add shop --openapi shop.yaml`,
    ],
  })
    .argument('<api_id>', 'its name, as used in permissions')
    .option('--base-url <url>', 'its base URL (default: from the OpenAPI document)')
    .option('--description <text>', 'what it is for; used by search')
    .option('--endpoint <text>', 'METHOD /path and what it does; may be repeated', each)
    .option(
      '--accepts-data-from <host>',
      'a host: data that was fetched from it with a credential may be sent to this API; may be repeated, "*" for any host',
      each,
    )
    .option('--openapi <file>', 'its OpenAPI document, JSON or YAML; use - to read it from stdin');
  withConnectionOptions(command, 'admin');
  return runs<AddOptions>(command, context, async (options, [id = '']) => {
    const { terminal } = context;
    const { api, warnings } = await apiOf(options, context);
    const connection = await connect(options, context, 'admin');
    const put = () => connection.client.admin.apis.put(id, api);
    const kept = await talking(connection, 'admin', put, ({ issues }) => serverHints(issues, options));
    if (options.json) terminal.out(`${JSON.stringify({ ...kept, ...(warnings.length > 0 && { warnings }) })}\n`);
    else {
      for (const warning of warnings) terminal.note(`${visible(warning)}\n`);
      const count = kept.endpoints.length;
      terminal.out(`added ${kept.id}: ${kept.base_url}, ${count} endpoint${count === 1 ? '' : 's'}\n`);
    }
    return 0;
  });
}

/** The API of the options. An OpenAPI document is read here, because the server needs only a small part of it. */
async function apiOf(options: AddOptions, context: Context): Promise<{ api: ApiInput; warnings: readonly string[] }> {
  const { baseUrl, description, endpoint, openapi, acceptsDataFrom } = options;
  const given: ApiInput = {
    ...(baseUrl !== undefined && { base_url: baseUrl }),
    ...(description !== undefined && { description }),
    ...(endpoint !== undefined && { endpoints: endpoint.map(endpointOf) }),
    ...(acceptsDataFrom !== undefined && { accepts_data_from: acceptsDataFrom }),
  };
  if (openapi === undefined) return { api: given, warnings: [] };
  // Loaded on use: only a document needs it.
  const [{ apiFromOpenApi }, { parseYaml }] = await Promise.all([import('@dragoman/core'), import('@dragoman/server')]);
  const document = parseYaml(await readText(openapi, context));
  if (!document.ok)
    fail({ code: 'not_yaml', message: `${openapi} is not valid JSON or YAML`, issues: document.issues });
  const read = apiFromOpenApi(document.value);
  if (!read.ok) fail({ code: 'not_openapi', message: `${openapi} is not an OpenAPI document`, issues: read.issues });
  return { api: { ...read.value, ...given }, warnings: read.warnings.map(({ message }) => message) };
}

/** A fix if the document has no absolute URL of its server. */
function serverHints(issues: readonly Issue[], { openapi, baseUrl }: AddOptions): readonly string[] {
  const isMissing = openapi !== undefined && baseUrl === undefined;
  if (!isMissing || !issues.some(({ pointer }) => pointer === '/base_url')) return [];
  return ['the document has no server URL; give --base-url https://api.example.com/v1'];
}

function endpointOf(text: string): NonNullable<ApiInput['endpoints']>[number] {
  const [, word = '', path = '', description = ''] = /^(\S+)\s+(\/\S*)\s*(.*)$/s.exec(text) ?? [];
  const method = API_METHODS.find((known) => known === word.toUpperCase());
  if (method !== undefined) return { method, path, ...(description !== '' && { description }) };
  fail({
    code: 'usage',
    message: `an endpoint must be METHOD /path and a description, METHOD one of ${API_METHODS.join(', ')}; got ${JSON.stringify(text)}`,
    fixes: ['--endpoint "GET /orders Lists the orders."'],
    exitCode: 2,
  });
}

function removeCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'apis remove',
    summary: 'remove an API',
    examples: [`${PROGRAM} apis remove shop`],
  }).argument('<api_id>', 'as shown by `apis list`');
  withConnectionOptions(command, 'admin');
  return runs<ConnectionOptions>(command, context, async (options, [id = '']) => {
    const connection = await connect(options, context, 'admin');
    const { apis } = connection.client.admin;
    const answer = await talking(connection, 'admin', () =>
      apis.remove(id).catch((error: unknown) =>
        noSuchName(error, {
          isIt: (refused) => refused.is('not_found'),
          name: id,
          message: `there is no API ${JSON.stringify(id)}`,
          known: async () => (await apis.list()).map((api) => api.id),
          list: `${PROGRAM} apis list`,
        }),
      ),
    );
    context.terminal.out(options.json ? `${JSON.stringify(answer)}\n` : `removed ${id}\n`);
    return 0;
  });
}
