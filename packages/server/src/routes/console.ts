import { type Failure, failure, isObject } from '@dragoman/protocols';
import type { ConsoleFiles } from '../console/console-files.ts';
import type { SignInTokens } from '../console/sign-in-tokens.ts';
import { negotiateType } from '../edges/accept.ts';
import type { Answer, InboundRequest, Route } from '../http/route.ts';

export interface ConsoleContext {
  /** `undefined` where the console is not built, or switched off. */
  readonly files: ConsoleFiles | undefined;
  readonly tokens: SignInTokens;
  readonly version: string;
}

/**
 * The web console, as static files. Everything it shows comes from the other routes, with the key of the signed-in
 * user.
 */
export function consoleRoutes(context: ConsoleContext): Route[] {
  const { files, tokens } = context;
  return [
    {
      method: 'GET',
      path: '/',
      access: 'public',
      counts: false,
      summary: 'The console in a browser; for other clients, where the API is described.',
      answers: { 'application/json': {}, 'text/html': { type: 'string' } },
      handle: (request) => root(request, context),
    },
    {
      method: 'GET',
      path: '/console/*',
      access: 'public',
      counts: false,
      summary: 'A page of the console.',
      answers: { 'text/html': { type: 'string' } },
      handle: (request) => fileAnswer(request, 'index.html', files),
    },
    {
      method: 'GET',
      path: '/console/assets/:file',
      access: 'public',
      counts: false,
      summary: 'A script or style sheet of the console. Its name changes with its content.',
      answers: { 'text/javascript': { type: 'string' }, 'text/css': { type: 'string' } },
      handle: (request) => fileAnswer(request, `console/assets/${request.params['file'] ?? ''}`, files),
    },
    {
      method: 'POST',
      path: '/console/sign-in',
      access: 'public',
      counts: false,
      summary: 'Exchange the one-time token of a sign-in link for its keys.',
      body: { contentTypes: ['application/json'], maxBytes: 1024, schema: SIGN_IN },
      handle: async (request) => {
        const json = await request.readJson();
        const token = json.ok && isObject(json.value) ? json.value['token'] : undefined;
        if (typeof token !== 'string') return failure('invalid_message', {}, 'The body must be {"token": TEXT}.');
        const keys = tokens.redeem(token);
        if (keys === undefined) return TOKEN_GONE;
        return { status: 200, headers: { 'Cache-Control': 'no-store' }, json: { ...keys } };
      },
    },
  ];
}

function root(
  request: InboundRequest,
  { files, version }: ConsoleContext,
): Answer | Failure | Promise<Answer | Failure> {
  const wanted = negotiateType(request.headers.accept, ['application/json', 'text/html']);
  if (wanted === 'text/html' && files !== undefined) return fileAnswer(request, 'index.html', files);
  const json = {
    service: 'dragoman',
    version,
    documentation: 'docs/README.md in the repository and in the container image',
    openapi: '/openapi.json',
    health: '/health',
    metrics: '/metrics',
    agent_card: '/.well-known/agent-card.json',
    ...(files !== undefined && { console: '/' }),
  };
  return { status: 200, headers: { Vary: 'Accept', 'Cache-Control': 'no-cache' }, json };
}

async function fileAnswer(
  { headers }: InboundRequest,
  name: string,
  files: ConsoleFiles | undefined,
): Promise<Answer | Failure> {
  if (files === undefined) return NOT_BUILT;
  const isGzip = /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''));
  const file = await files.read(name, { isGzip });
  if (file === undefined) return failure('not_found');
  const isPage = name === 'index.html';
  return {
    status: 200,
    headers: {
      ...SAFETY,
      'Content-Type': file.type,
      ...(isGzip && { 'Content-Encoding': 'gzip' }),
      Vary: isPage ? 'Accept, Accept-Encoding' : 'Accept-Encoding',
      'Cache-Control': isPage ? 'no-cache' : 'public, max-age=31536000, immutable',
    },
    longText: { parts: [file.bytes] },
  };
}

/**
 * The page loads nothing from elsewhere, runs no inline scripts, and is shown in no frame. Text of agents becomes HTML
 * only through the sanitizer, the only Trusted Types policy that is allowed.
 */
const SAFETY = {
  'Content-Security-Policy': [
    "default-src 'self'",
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types dompurify',
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

const SIGN_IN = {
  type: 'object',
  required: ['token'],
  properties: {
    token: { type: 'string', maxLength: 128, description: 'From the link. It works once, for 15 minutes.' },
  },
  additionalProperties: false,
} as const;

const TOKEN_GONE = failure(
  'unauthenticated',
  { suggestions: ['sign in with a key', 'start the server again for a fresh link'] },
  'The sign-in link was used before, or has expired.',
);
const NOT_BUILT = failure(
  'not_found',
  { suggestions: ['npm run build builds the console', '`console: true` in dragoman.yaml serves it'] },
  'This server has no console.',
);
