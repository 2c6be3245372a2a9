import type { JsonObject } from '@dragoman/protocols';
import { isMessage, type MessageOf, type ToolResult } from '@dragoman/protocols/a2e-wire';
import type { Clock } from '../../ports/ports.ts';
import { refuse } from '../../refusals/refused.ts';
import type { SessionToolkits } from '../session-toolkits.ts';
import type { Tool } from '../tool.ts';
import type { ToolRegistry } from '../tool-registry.ts';
import type { Answered, WireCall, WirePlugin } from '../wire/plugin.ts';

export interface ToolsPluginOptions {
  readonly tools: ToolRegistry;
  readonly toolkits: SessionToolkits;
  readonly clock: Clock;
  readonly callDurably: CallDurably;
}

/** Calls a tool as a journaled run with the id of the message. The run continues when the connection is lost. */
export type CallDurably = (tool: Tool, call: WireCall, request: DurableRequest) => Promise<ToolResult>;

export interface DurableRequest {
  readonly args: JsonObject;
  readonly timeoutMs: number;
  readonly streaming: boolean;
}

/** `tool/*`: lists and calls tools. The connection itself handles cancels. */
export function toolsPlugin(options: ToolsPluginOptions): WirePlugin {
  return {
    name: 'tools',
    capability: 'tools',
    messages: ['tool/list/req', 'tool/call/req'],
    handle(message, call) {
      if (isMessage(message, 'tool/call/req')) return callTool(message, call, options);
      return isMessage(message, 'tool/list/req') ? listTools(message, call, options) : undefined;
    },
  };
}

async function listTools(
  { query, filter_kind: kind, filter_tags: tags, include_deferred: deferred }: MessageOf<'tool/list/req'>,
  { session }: WireCall,
  { tools, toolkits }: ToolsPluginOptions,
): Promise<Answered> {
  // The protocol does not define the kinds, so ours are tags.
  const wanted = kind === '' ? tags : [...tags, kind];
  const without = toolkits.hiddenFrom(session);
  const found = await tools.list(session.principal, { query, deferred, tags: wanted, without });
  return { tools: found as unknown as JsonObject[] };
}

function callTool(
  { tool_name: name, arguments: args, timeout, streaming, durable }: MessageOf<'tool/call/req'>,
  call: WireCall,
  { tools, toolkits, clock, callDurably }: ToolsPluginOptions,
): Answered | Promise<Answered> {
  // The field has a default, so the decoder accepts a call that names no tool.
  if (name === '') refuse('not_found', {}, 'tool_name is missing: it says which tool is called.');
  const timeoutMs = timeout * 1000;
  const { principal } = call.session;
  const without = toolkits.hiddenFrom(call.session);
  if (durable === true || tools.isJournaled(name)) {
    const calling = tools.find({ name, principal, without });
    return calling
      .then((tool) => callDurably(tool, call, { args, timeoutMs, streaming }))
      .then((found) => answerOf(found, clock));
  }
  const result = tools.call({
    name,
    principal,
    without,
    args,
    ending: call.ending,
    timeoutMs,
    onEvent: streaming ? (event) => call.event({ ...event }) : undefined,
  });
  return result instanceof Promise ? result.then((found) => answerOf(found, clock)) : answerOf(result, clock);
}

function answerOf(result: ToolResult, clock: Clock): Answered {
  return { data: result as unknown as JsonObject, created_at: clock.now().getTime() / 1000 };
}
