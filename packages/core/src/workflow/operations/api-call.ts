import { hash } from 'node:crypto';
import { type Json, pointerTo } from '@dragoman/protocols';
import { type ApiCallConfig, DEFAULT_TIMEOUT, OPERATIONS } from '@dragoman/protocols/a2e-workflow';
import { headerFault } from '../../refusals/header-fault.ts';
import { CredentialUse } from '../../secrets/credential-use.ts';
import { decodeAnswer, refusedAnswer } from '../api-answer.ts';
import { compileBody, hasDeepReference } from '../api-body.ts';
import { compileUrl } from '../api-url.ts';
import { memoryOfJson } from '../memory-need.ts';
import type { Compiling, Operation, StepContext } from '../operation.ts';
import { dataError } from '../step-error.ts';
import { asText, compileTemplate } from '../template.ts';

/** Sends an HTTP request; the result is the decoded answer (A2E, ApiCall). Any status but 2xx is an ExecutionError. */
export const apiCall: Operation<ApiCallConfig> = {
  description: OPERATIONS.ApiCall,
  callsApi: true,
  // RFC 9110 §9.2.1: a GET requests no change.
  hasEffect: ({ method }) => method !== 'GET',
  revision: ({ body }) => (hasDeepReference(body as Json | undefined) ? 2 : undefined),
  compile(config, compiling) {
    reportHeaders(config, compiling);
    const url = compileUrl(config.url);
    const query = Object.entries(config.query ?? {}).map(([name, value]) => ({
      name,
      fill: compileValue(value, compiling),
    }));
    const headers = Object.entries(config.headers ?? {}).map(([name, value]) => ({
      name,
      fill: compileValue(value, compiling),
    }));
    // A GET has no body: the checker reports one, and the cache's key does not include it.
    const content = config.method === 'GET' ? undefined : (config.body as Json | undefined);
    const body = compileBody(content, config.headers ?? {}, compiling);
    const key = config.idempotencyKey === undefined ? undefined : compileTemplate(config.idempotencyKey);
    const { method, timeout = DEFAULT_TIMEOUT } = config;
    const hasHeaders = body.headers.length + headers.length > 0;
    return async (step) => {
      const answer = await step.call({
        method,
        url: url(step),
        query: query.map(({ name, fill }) => [name, fill(step)] as const),
        headers: hasHeaders
          ? Object.fromEntries([
              ...body.headers,
              ...headers.map(({ name, fill }) => [name, sendable(name, fill(step))] as const),
            ])
          : NO_HEADERS,
        body: body.build(step),
        idempotencyKey: key && sendable('Idempotency-Key', key(step)),
        ...(config.idempotent === true && { idempotent: true }),
        timeoutMs: timeout,
      });
      if (answer.status < 200 || answer.status > 299) throw refusedAnswer(answer);
      step.account.reserve(answer.bytes.length);
      step.boundedBy(answer.bytes.length);
      step.askMemory(memoryOfJson(answer.bytes));
      const { value, written } = decodeAnswer(answer);
      step.cameFrom(() => answer.lineage ?? hash('sha256', answer.bytes, 'base64url'));
      if (written !== undefined) step.writtenAs(written);
      return value;
    };
  },
};

type Value = NonNullable<ApiCallConfig['headers'] | ApiCallConfig['query']>[string];

/** The value of a header or a query field. */
function compileValue(value: Value, compiling: Compiling): (step: StepContext) => string | CredentialUse {
  if (typeof value === 'string') return compileTemplate(value);
  if (typeof value !== 'object') return () => String(value);
  if ('credentialRef' in value) {
    const use = new CredentialUse(value.credentialRef.id);
    return () => use;
  }
  const path = compiling.path(value.path);
  return (step) => asText(step.read(path));
}

/** Reports headers that the gate would refuse, as far as their values are literal, before anything runs. */
function reportHeaders({ headers = {}, idempotencyKey = '' }: ApiCallConfig, { problem }: Compiling): void {
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const isTwice = seen.has(name.toLowerCase());
    const fault = isTwice ? 'must be given once' : headerFault(name, typeof value === 'string' ? value : '');
    if (fault !== undefined) problem(pointerTo('/headers', name), `headers.${name} ${fault}`);
    seen.add(name.toLowerCase());
  }
  const fault = headerFault('Idempotency-Key', idempotencyKey);
  if (fault !== undefined) problem('/idempotencyKey', `idempotencyKey ${fault}`);
}

/**
 * Refuses an inserted header value that the gate would refuse. A line break in data must not begin another header (RFC
 * 9110).
 */
function sendable<T extends string | CredentialUse>(name: string, value: T): T {
  if (typeof value !== 'string') return value;
  if (/[\r\n\0]/.test(value)) {
    throw dataError(`the header ${name} must be one line; the inserted value has several`, {
      suggestions: ['remove the line breaks with FormatText, replace'],
    });
  }
  const fault = headerFault(name, value);
  if (fault !== undefined) {
    throw dataError(`the header ${name} ${fault}; the inserted value has others`, {
      suggestions: ['encode it with EncodeDecode (url or base64), or send it in the body'],
    });
  }
  return value;
}

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});
