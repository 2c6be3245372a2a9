import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject } from '@dragoman/protocols';
import { parseYaml } from '@dragoman/server';
import { withEntry } from './edit-json.ts';
import type { KnownClient } from './known-clients.ts';
import { mergedEntry } from './merged-entry.ts';

/** The text of settings that have only this server. */
export function snippet(
  { format, member }: Pick<KnownClient, 'format' | 'member'>,
  name: string,
  entry: JsonObject,
): string {
  if (format === 'json') return `${JSON.stringify({ [member]: { [name]: entry } }, null, 2)}\n`;
  if (format === 'toml') return tomlTable(`${member}.${name}`, entry);
  return `${member}:\n${yamlEntry(name, entry)}`;
}

/**
 * Settings with the server added, and everything else unchanged, including what a user added to the entry of this name.
 * `undefined` if that is not possible; then the user has to edit the file.
 */
export function withServer(
  client: Pick<KnownClient, 'format' | 'member'>,
  text: string,
  name: string,
  entry: JsonObject,
): string | undefined {
  if (text.trim() === '') return snippet(client, name, entry);
  return EDITORS[client.format](client.member, text, name, entry);
}

type Editor = (member: string, text: string, name: string, entry: JsonObject) => string | undefined;

const EDITORS: Readonly<Record<KnownClient['format'], Editor>> = {
  json: (member, text, name, entry) => withEntry(text, { member, name, entry }),

  toml: (member, text, name, entry) => {
    // The servers are given as one value, after which TOML allows no table for them.
    if (new RegExp(`^[ \\t]*["']?${member}["']?[ \\t]*[.=]`, 'm').test(text)) return undefined;
    const header = new RegExp(`^\\[[ \\t]*${member}[ \\t]*\\.[ \\t]*["']?${name}["']?[ \\t]*\\].*\\n?`, 'm').exec(text);
    if (header === null) return `${text.trimEnd()}\n\n${tomlTable(`${member}.${name}`, entry)}`;
    // The entry ends at the next table. Its own subtables, such as the environment, are behind it and stay.
    const start = header.index + header[0].length;
    const next = /^[ \t]*\[/m.exec(text.slice(start));
    const end = next === null ? text.length : start + next.index;
    const own = `^[ \\t]*(["']?)(?:${Object.keys(entry).join('|')})\\1[ \\t]*=`;
    const value = `[ \\t]*(?:${TOML_LIST}|${TOML_TEXT}|[\\w.+-]+)[ \\t]*(?:#.*)?$\\r?\\n?`;
    const section = text.slice(start, end);
    const kept = section.replaceAll(new RegExp(own + value, 'gm'), '');
    // A value in another form has no known end.
    if (new RegExp(own, 'm').test(kept) || !isWholeToml(section)) return undefined;
    return `${text.slice(0, header.index)}${tomlTable(`${member}.${name}`, entry)}${kept}${text.slice(end)}`;
  },

  yaml: (member, given, name, entry) => {
    const text = given.endsWith('\n') ? given : `${given}\n`;
    const before = yamlIn(text);
    if (before === undefined) return undefined;
    const others = before[member] ?? {};
    if (!isObject(others)) return undefined;
    const merged = mergedEntry(others[name], entry);
    const isKnown = Object.hasOwn(others, name);
    const edited = yamlWith(text, { member, name, added: yamlEntry(name, merged), isKnown });
    // The text was assembled from parts, so it is parsed once more.
    const expected = { ...before, [member]: { ...others, [name]: merged } };
    return edited !== undefined && isDeepStrictEqual(yamlIn(edited), expected) ? edited : undefined;
  },
};

interface AddedYaml {
  readonly member: string;
  readonly name: string;
  /** The lines of the entry. */
  readonly added: string;
  readonly isKnown: boolean;
}

function yamlWith(text: string, { member, name, added, isKnown }: AddedYaml): string | undefined {
  const servers = new RegExp(`^${member}:[ \\t]*(?:\\{\\})?[ \\t]*\\n`, 'm').exec(text);
  if (servers === null)
    return new RegExp(`^["']?${member}["']?[ \\t]*:`, 'm').test(text) ? undefined : `${text}${member}:\n${added}`;
  const start = servers.index + servers[0].length;
  const before = `${text.slice(0, servers.index)}${member}:\n`;
  if (!isKnown) return `${before}${added}${text.slice(start)}`;
  const own = new RegExp(`^  ["']?${name}["']?:[ \\t]*\\n(?:(?: {3,}.*)?\\n)*`, 'm').exec(text.slice(start));
  if (own === null) return undefined;
  return `${before}${text.slice(start, start + own.index)}${added}${text.slice(start + own.index + own[0].length)}`;
}

/** Whether every list in a text also ends in it. `false` for a text with multi-line strings, which are not parsed. */
function isWholeToml(text: string): boolean {
  if (/"""|'''/.test(text)) return false;
  const bare = text.replaceAll(new RegExp(`${TOML_TEXT}|#.*`, 'g'), '');
  return bare.split('[').length === bare.split(']').length;
}

function tomlTable(name: string, entry: JsonObject): string {
  // Strings and lists of strings are the same in JSON and TOML.
  const lines = Object.entries(entry).map(([member, value]) => `${member} = ${JSON.stringify(value)}\n`);
  return `[${name}]\n${lines.join('')}`;
}

function yamlEntry(name: string, entry: JsonObject): string {
  // JSON values are valid YAML.
  const lines = Object.entries(entry).map(([member, value]) => `    ${member}: ${JSON.stringify(value)}\n`);
  return `  ${name}:\n${lines.join('')}`;
}

function yamlIn(text: string): JsonObject | undefined {
  const read = parseYaml(text);
  return read.ok && isObject(read.value) ? read.value : undefined;
}

const TOML_TEXT = `(?:"(?:\\\\.|[^"\\\\\\n])*"|'[^'\\n]*')`;
const TOML_LIST = `\\[(?:[\\s,]|#.*\\n|${TOML_TEXT})*\\]`;
