import { type JsonObject, show } from '@dragoman/protocols';
import type { Ask } from '../call/ask.ts';
import type { Principal } from '../call/principal.ts';
import { refuse } from '../refusals/refused.ts';

/**
 * When a person is asked before a tool is called. `once`: before the first call of a caller, until the server stops.
 */
export const APPROVALS = ['always', 'once', 'never'] as const;
export type Approval = (typeof APPROVALS)[number];

/** Which tools need the approval of a person. A pattern is a tool's name, in which `*` stands for any characters. */
export interface ApprovalRule {
  readonly tools: string;
  readonly approval: Approval;
}

/** A call that may need approval. */
export interface ApprovedCall {
  readonly name: string;
  readonly args: JsonObject;
  readonly principal: Principal;
  readonly ask?: Ask | undefined;
}

/** Asks a person before calls that need approval. The first rule that matches a tool decides. */
export class ToolApprovals {
  #rules: readonly { readonly matches: (name: string) => boolean; readonly approval: Approval }[] = [];
  /** The tools approved for each caller. */
  readonly #given = new Set<string>();

  /** Replaces the rules and forgets earlier approvals. */
  set(rules: readonly ApprovalRule[]): void {
    this.#rules = rules.map(({ tools, approval }) => ({ matches: matcher(tools), approval }));
    this.#given.clear();
  }

  /**
   * Resolves when the call may continue; `undefined` if it needs no approval. Rejects with `Refused` when it may not.
   */
  before(call: ApprovedCall): Promise<void> | undefined {
    if (this.#rules.length === 0) return undefined;
    const approval = this.#rules.find(({ matches }) => matches(call.name))?.approval ?? 'never';
    if (approval === 'never') return undefined;
    if (approval === 'once' && this.#given.has(nameOf(call))) return undefined;
    return this.#approved(call, approval);
  }

  async #approved(call: ApprovedCall, approval: Exclude<Approval, 'never'>): Promise<void> {
    const { name, args, ask } = call;
    if (ask === undefined) {
      const suggestions = ['send it as a request to the target "tools", whose caller can be asked'];
      refuse(
        'forbidden',
        { suggestions },
        `The tool ${name} needs the approval of a person, which cannot be requested here.`,
      );
    }
    const { option_id: chosen } = await ask({
      kind: 'permission',
      title: `Call the tool ${name}?`,
      subject: { type: 'tool_call', name, input: args },
      options: [
        approval === 'once'
          ? { id: ALLOW, name: 'Allow', kind: 'allow_always' }
          : { id: ALLOW, name: 'Allow', kind: 'allow_once' },
        { id: 'reject', name: 'Reject', kind: 'reject_once' },
      ],
    });
    if (chosen !== ALLOW) refuse('forbidden', {}, `The call of the tool ${show(name)} was rejected by a person.`);
    if (approval === 'once') this.#given.add(nameOf(call));
  }
}

function nameOf({ name, principal }: ApprovedCall): string {
  return `${principal.id}\n${name}`;
}

/** Compiles a pattern. It is matched piece by piece from left to right, without backtracking. */
function matcher(pattern: string): (name: string) => boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return (name) => name === pattern;
  return (name) => {
    if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
    let at = first.length;
    for (const piece of rest) {
      const found = name.indexOf(piece, at);
      if (found === -1) return false;
      at = found + piece.length;
    }
    return at <= name.length - last.length;
  };
}

const ALLOW = 'allow';
