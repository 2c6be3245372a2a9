import { FORBIDDEN_KEYS } from '../forbidden-key.ts';
import { parseUrl } from '../platform.ts';
import { MOST_PROBLEMS, show } from '../validation.ts';
import { mayPassPrototype, type Path, parsePath, THROUGH_PROTOTYPE } from './path.ts';

/** A text with places to fill: `Hello {/workflow/user/name}`. Templates are replaced, never evaluated. */
export interface Template {
  readonly parts: readonly TemplatePart[];
  readonly faults: readonly TemplateFault[];
}

export type TemplatePart =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'path'; readonly path: Path }
  /** FormatText only: a field of the input, or `value` for an input that is not an object. */
  | { readonly is: 'field'; readonly name: string };

export interface TemplateFault {
  readonly code: string;
  readonly expected: string;
  readonly suggestion?: string;
}

/** Whether a text needs parsing at all. */
export function hasTemplate(text: string): boolean {
  return text.includes('{/');
}

/** Fast path for texts without templates, or with plain ones; others are parsed. */
export function isPlainTemplate(text: string): boolean {
  return !text.includes('{') || (PLAIN_TEMPLATE.test(text) && !mayPassPrototype(text));
}

/**
 * Splits a text at `{/path}`. Other braces are text, so JSON in a string is unchanged. With `fields`,
 * `{name}` is a place too.
 */
export function parseTemplate(text: string, { fields = false } = {}): Template {
  const parts: TemplatePart[] = [];
  const faults: TemplateFault[] = [];
  const place = fields ? PATH_OR_FIELD : PATH_ONLY;
  let from = 0;
  const addText = (to: number) => {
    if (to > from) parts.push({ is: 'text', text: text.slice(from, to) });
  };
  for (const found of text.matchAll(place)) {
    if (faults.length >= MOST_PROBLEMS) break;
    const [whole, inside = '', close] = found;
    if (close === '') {
      faults.push({ code: 'template_syntax', expected: `must close the ${show(whole.slice(0, 24))} it opens with }` });
      continue;
    }
    addText(found.index);
    from = found.index + whole.length;
    if (!inside.startsWith('/')) {
      if (inside.split('.').some((name) => FORBIDDEN_KEYS.has(name))) faults.push(THROUGH_PROTOTYPE);
      parts.push({ is: 'field', name: inside });
      continue;
    }
    const parsed = parsePath(inside);
    if (parsed.ok) parts.push({ is: 'path', path: parsed.path });
    else faults.push({ ...parsed.fault, expected: `has {${inside}}, which ${parsed.fault.expected}` });
  }
  addText(text.length);
  return { parts, faults };
}

/** The statically known parts of an ApiCall's URL. */
export interface UrlParts {
  /** `https://api.example.com:8443`, lower-case, without a default port. */
  readonly origin: string;
  /** `api.example.com`, without the port. */
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  /** The fixed path, up to the first template or the query. */
  readonly fixedPath: string;
  /** The whole path with `*` for every template. */
  readonly pathPattern: string;
}

export type UrlOutcome =
  | { readonly ok: true; readonly url: UrlParts }
  | { readonly ok: false; readonly fault: TemplateFault };

/** Reads a URL template. Data may fill path segments and query values, never the host. */
export function parseUrlTemplate(text: string): UrlOutcome {
  const authority = AUTHORITY.exec(text);
  if (authority === null) {
    if (/^\s*\{/.test(text)) return refuse(HOST_FROM_DATA);
    const fix = /^[a-z0-9.-]+\.[a-z]{2,}(?:[/:?]|$)/i.test(text) ? `did you mean https://${text}?` : undefined;
    return refuse({ code: 'url', expected: 'must be an absolute http or https URL', ...(fix && { suggestion: fix }) });
  }
  if (/[{}]/.test(authority[2] ?? '')) return refuse(HOST_FROM_DATA);
  if (/[\s\\]/.test(text.replaceAll(IN_BRACES, ''))) {
    return refuse({ code: 'url', expected: 'must not hold spaces or backslashes', suggestion: 'percent-encode them' });
  }
  const parsed = parseUrl(text.replaceAll(IN_BRACES, '*'));
  if (parsed === undefined) return refuse({ code: 'url', expected: 'must be an absolute http or https URL' });
  if (parsed.username !== '' || parsed.password !== '') {
    const suggestion = 'put a credentialRef into the Authorization header';
    return refuse({ code: 'url_userinfo', expected: 'must not contain a user name or password', suggestion });
  }
  const rest = text.slice(authority[0].length);
  const misplaced = misplacedTemplate(rest);
  if (misplaced !== undefined) return refuse(misplaced);
  return { ok: true, url: partsOf(parsed.href, rest) };
}

/** The first template outside path segments and query values. */
function misplacedTemplate(rest: string): TemplateFault | undefined {
  const [beforeHash = '', hash] = splitOnce(rest, '#');
  const [, query] = splitOnce(beforeHash, '?');
  const names = (query ?? '').split('&').map((pair) => splitOnce(pair, '=')[0] ?? '');
  if (hash?.includes('{/') || names.some((name) => name.includes('{/'))) {
    return {
      code: 'template_place',
      expected: 'may have templates in path segments and query values only',
      suggestion: 'write ?name={/workflow/value}',
    };
  }
  return undefined;
}

function partsOf(href: string, rest: string): UrlParts {
  const [, scheme = '', hostname = '', port = ''] = ORIGIN.exec(href) ?? [];
  const secure = scheme === 'https';
  const path = (splitOnce(splitOnce(rest, '#')[0] ?? '', '?')[0] ?? '') || '/';
  return {
    origin: `${scheme}://${hostname}${port === '' ? '' : `:${port}`}`,
    host: hostname,
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    secure,
    fixedPath: path.slice(0, path.includes('{/') ? path.indexOf('{/') : path.length),
    pathPattern: path.replaceAll(/\{\/[^{}]*\}/g, '*'),
  };
}

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function refuse(fault: TemplateFault): UrlOutcome {
  return { ok: false, fault };
}

const HOST_FROM_DATA: TemplateFault = {
  code: 'templated_host',
  expected: 'must have a fixed scheme, host and port: data must not choose the host',
  suggestion: 'write the host literally, with templates after the first slash only',
};
// Excludes both braces: otherwise a row of opening braces would be scanned again from each of them.
const IN_BRACES = /\{[^{}]*\}/g;
const PATH_ONLY = /\{(\/[^{}]*)(\}|$|(?=\{))/g;
const PATH_OR_FIELD = /\{(\/[^{}]*|[A-Za-z0-9_][A-Za-z0-9_.-]*)(\}|$|(?=\{))/g;
const PLAIN_TEMPLATE = /^[^{}]*(?:\{\/(?:workflow|store|loop)(?:\/[A-Za-z0-9_-]{1,40}){1,8}\}[^{}]*)+$/;
const AUTHORITY = /^(https?):\/\/([^/?#]+)/i;
const ORIGIN = /^(https?):\/\/(\[[^\]]*\]|[^/:?#]*)(?::(\d+))?/;
