import { describe, expect, test } from 'vitest';
import { type Fixture, loadFixtures } from '../../../../../scripts/conformance.ts';
import { isObject, type Json } from '../../json.ts';
import type { Outcome } from '../../outcome.ts';
import { type E2AEnvelope, newEnvelope } from '../envelope.ts';
import { type E2AResponse, newResponse } from '../response.ts';
import { agentChunkFrom, agentResponseFrom } from '../to-agent-answer.ts';
import { type A2aCall, type A2aOptions, e2aResponseToA2aStreamPayload, envelopeFromA2aSendMessage } from './a2a.ts';
import {
  type AcpCall,
  type AcpOptions,
  e2aResponseToAcpJsonrpcResponse,
  envelopeFromAcpJsonrpc,
  envelopeToAcpJsonrpcCall,
  mergeParamsToAcpPrompt,
} from './acp.ts';
import { acpMessagesFor } from './acp-projection.ts';
import { projectionsFor } from './projections.ts';

/** The arguments of any adapter, as data. */
interface Arguments {
  readonly envelope: Partial<E2AEnvelope>;
  readonly response: Partial<E2AResponse>;
  readonly request: Partial<E2AEnvelope>;
  readonly options: AcpOptions & A2aOptions;
}

/** Each adapter by its name; an envelope is expected by the fields that differ from a new one. */
const ADAPTERS: Readonly<Record<string, (given: Arguments, expected: Json) => void>> = {
  envelopeFromAcpJsonrpc: (given, expected) =>
    expect(envelopeFromAcpJsonrpc(withDate<AcpCall>(given))).toEqual(newEnvelope(expected as Partial<E2AEnvelope>)),
  envelopeFromA2aSendMessage: (given, expected) =>
    expect(envelopeFromA2aSendMessage(withDate<A2aCall>(given))).toEqual(newEnvelope(expected as Partial<E2AEnvelope>)),
  mergeParamsToAcpPrompt: ({ envelope, options }, expected) =>
    expect(mergeParamsToAcpPrompt(newEnvelope(envelope), options)).toEqual(expected),
  envelopeToAcpJsonrpcCall: ({ envelope, options }, expected) =>
    expect(plain(envelopeToAcpJsonrpcCall(newEnvelope(envelope), options))).toEqual(expected),
  e2aResponseToAcpJsonrpcResponse: ({ response, options }, expected) =>
    expect(e2aResponseToAcpJsonrpcResponse(newResponse(response), options) ?? null).toEqual(expected),
  e2aResponseToA2aStreamPayload: ({ response, options }, expected) =>
    expect(e2aResponseToA2aStreamPayload(newResponse(response), options) ?? null).toEqual(expected),
  projectionsFor: ({ response, request }, expected) =>
    expect(projectionsFor(newResponse(response), newEnvelope(request))).toEqual(expected),
  acpMessagesFor: ({ response, request }, expected) =>
    expect(acpMessagesFor(newResponse(response), newEnvelope(request))).toEqual(expected),
  agentChunkFrom: ({ response }, expected) => expect(plain(agentChunkFrom(newResponse(response)))).toEqual(expected),
  agentResponseFrom: ({ response }, expected) =>
    expect(plain(agentResponseFrom(newResponse(response)))).toEqual(expected),
};

const fixtures = loadFixtures<Json>('e2a', 'convert') as (Fixture<Json> & { readonly adapter: string })[];

describe('e2a: conversions', () => {
  test.each(fixtures)('$adapter: $name', ({ adapter, input, expect: expected }) => {
    const before = structuredClone(input);
    const run = ADAPTERS[adapter];
    if (run === undefined) expect.unreachable(`no adapter is named ${adapter}`);
    run(input as unknown as Arguments, expected);
    expect(input, 'an adapter changes nothing it was given').toEqual(before);
  });

  test('every adapter has a case', () => {
    expect(new Set(fixtures.map(({ adapter }) => adapter))).toEqual(new Set(Object.keys(ADAPTERS)));
  });
});

/** An outcome without its wording. */
function plain(outcome: Outcome<unknown>): unknown {
  const short = ({ pointer, code }: { pointer: string; code: string }) => ({ pointer, code });
  return outcome.ok
    ? { value: outcome.value, warnings: outcome.warnings.map(short) }
    : { issues: outcome.issues.map(short) };
}

function withDate<Call>(given: unknown): Call {
  const call = given as Json;
  const now = isObject(call) && typeof call['now'] === 'string' ? { now: new Date(call['now']) } : {};
  return { ...(given as object), ...now } as Call;
}
