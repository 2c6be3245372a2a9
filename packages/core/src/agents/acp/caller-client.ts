import { isObject, type JsonObject, respellAcp, show } from '@dragoman/protocols';
import type { Call } from '../../call/call.ts';
import { AcpProgramError } from './acp-line.ts';
import type { PermissionPolicy } from './acp-turn.ts';
import type { ClientAccesses, ClientOffer } from './client-offer.ts';
import type { FolderMap } from './folder-map.ts';

export interface CallerClientOptions {
  readonly call: Call;
  readonly access: ClientAccesses;
  readonly offer: ClientOffer;
  readonly folders: FolderMap;
  readonly policies: Readonly<Record<string, PermissionPolicy>>;
}

/**
 * Files and terminals of the caller's client, such as an editor, for one turn of an agent. The client decides about each request; here
 * only the folder, the operator's policy and the terminals of other turns are checked.
 */
export class CallerClient {
  readonly #options: CallerClientOptions;
  readonly #terminals = new Set<string>();

  constructor(options: CallerClientOptions) {
    this.#options = options;
  }

  offers(method: string): boolean {
    const { access, offer, call } = this.#options;
    if (call.askClient === undefined) return false;
    if (method.startsWith('terminal/')) return access.terminals === 'caller' && offer.terminal;
    if (access.files !== 'caller') return false;
    return method === 'fs/read_text_file' ? offer.readTextFile : method === 'fs/write_text_file' && offer.writeTextFile;
  }

  async answer(method: string, params: JsonObject): Promise<JsonObject> {
    const { askClient = notThere } = this.#options.call;
    const checked = this.#checked(params);
    await this.#permit(method, checked);
    const response = await askClient({
      method,
      params: respellAcp(checked, 'snake_case'),
      timeoutMs: method === 'terminal/wait_for_exit' ? undefined : PATIENCE_MS,
    }).catch((error: unknown) => refused(error instanceof Error ? error.message : String(error), -32603));
    const { result, error } = response;
    if (isObject(error)) {
      const { code, message } = error;
      refused(typeof message === 'string' ? message : 'The client failed.', typeof code === 'number' ? code : -32603);
    }
    const answer = isObject(result) ? respellAcp(result, 'camelCase') : {};
    if (method === 'terminal/create') this.#terminals.add(String(answer['terminalId']));
    if (method === 'terminal/release') this.#terminals.delete(String(checked['terminalId']));
    return answer;
  }

  /** With the paths as the client has them. */
  #checked({ sessionId: _, ...params }: JsonObject): JsonObject {
    const { terminalId } = params;
    if (terminalId !== undefined && !this.#terminals.has(String(terminalId))) {
      refused(`There is no terminal ${show(terminalId)}.`, -32002);
    }
    const checked = { ...params };
    for (const name of ['path', 'cwd']) {
      const path = params[name];
      if (path === undefined || path === null) continue;
      const there = typeof path === 'string' ? this.#options.folders.atClient(path) : undefined;
      checked[name] =
        there ?? refused(`${name} must be an absolute path in the folder of the session; got ${show(path)}.`);
    }
    return checked;
  }

  /** Applies the configured policy; the client may ask its person as well. */
  async #permit(method: string, params: JsonObject): Promise<void> {
    const kind = KINDS[method];
    const policy = kind === undefined ? undefined : this.#options.policies[kind];
    if (kind === undefined || policy === undefined || policy === 'allow') return;
    const denied = `tool_permissions of this agent does not allow ${kind} here.`;
    if (policy === 'deny') refused(denied, -32000);
    const what =
      params['path'] ?? [params['command'], ...(Array.isArray(params['args']) ? params['args'] : [])].join(' ');
    const title = `${TITLES[kind]} ${String(what)}`.slice(0, LONGEST_TITLE);
    const answer = await this.#options.call.ask?.({
      kind: 'permission',
      title,
      subject: { type: 'tool_call', tool_kind: kind, name: title },
    });
    const isAllowed = answer?.action === 'selected' && answer.option_id === 'allow';
    if (!isAllowed) refused(`"${title}" was rejected.`, -32000);
  }
}

const notThere = async (): Promise<never> => refused('There is no client.');

function refused(message: string, code = -32602): never {
  throw new AcpProgramError(code, message, null);
}

type Kind = 'read' | 'edit' | 'execute';
const KINDS: Readonly<Record<string, Kind>> = {
  'fs/read_text_file': 'read',
  'fs/write_text_file': 'edit',
  'terminal/create': 'execute',
};
const TITLES: Readonly<Record<Kind, string>> = { read: 'Read', edit: 'Write', execute: 'Run' };
const PATIENCE_MS = 120_000;
const LONGEST_TITLE = 500;
