import { failure, type JsonObject } from '@dragoman/protocols';
import { isMessage, type MessageOf } from '@dragoman/protocols/a2e-wire';
import type { ToolEvent } from '../../call/caller-tools.ts';
import { Ending } from '../../ending/ending.ts';
import type { Clock } from '../../ports/ports.ts';
import { Refused } from '../../refusals/refused.ts';
import { inLength } from '../result-length.ts';
import type { Skills } from '../skills.ts';
import { LONGEST_CALL_MS } from '../tool-registry.ts';
import type { Answered, WireCall, WirePlugin } from '../wire/plugin.ts';

export interface SkillsPluginOptions {
  readonly skills: Skills;
  readonly clock: Clock;
}

/** `skill/*`: lists the skills of agents and calls them. */
export function skillsPlugin(options: SkillsPluginOptions): WirePlugin {
  return {
    name: 'skills',
    capability: 'skill',
    messages: ['skill/discover/req', 'skill/call/req'],
    handle(message, call) {
      if (isMessage(message, 'skill/call/req')) return callSkill(message, call, options);
      if (!isMessage(message, 'skill/discover/req')) return undefined;
      const { filter_tags: tags, filter_categories: categories } = message;
      const skills = options.skills.list(call.session.principal, { tags, categories });
      return { skills: skills as unknown as JsonObject[] };
    },
  };
}

async function callSkill(
  { name, arguments: args, timeout, streaming }: MessageOf<'skill/call/req'>,
  call: WireCall,
  { skills, clock }: SkillsPluginOptions,
): Promise<Answered> {
  const { principal } = call.session;
  const startedAt = clock.elapsed();
  const over = new AbortController();
  // The limit also keeps the timer below 24 days, beyond which it would fire at once.
  const limit = timeout > 0 ? Math.min(timeout * 1000, LONGEST_CALL_MS) : LONGEST_CALL_MS;
  const late = new Refused(failure('timeout', {}, `The skill did not finish within ${limit / 1000} s.`));
  const cancel = clock.after(limit, () => over.abort(late));
  try {
    const signal = AbortSignal.any([call.signal, over.signal]);
    const onEvent = streaming ? (event: ToolEvent) => call.event({ ...event }) : undefined;
    const request = { name, args, principal, ending: Ending.of(signal), onEvent };
    const { success, data, events } = await skills.call(request);
    const duration_ms = Math.round((clock.elapsed() - startedAt) * 1000) / 1000;
    const result = { success, ...inLength(data), duration_ms, events };
    return { name, data: result, created_at: clock.now().getTime() / 1000 };
  } finally {
    cancel();
  }
}
