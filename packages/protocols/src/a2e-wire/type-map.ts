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

/** Every known namespace. A new one is a file in `capabilities/` and a line here. */
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

/** A row of the type map with the data of its namespace. */
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

/** The row of a type; `undefined` for an unknown one, which is kept as a generic message (A2E wire, Decoding). */
export function lookup(type: string): KnownType | undefined {
  return known.get(type);
}

export function rowOf(type: WireType): KnownType {
  const row = known.get(type);
  if (row === undefined) throw new Error(`${type} is not in the type map`);
  return row;
}

/** The type that an alias stands for; `undefined` if the text is not an alias. */
export function aliasOf(type: string): string | undefined {
  return aliases.get(type);
}

export const KNOWN_TYPES: readonly KnownType[] = [...known.values()];

export function maySend(sender: Exclude<SendingSide, 'both'>, row: MessageRow): boolean {
  return row.from === sender || row.from === 'both';
}

/** Whether the type is a request of an agent that is not about the connection itself. */
export function isAgentRequest(row: KnownType): boolean {
  return row.role === 'request' && row.from === 'agent' && row.capability !== undefined;
}

type RowsOf<Union> = (Union extends unknown ? (rows: Union) => void : never) extends (rows: infer All) => void
  ? All
  : never;
type Rows = RowsOf<(typeof NAMESPACES)[number]['types']>;

export type WireType = keyof Rows & string;

/** A decoded message with all defaults. For an unknown type only the base fields are known. */
export interface WireMessage {
  readonly a2e: typeof WIRE_VERSION;
  readonly version: typeof WIRE_VERSION;
  readonly type: string;
  /** Missing only in the old `SUBAGENT_…` messages, which have neither id nor time. */
  readonly id?: string;
  readonly ts?: number;
  /** The fields of the type, and further members that the peer sent. */
  readonly [field: string]: Json | undefined;
}

/** A message of a known type. */
export type MessageOf<Type extends WireType> = Type extends keyof Rows
  ? Rows[Type] extends { readonly schema: infer Schema }
    ? Omit<WireMessage, 'type' | 'id' | 'ts'> & {
        readonly type: Type;
        readonly id: string;
        readonly ts: number;
      } & Complete<Schema>
    : never
  : never;

/** The fields for a new message: those with a default are optional. */
export type FieldsOf<Type extends WireType> = Type extends keyof Rows
  ? Rows[Type] extends { readonly schema: infer Schema }
    ? Static<Schema>
    : never
  : never;

/** Decoding has validated the fields, so the type string alone narrows the type. */
export function isMessage<const Type extends WireType>(
  message: WireMessage,
  type: Type,
): message is MessageOf<Type> & WireMessage {
  return message.type === type;
}
