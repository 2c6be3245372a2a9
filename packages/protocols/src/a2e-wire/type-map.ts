import type { Json } from '../json.ts';
import type { Static } from '../static.ts';
import { chain } from './capabilities/chain.ts';
import { env } from './capabilities/env.ts';
import { learn } from './capabilities/learn.ts';
import { mcp } from './capabilities/mcp.ts';
import { memory } from './capabilities/memory.ts';
import { multiAgent } from './capabilities/multi-agent.ts';
import { planning } from './capabilities/planning.ts';
import { proc } from './capabilities/proc.ts';
import { skill } from './capabilities/skill.ts';
import { tool } from './capabilities/tool.ts';
import { toolkit } from './capabilities/toolkit.ts';
import type { Complete } from './fields.ts';
import { core, type WIRE_VERSION } from './message.ts';
import type { MessageRow, Namespace, SendingSide } from './message-row.ts';

/** Every namespace we know. A new one is a file in `capabilities/` and a line here. */
const NAMESPACES = [
  core,
  tool,
  chain,
  mcp,
  memory,
  skill,
  toolkit,
  env,
  proc,
  learn,
  planning,
  multiAgent,
] as const satisfies readonly Namespace[];

/** A row of the type map with what its namespace says. */
export interface KnownType extends MessageRow {
  readonly type: string;
  readonly capability: string | undefined;
  /** The name of its compiled validator. */
  readonly validator: string;
}

const known = new Map<string, KnownType>();
const aliases = new Map<string, string>();
for (const { capability, types, aliases: others = {} } of NAMESPACES as readonly Namespace[]) {
  for (const [type, row] of Object.entries(types)) {
    known.set(type, { ...row, type, capability, validator: validatorName(type) });
  }
  for (const [other, ours] of Object.entries(others)) aliases.set(other, ours);
}

/** `tool/call/req` → `ToolCallReq`. */
export function validatorName(type: string): string {
  return type.replaceAll(/(?:^|[/_ ])([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** What we know of a type, or `undefined`: an unknown one is kept as a generic message (A2E wire, Decoding). */
export function lookup(type: string): KnownType | undefined {
  return known.get(type);
}

/** The row of a type that is certainly there. */
export function rowOf(type: WireType): KnownType {
  const row = known.get(type);
  if (row === undefined) throw new Error(`${type} is not in the type map`);
  return row;
}

/** Our spelling of a type that is also written differently. */
export function aliasOf(type: string): string | undefined {
  return aliases.get(type);
}

export const KNOWN_TYPES: readonly KnownType[] = [...known.values()];

export function maySend(sender: Exclude<SendingSide, 'both'>, row: MessageRow): boolean {
  return row.from === sender || row.from === 'both';
}

/** A request that an agent makes of what is behind the host, not of the connection. */
export function isAgentRequest(row: KnownType): boolean {
  return row.role === 'request' && row.from === 'agent' && row.capability !== undefined;
}

type RowsOf<Union> = (Union extends unknown ? (rows: Union) => void : never) extends (rows: infer All) => void
  ? All
  : never;
type Rows = RowsOf<(typeof NAMESPACES)[number]['types']>;

export type WireType = keyof Rows & string;

/** A message as it is read: every field with a default is there. Of an unknown type nothing more is known. */
export interface WireMessage {
  readonly a2e: typeof WIRE_VERSION;
  readonly version: typeof WIRE_VERSION;
  readonly type: string;
  /** Missing only from the old `SUBAGENT_…` messages, which have neither id nor time. */
  readonly id?: string;
  readonly ts?: number;
  /** The fields of the type, and whatever else the peer sent. */
  readonly [field: string]: Json | undefined;
}

/** A message of a type we know. */
export type MessageOf<Type extends WireType> = Type extends keyof Rows
  ? Rows[Type] extends { readonly schema: infer Schema }
    ? Omit<WireMessage, 'type' | 'id' | 'ts'> & {
        readonly type: Type;
        readonly id: string;
        readonly ts: number;
      } & Complete<Schema>
    : never
  : never;

/** The fields needed to make a message: those with a default may be left out. */
export type FieldsOf<Type extends WireType> = Type extends keyof Rows
  ? Rows[Type] extends { readonly schema: infer Schema }
    ? Static<Schema>
    : never
  : never;

/** Reading has checked a known type's fields, so its type string alone tells what it is. */
export function isMessage<const Type extends WireType>(
  message: WireMessage,
  type: Type,
): message is MessageOf<Type> & WireMessage {
  return message.type === type;
}
