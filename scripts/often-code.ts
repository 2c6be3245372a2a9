import type { JsonSchema, SchemaSet } from '../packages/protocols/src/schema.ts';

/**
 * The code of `often.ts`, for the schemas of frequent messages. Each member has its own line, because looking up a member by a
 * name that is not in the code is slow.
 */
export function oftenCode({ schemas, often = [] }: SchemaSet): string {
  return often
    .map((name) => {
      const schema = schemas[name] as Shape;
      return `export const ${name} = { ${writer(schema)}, ${wholeness(schema)} };`;
    })
    .join('\n');
}

type Shape = JsonSchema & {
  readonly properties: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: unknown;
};

function writer(schema: Shape): string {
  const fields = Object.entries(schema.properties).filter(([member]) => !WRITTEN_BEFORE.has(member));
  const body = members({ of: 'fields', shape: { ...schema, properties: Object.fromEntries(fields) }, before: ',' });
  return `
    write(fields, { valueText, isPlain, standsAsItIs }) {
      let text = '';
      ${body}
      return text;
    }`;
}

function wholeness(schema: Shape): string {
  const names = [...new Set([...HEAD, ...Object.keys(schema.properties)])];
  const there = names.map((name) => `message[${JSON.stringify(name)}] !== undefined`);
  const within = Object.entries(schema.properties).map(([name, shape]) =>
    filled(`message[${JSON.stringify(name)}]`, shape),
  );
  return `
    isWhole(message) {
      if (!(${[...there, ...within.flat()].join(' && ')})) return false;
      let others = -${names.length};
      for (const _ in message) others++;
      return others === 0;
    }`;
}

/** That nothing of a value within is left to its defaults. */
function filled(value: string, { properties, items }: Shape): string[] {
  if (items !== undefined && JSON.stringify(items).includes('"default"'))
    throw new Error(`${value} is a list of what may have defaults`);
  if (properties === undefined) return [];
  return Object.entries(properties).flatMap(([name, shape]) => {
    const member = `${value}[${JSON.stringify(name)}]`;
    if (shape.properties !== undefined) throw new Error(`${member} is more than one level down`);
    return [...(hasDefault(shape) ? [`${member} !== undefined`] : []), ...filled(member, shape)];
  });
}

interface Members {
  /** The variable that holds the object. */
  readonly of: string;
  readonly shape: Shape;
  /** What stands before the first of them. */
  readonly before: string;
}

interface Member {
  readonly variable: string;
  /** The variable that counts what was found in the object. */
  readonly count: string;
  /** What stands before its value. */
  readonly head: string;
  readonly shape: Shape;
  readonly isRequired: boolean;
}

function members({ of, shape: { properties, required = [] }, before }: Members): string {
  const count = `${of}_found`;
  const all = Object.entries(properties).map(([name, shape], index): Member & { name: string } => ({
    name,
    variable: `${of}_${name}`,
    count,
    head: `${index === 0 ? before : ','}"${name}":`,
    shape,
    isRequired: required.includes(name),
  }));
  const [first] = all;
  if (first !== undefined && before !== ',' && !first.isRequired && !hasDefault(first.shape))
    throw new Error(`${first.name} may be left out, and what opens its object with it`);
  const read = all.map(({ name, variable }) => `const ${variable} = ${of}[${JSON.stringify(name)}];`);
  return `
    let ${count} = 0;
    ${read.join('\n')}
    ${runsOf(all).map(run).join('\n')}
    for (const _ in ${of}) ${count}--;
    if (${count} !== 0) return;`;
}

/** Groups neighbours that have plain defaults; each other member is alone. */
function runsOf(all: readonly Member[]): Member[][] {
  const runs: Member[][] = [];
  for (const member of all) {
    const last = runs.at(-1);
    if (last?.[0] !== undefined && hasPlainDefault(last[0].shape) && hasPlainDefault(member.shape)) last.push(member);
    else runs.push([member]);
  }
  return runs;
}

/** As one piece where all of them are as usual; else the outer ones each, and so on with those between them. */
function run(all: readonly Member[]): string {
  const [first] = all;
  const last = all.at(-1);
  if (first === undefined || last === undefined) return '';
  const each = first === last ? one(first) : `${one(first)}\n${run(all.slice(1, -1))}\n${one(last)}`;
  if (!hasPlainDefault(first.shape)) return each;
  const areUsual = all.map(({ variable, shape }) => `${variable} === ${JSON.stringify(shape['default'])}`).join(' && ');
  const usual = all.map(({ head, shape }) => `${head}${JSON.stringify(shape['default'])}`).join('');
  return `if (${areUsual}) { ${first.count} += ${all.length}; text += ${JSON.stringify(usual)}; } else { ${each} }`;
}

function one(member: Member): string {
  const { variable, count, head, shape, isRequired } = member;
  const left = hasDefault(shape) ? add(head + JSON.stringify(shape['default'])) : isRequired ? 'return;' : '';
  return `if (${variable} === undefined) { ${left} } else { ${count}++; ${written(member)} }`;
}

function written({ variable, head, shape }: Member): string {
  if (shape.properties !== undefined) {
    return `if (!isPlain(${variable})) return;
      ${members({ of: variable, shape, before: `${head}{` })}
      text += '}';`;
  }
  const longer = `{
    const other = valueText(${variable});
    if (other === undefined) return;
    text += ${JSON.stringify(head)} + other; }`;
  if (shape['type'] === 'boolean')
    return `if (${variable} === true) ${add(`${head}true`)} else if (${variable} === false) ${add(`${head}false`)} else ${longer}`;
  if (shape['type'] === 'string')
    return `if (typeof ${variable} === 'string' && standsAsItIs(${variable})) text += ${JSON.stringify(`${head}"`)} + ${variable} + '"'; else ${longer}`;
  return longer;
}

function add(text: string): string {
  return `text += ${JSON.stringify(text)};`;
}

function hasDefault(shape: Shape): boolean {
  return Object.hasOwn(shape, 'default');
}

/** A default that a value equals or not: neither an object nor a list. */
function hasPlainDefault(shape: Shape): boolean {
  return hasDefault(shape) && (typeof shape['default'] !== 'object' || shape['default'] === null);
}

/** What every message begins with. */
const HEAD = ['a2e', 'version', 'type', 'id', 'ts'];
/** By who writes the head of a message, and `req_id`, which ties an answer to what it answers. */
const WRITTEN_BEFORE: ReadonlySet<string> = new Set(['type', 'req_id']);
