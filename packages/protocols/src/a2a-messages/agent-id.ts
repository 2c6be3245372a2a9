import { AgentId } from './fields.ts';

export function isAgentId(text: unknown): text is string {
  return (
    typeof text === 'string' &&
    text.length >= AgentId.minLength &&
    text.length <= AgentId.maxLength &&
    PATTERN.test(text)
  );
}

/**
 * The agent id closest to a name of another protocol: every character except letters, digits and hyphens becomes a
 * hyphen. Two names can give the same id, so callers must warn.
 */
export function fittingAgentId(name: string): string {
  const hyphenated = trimmed(name.slice(0, LONGEST).replaceAll(/[^a-zA-Z0-9-]+/g, '-'));
  const cut = trimmed(hyphenated.slice(0, AgentId.maxLength));
  if (cut.length >= AgentId.minLength) return cut;
  return cut === '' ? 'agent' : `agent-${cut}`;
}

function trimmed(text: string): string {
  return text.replace(/^-+/, '').replace(/-+$/, '');
}

const PATTERN = new RegExp(AgentId.pattern);
const LONGEST = 1_024;
