import { type AgentPart, agentFailed } from './agent.ts';

/** Why the WebSocket library closed a connection; `undefined` for a connection that was lost. */
export function socketFault(error: unknown, maxReadBytes: number): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return `it sent more than ${maxReadBytes} bytes in one frame`;
  if (code === 'WS_ERR_INVALID_UTF8') return 'it sent a frame that is not UTF-8';
  return code.startsWith('WS_ERR_') ? `it violated the WebSocket protocol (${code})` : undefined;
}

/** The end of every request on a lost connection. */
export function connectionLost(fault: string | undefined): AgentPart {
  const why = fault === undefined ? '' : `: ${fault}`;
  return agentFailed(`The connection to the agent was lost before it had answered${why}.`);
}
