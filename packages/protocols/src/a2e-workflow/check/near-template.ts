import { show } from '../../validation.ts';
import { nameOf } from '../member.ts';
import { formatPath, parsePath } from '../path.ts';
import { about, type Draft, type Examined, type Rule } from './rule.ts';

/** Texts that look like templates of other languages: they would be sent literally. */
export const nearTemplates: Rule = ({ operations }) => {
  const drafts: Draft[] = [];
  for (const operation of operations.values()) {
    for (const { pointer, text, fields } of operation.uses.texts) {
      if (!text.includes('{')) continue;
      const isUrl = operation.uses.urls.some((url) => url.pointer === pointer);
      for (const { written, inside } of nearMisses(text, { fields, isUrl })) {
        const message = `${nameOf(pointer)} has ${show(written)}, which is not a valid template`;
        const suggestion = suggestionFor(inside, operations);
        drafts.push(about(operation, pointer, { code: 'near_template', message, suggestion }));
      }
    }
  }
  return drafts;
};

interface NearMiss {
  readonly written: string;
  readonly inside: string;
}

function nearMisses(text: string, { fields, isUrl }: { fields: boolean; isUrl: boolean }): readonly NearMiss[] {
  const found: NearMiss[] = [];
  for (const [written, doubled, dollar, single = ''] of text.matchAll(NEAR)) {
    if (found.length >= MOST_IN_ONE_TEXT) break;
    const inside = doubled ?? dollar;
    if (inside !== undefined) found.push({ written, inside });
    else if (isNearSingle(single, { fields, isUrl })) found.push({ written, inside: single });
  }
  return found;
}

/** A single brace may be prose; in a URL, a name in braces is a template too. */
function isNearSingle(inside: string, { fields, isUrl }: { fields: boolean; isUrl: boolean }): boolean {
  if (fields && FIELD.test(inside)) return false;
  return isUrl || /[.[/]/.test(inside);
}

function suggestionFor(inside: string, operations: ReadonlyMap<string, Examined>): string {
  if (ENVIRONMENT.test(inside)) {
    return 'environment variables are not read: write the value out, or use {"credentialRef": {"id": "…"}} for a secret';
  }
  const path = pathMeant(inside, operations);
  return path === undefined ? 'write {/workflow/…} with the path of the value' : `write {${path}}`;
}

/** The path that was probably meant by `item.id`, `users[0].id` or `steps.fetch.id`. */
function pathMeant(inside: string, operations: ReadonlyMap<string, Examined>): string | undefined {
  const plain = inside.trim().replace(/^[$./]+/, '');
  const [, first = '', rest = ''] = /^([\w-]+)(.*)$/.exec(plain) ?? [];
  if (first === 'item' || first === 'index') return checked(`/loop/${first}${rest}`);
  if (ROOTS.has(first) && /^[./]/.test(rest)) return checked(`/${first}/${rest.slice(1)}`);
  if (STEPS.has(first) && /^[./]/.test(rest)) return pathMeant(rest, operations);
  const output = operations.get(first)?.uses.writes[0];
  if (output !== undefined) return checked(`${formatPath(output.path)}${rest.replace(/^[./]outputs?\b/, '')}`);
  return checked(`/workflow/${plain}`);
}

function checked(path: string): string | undefined {
  return parsePath(path).ok ? path : undefined;
}

/** `{{…}}`, `${…}`, and `{name…}` with one brace. None of them contains a brace, so each is scanned once. */
const NEAR = /\{\{([^{}\n]{1,200})\}\}|\$\{([^{}\n]{1,200})\}|\{([A-Za-z_][\w-]*(?:[./][\w-]+|\[\d+\])*)\}/g;
const FIELD = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const ENVIRONMENT = /^[A-Z][A-Z0-9_]*$/;
const ROOTS: ReadonlySet<string> = new Set(['workflow', 'store', 'loop']);
const STEPS: ReadonlySet<string> = new Set(['steps', 'nodes', 'results', 'outputs']);
const MOST_IN_ONE_TEXT = 10;
