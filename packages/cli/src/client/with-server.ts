import { isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { parseYaml } from '@dragoman/server';
import type { KnownClient } from './known-clients.ts';

/** The server under this name in settings as text. */
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
 * Settings with the server in them, and everything else as it was; `undefined` where that cannot be promised, as with comments in
 * JSON. Then the user has to do it.
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
  json: (member, text, name, entry) => {
    let settings: Json;
    try {
      settings = JSON.parse(text) as Json;
    } catch {
      return undefined;
    }
    if (!isObject(settings)) return undefined;
    const servers = settings[member] ?? {};
    if (!isObject(servers)) return undefined;
    const indent = /^[ \t]+(?=")/m.exec(text)?.[0] ?? 2;
    return `${JSON.stringify({ ...settings, [member]: { ...servers, [name]: entry } }, null, indent)}\n`;
  },

  toml: (member, text, name, entry) => {
    const table = tomlTable(`${member}.${name}`, entry);
    const header = new RegExp(`^\\[${member}\\.${name}\\][ \\t]*$`, 'm').exec(text);
    if (header === null) return `${text.trimEnd()}\n\n${table}`;
    // Up to the next table; those of its own, such as its environment, stay behind it.
    const next = /^\[/m.exec(text.slice(header.index + 1));
    const rest = next === null ? '' : `\n${text.slice(header.index + 1 + next.index)}`;
    return `${text.slice(0, header.index)}${table}${rest}`;
  },

  yaml: (member, text, name, entry) => {
    const before = yamlIn(text);
    if (before === undefined || isObject(before[member] ?? {}) === false) return undefined;
    const others = (before[member] ?? {}) as JsonObject;
    if (Object.hasOwn(others, name)) return JSON.stringify(others[name]) === JSON.stringify(entry) ? text : undefined;
    const added = yamlEntry(name, entry);
    const line = new RegExp(`^${member}:[ \\t]*(?:\\{\\})?[ \\t]*$`, 'm').exec(text);
    if (line === null && before[member] !== undefined) return undefined;
    const edited =
      line === null
        ? `${text.trimEnd()}\n${member}:\n${added}`
        : `${text.slice(0, line.index)}${member}:\n${added}${text.slice(line.index + line[0].length + 1)}`;
    // The text was assembled from parts, so it is parsed once more.
    const after = yamlIn(edited);
    const expected = { ...before, [member]: { [name]: entry, ...others } };
    return after !== undefined && sorted(after) === sorted(expected) ? edited : undefined;
  },
};

function tomlTable(name: string, entry: JsonObject): string {
  // Texts and lists of them are written alike in JSON and TOML.
  const lines = Object.entries(entry).map(([member, value]) => `${member} = ${JSON.stringify(value)}\n`);
  return `[${name}]\n${lines.join('')}`;
}

function yamlEntry(name: string, entry: JsonObject): string {
  // JSON is YAML.
  const lines = Object.entries(entry).map(([member, value]) => `    ${member}: ${JSON.stringify(value)}\n`);
  return `  ${name}:\n${lines.join('')}`;
}

function yamlIn(text: string): JsonObject | undefined {
  const read = parseYaml(text);
  return read.ok && isObject(read.value) ? read.value : undefined;
}

function sorted(value: JsonObject): string {
  return JSON.stringify(value, (_, part) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}
