import type { Issue, JsonObject, JsonSchema } from '@dragoman/protocols';
import type { WireMessage } from '@dragoman/protocols/a2e-wire';
import { ArgumentCheck } from '../argument-check.ts';
import { toolFailure, traceOf } from '../tool-failure.ts';
import type { Answered, WireCall, WirePlugin } from './plugin.ts';
import { WireRefused, wireRefusalOf } from './wire-refused.ts';

/**
 * Wraps a plugin that the operator wrote. Its requests and answers are checked against the schemas that it declares. An
 * error that it throws reaches the caller with its message and code, like the error of a tool; its stack only goes to
 * the log.
 */
export function ownPlugin(plugin: WirePlugin): WirePlugin {
  const checks = new Map(
    Object.entries(plugin.schemas ?? {}).map(([type, schema]) => [type, new FieldCheck(type, schema)]),
  );
  const answered = (message: WireMessage, fields: Answered): Answered => {
    const check = checks.get(answerTypeOf(message.type));
    const [issue] = fields === undefined ? [] : (check?.issuesOf(fields) ?? []);
    if (issue === undefined) return fields;
    throw new Error(`the plugin answered ${message.type} with fields that do not fit its schema: ${issue.message}`);
  };
  const failed = (error: unknown, { type }: WireMessage, { log, signal }: WireCall): never => {
    // After an abort, the error is usually the reason of the signal.
    if (signal.aborted) throw error;
    const refusal = wireRefusalOf(error);
    if (refusal !== undefined) throw refusal;
    const trace = traceOf(error);
    if (trace !== undefined) log.error({ plugin: plugin.name, type, ...trace }, 'a plugin failed');
    throw toolFailure(error);
  };
  return {
    ...lifecycleOf(plugin),
    handle(message, call) {
      const issues = checks.get(message.type)?.issuesOf(message as JsonObject) ?? [];
      const [first, ...others] = issues;
      if (first !== undefined) {
        const text = `${first.message}${others.length > 0 ? ` (and ${others.length} more)` : ''}`;
        throw new WireRefused('schema_violation', text, {
          issues: issues.slice(0, MOST_ISSUES).map((issue) => ({ ...issue })),
        });
      }
      try {
        const fields = plugin.handle(message, call);
        if (!(fields instanceof Promise)) return answered(message, fields);
        return fields.then((found) => answered(message, found)).catch((error) => failed(error, message, call));
      } catch (error) {
        return failed(error, message, call);
      }
    },
  };
}

/** The type of the answer to a request type that the protocol does not define. */
export function answerTypeOf(type: string): string {
  // A2E wire, Type String Convention: a `/resp` answers a `/req`.
  return `${type.replace(/\/req$/, '')}/resp`;
}

/** Checks fields against a schema that the plugin declares. */
class FieldCheck {
  readonly #check: ArgumentCheck;

  constructor(type: string, schema: JsonSchema) {
    this.#check = new ArgumentCheck(schema, type);
  }

  issuesOf(fields: JsonObject): readonly Issue[] {
    return this.#check.issuesOf(fields).map(({ pointer, message, ...issue }) => ({
      ...issue,
      pointer: pointer.replace(/^\/arguments/, ''),
      message: message.replace('missing required argument', 'missing required field'),
    }));
  }
}

/** Everything of a plugin except how it answers. Its methods are called on the plugin itself, which may use `this`. */
function lifecycleOf(plugin: WirePlugin): Omit<WirePlugin, 'handle'> {
  const { name, capability, messages, schemas, priority, exclusive } = plugin;
  return {
    name,
    capability,
    messages,
    ...(schemas !== undefined && { schemas }),
    ...(priority !== undefined && { priority }),
    ...(exclusive !== undefined && { exclusive }),
    ...(plugin.setup !== undefined && { setup: () => Promise.resolve(plugin.setup?.()) }),
    ...(plugin.save !== undefined && { save: () => plugin.save?.() }),
    ...(plugin.restore !== undefined && { restore: (state) => plugin.restore?.(state) }),
    ...(plugin.teardown !== undefined && { teardown: () => Promise.resolve(plugin.teardown?.()) }),
  };
}

/** Maximum number of issues in an answer, which should not be larger than its request. */
const MOST_ISSUES = 20;
