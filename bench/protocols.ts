// The cost of reading a 1 KB message of each dialect: `JSON.parse` alone, our `decode` from the same text (strict check,
// parse, validate, build the message), and the validation step alone against plain Zod and against Ajv compiling at run time.
import { Ajv } from 'ajv';
import { DIALECTS } from '../packages/protocols/src/dialects.ts';
import { formats } from '../packages/protocols/src/formats.ts';
import * as mailbox from '../packages/protocols/src/generated/a2a-mailbox.js';
import * as messages from '../packages/protocols/src/generated/a2a-messages.js';
import * as wire from '../packages/protocols/src/generated/a2e-wire.js';
import * as workflow from '../packages/protocols/src/generated/a2e-workflow.js';
import * as e2a from '../packages/protocols/src/generated/e2a.js';
import { parseJson } from '../packages/protocols/src/json.ts';
import type { Validator } from '../packages/protocols/src/validation.ts';
import { schemaSets } from '../scripts/schema-sets.ts';
import { MESSAGES } from './protocols/messages.ts';
import { measure, table } from './support/measure.ts';

export async function run(): Promise<readonly string[]> {
  const ajv = new Ajv({ allErrors: true, strictTypes: false, strictRequired: false, formats: { ...formats } });
  for await (const set of schemaSets()) for (const schema of Object.values(set.schemas)) ajv.addSchema(schema);
  const rows = [
    ['1 KB message', 'bytes', 'JSON.parse', 'decode', 'ratio', 'validate', 'runtime Ajv', 'Zod', 'Zod ratio'],
  ];
  const shortfalls: string[] = [];
  for (const sample of MESSAGES) {
    const dialect = DIALECTS.find((one) => one.name === sample.dialect);
    const compiled = VALIDATORS[sample.dialect]?.[sample.validator];
    const atRunTime = ajv.getSchema(sample.schemaId);
    if (dialect === undefined || compiled === undefined || atRunTime === undefined) {
      throw new Error(`${sample.dialect}: no ${sample.validator}, or no schema ${sample.schemaId}`);
    }
    const text = JSON.stringify(sample.message);
    const value = JSON.parse(text);
    const outcome = dialect.decode(value, NOW);
    if (!outcome.ok) throw new Error(`${sample.dialect}: the sample is refused: ${JSON.stringify(outcome.issues)}`);
    const validated = sample.validated(value);
    if (!compiled(validated) || !atRunTime(validated) || !sample.zod.safeParse(validated).success) {
      throw new Error(`${sample.dialect}: the validators do not agree that the sample is valid`);
    }
    const time = measure({
      parse: () => JSON.parse(text),
      decode: () => {
        const read = parseJson(text);
        return read.ok && dialect.decode(read.value, NOW);
      },
      validate: () => compiled(validated),
      runtimeAjv: () => atRunTime(validated),
      zod: () => sample.zod.safeParse(validated),
    });
    const ratio = time.decode / time.parse;
    const zodRatio = time.zod / time.validate;
    const name = sample.title ?? sample.dialect;
    rows.push([
      name,
      String(text.length),
      ...[time.parse, time.decode].map(microseconds),
      `${ratio.toFixed(2)} ×`,
      ...[time.validate, time.runtimeAjv, time.zod].map(microseconds),
      `${zodRatio.toFixed(1)} ×`,
    ]);
    if (ratio > 2) shortfalls.push(`${name}: decode takes ${ratio.toFixed(2)} × JSON.parse, at most 2.0 wanted`);
    if (zodRatio < 6)
      shortfalls.push(`${name}: validation is ${zodRatio.toFixed(1)} × faster than Zod, at least 6 wanted`);
  }
  console.log(table(rows));
  console.log('\nratio: decode / JSON.parse, at most 2.0. Zod ratio: Zod / validate, at least 6.');
  return shortfalls;
}

function microseconds(nanoseconds: number): string {
  return `${(nanoseconds / 1000).toFixed(2)} µs`;
}

const VALIDATORS: Readonly<Record<string, Readonly<Record<string, Validator>>>> = {
  'a2a-mailbox': { ...mailbox },
  'a2a-messages': { ...messages },
  'a2e-wire': { ...wire },
  'a2e-workflow': { ...workflow },
  e2a: { ...e2a },
};

const NOW = new Date('2026-03-28T12:00:30.000Z');
