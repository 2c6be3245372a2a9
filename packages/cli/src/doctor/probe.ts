import { ALL_PERMISSIONS, type Log } from '@dragoman/core';
import { newEnvelope, questionIn } from '@dragoman/protocols';
import { type Config, type Server, systemIds } from '@dragoman/server';
import { PROGRAM } from '../command.ts';
import { broken, type DoctorFinding, sound } from './finding.ts';

/**
 * Sends a real question to each agent of a configuration, one after the other, and reports the answer or the failure.
 */
export async function probeAgents(
  server: Pick<Server, 'engine'>,
  agents: NonNullable<Config['agents']>,
  { milliseconds = PATIENCE_MS }: { milliseconds?: number } = {},
): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = [];
  for (const [id, { driver, url }] of Object.entries(agents)) {
    // An agent that dials in is connected to the running server, not to this one.
    if (driver === 'e2a-ws' && url === undefined) continue;
    findings.push(await probed(server, id, milliseconds));
  }
  return findings;
}

async function probed({ engine }: Pick<Server, 'engine'>, id: string, milliseconds: number): Promise<DoctorFinding> {
  const check = `probe ${id}`;
  const startedAt = performance.now();
  // This timer keeps the process alive while an agent waits for a model or a person: there may be no other.
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), milliseconds);
  const { signal } = over;
  const request = { request_id: `probe_${systemIds.hex()}`, method: 'chat.send', params: { content: QUESTION } };
  const envelope = newEnvelope({ ...request, agent_ref: { id }, is_stream: true });
  const principal = { id: 'admin', kind: 'admin', permissions: ALL_PERMISSIONS } as const;
  try {
    for await (const frame of engine.handle(envelope, { principal, signal, log: SILENT })) {
      const took = Math.round(performance.now() - startedAt);
      if (questionIn(frame) !== undefined) return sound(check, `asked a question after ${took} ms`);
      if (!frame.is_final) continue;
      if (frame.response_kind === 'e2a.error') return broken(check, String(frame.body.message), FIX);
      return sound(check, `answered in ${took} ms`);
    }
    return broken(check, 'it ended without an answer', FIX);
  } catch (error) {
    if (signal.aborted) return broken(check, `it did not answer within ${milliseconds / 1000} s`, FIX);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
const QUESTION = 'Hello. This is a test of the connection; a short answer is enough.';
const FIX = `run the agent alone, or read its output: ${PROGRAM} serve --log-level debug`;
const PATIENCE_MS = 30_000;
