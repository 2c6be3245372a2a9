import { isObject, type JsonObject } from '@dragoman/protocols';
import type { LimitedLog } from '../../ports/limited-log.ts';
import type { Clock } from '../../ports/ports.ts';
import { MAX_FRAME_BYTES } from '../agent-frame.ts';
import { AcpLine, AcpProgramError } from './acp-line.ts';
import type { PromptCapabilities } from './acp-prompt.ts';
import type { AcpTransport } from './acp-transport.ts';
import type { AcpTurn } from './acp-turn.ts';
import type { McpCapabilities } from './client-mcp-servers.ts';
import type { ClientOffer } from './client-offer.ts';

/** An ACP agent that is connected and initialized. */
export class AcpProgram {
  readonly line: AcpLine;
  readonly transport: AcpTransport;
  /** The running turns, by the program's own session id. */
  readonly turns = new Map<string, AcpTurn>();
  /** The program's sessions, by caller and session. */
  readonly sessions = new Map<string, ProgramSession>();
  /** Updates about a session that the program sent before it answered session/new. */
  readonly #early = new Map<string, JsonObject[]>();
  #capabilities: JsonObject = {};
  #authMethods: readonly string[] = [];

  private constructor(transport: AcpTransport, log: LimitedLog) {
    this.transport = transport;
    this.line = new AcpLine({
      transport,
      log,
      onNotification: (method, params) => (method === 'session/update' ? this.#updated(params) : undefined),
      // It may have been part of any of them.
      onOversized: async () => {
        for (const turn of this.turns.values()) await turn.update(OVERSIZED);
      },
      onRequest: async (method, params) => {
        const turn = this.turns.get(String(params['sessionId']));
        if (turn !== undefined) return turn.answer(method, params);
        if (method === 'session/request_permission') return { outcome: { outcome: 'cancelled' } };
        throw new AcpProgramError(-32601, `Method not found: ${method}`, null);
      },
    });
  }

  /** Initializes an agent that was connected to. Rejects when it does not answer in time. */
  static async open({
    transport,
    log,
    clock,
    version,
    authMethod,
    patienceMs,
    offer,
  }: OpenProgram): Promise<AcpProgram> {
    const program = new AcpProgram(transport, log);
    const late = clock.after(patienceMs, () =>
      program.line.lose(`The agent's program did not answer initialize within ${patienceMs / 1000} s.`),
    );
    try {
      const answer = await program.line.request('initialize', {
        protocolVersion: 1,
        clientInfo: { name: 'dragoman', title: 'Dragoman', version },
        clientCapabilities: {
          fs: { readTextFile: offer.readTextFile, writeTextFile: offer.writeTextFile },
          terminal: offer.terminal,
          elicitation: { form: {}, url: {} },
          // Clients that do not announce these updates are not sent them.
          session: { notices: {}, compaction: {} },
        },
      });
      const { agentCapabilities, authMethods } = answer;
      program.#capabilities = isObject(agentCapabilities) ? agentCapabilities : {};
      const methods = Array.isArray(authMethods) ? authMethods : [];
      program.#authMethods = methods.flatMap((method) => (isObject(method) ? [String(method['id'])] : []));
      if (authMethod !== undefined) await program.line.request('authenticate', { methodId: authMethod });
      return program;
    } finally {
      late();
    }
  }

  get promptCapabilities(): PromptCapabilities {
    const { promptCapabilities: can } = this.#capabilities;
    return isObject(can) ? (can as PromptCapabilities) : {};
  }

  get mcpCapabilities(): McpCapabilities {
    const { mcpCapabilities: can } = this.#capabilities;
    return isObject(can) ? (can as McpCapabilities) : {};
  }

  get authMethods(): readonly string[] {
    return this.#authMethods;
  }

  can(what: 'load' | 'resume' | 'close'): boolean {
    const { loadSession, sessionCapabilities: sessions } = this.#capabilities;
    return what === 'load' ? loadSession === true : isObject(sessions) && isObject(sessions[what]);
  }

  /** Sends the updates of a session to this turn. */
  async begin(sessionId: string, turn: AcpTurn): Promise<void> {
    this.turns.set(sessionId, turn);
    const early = this.#early.get(sessionId) ?? [];
    this.#early.delete(sessionId);
    for (const update of early) await turn.update(update);
  }

  /** Drops updates that no turn waits for, except those of a session that may be about to start. */
  #updated({ sessionId, update }: JsonObject): Promise<void> | undefined {
    if (typeof sessionId !== 'string' || !isObject(update)) return undefined;
    const turn = this.turns.get(sessionId);
    if (turn !== undefined) return turn.update(update);
    if (!EARLY.has(String(update['sessionUpdate']))) return undefined;
    const early = this.#early.get(sessionId) ?? [];
    if (this.#early.size >= MOST_EARLY && early.length === 0) this.#early.clear();
    if (early.length < MOST_EARLY) this.#early.set(sessionId, [...early, update]);
    return undefined;
  }
}

/** A session of the program. */
export interface ProgramSession {
  readonly id: string;
  readonly cwd: string;
  /** The modes it has, and the one it is in. */
  readonly modes: readonly string[] | undefined;
  mode: unknown;
}

interface OpenProgram {
  readonly transport: AcpTransport;
  readonly offer: ClientOffer;
  readonly log: LimitedLog;
  readonly clock: Clock;
  readonly version: string;
  readonly authMethod: string | undefined;
  readonly patienceMs: number;
}

const OVERSIZED: JsonObject = {
  sessionUpdate: 'agent_thought_chunk',
  content: {
    type: 'text',
    text: `A message of the agent's program exceeds ${MAX_FRAME_BYTES >> 20} MiB and was dropped. This answer may be incomplete.`,
  },
};
/** Updates about a session that are not part of an answer. */
const EARLY: ReadonlySet<string> = new Set(['available_commands_update', 'current_mode_update', 'session_info_update']);
const MOST_EARLY = 16;
