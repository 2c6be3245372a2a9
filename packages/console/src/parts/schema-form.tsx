import { isObject, type Json, type JsonObject, parseJson } from '@dragoman/protocols';
import { useState } from 'preact/hooks';
import { Text, visibleText } from './text.tsx';

interface SchemaFormParts {
  /** The schema of an object. */
  readonly schema: JsonObject;
  readonly action: string;
  readonly submit: (value: JsonObject) => void;
}

/**
 * A form made from a JSON Schema: a field for each plain member, JSON for the rest. The server validates the values.
 */
export function SchemaForm({ schema, action, submit }: SchemaFormParts) {
  const members = isObject(schema['properties']) ? Object.entries(schema['properties']) : [];
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [whole, setWhole] = useState<string>();
  const [trouble, setTrouble] = useState<string>();
  const isWhole = whole !== undefined || members.length === 0;
  const send = (event: Event) => {
    event.preventDefault();
    const read = isWhole ? parsed('the arguments', whole ?? '{}') : collected(members, values, required);
    if (typeof read === 'string') return setTrouble(read);
    setTrouble(undefined);
    submit(read);
  };
  return (
    <form class="form" onSubmit={send}>
      {isWhole ? (
        <label>
          Arguments, as JSON
          <textarea
            rows={6}
            class="mono"
            value={whole ?? '{}'}
            onInput={(event) => setWhole(event.currentTarget.value)}
          />
        </label>
      ) : (
        members.map(([name, member]) => (
          <Field
            key={name}
            name={name}
            schema={isObject(member) ? member : {}}
            isRequired={required.includes(name)}
            value={values[name]}
            change={(value) => setValues({ ...values, [name]: value })}
          />
        ))
      )}
      {trouble !== undefined && (
        <p class="bad" role="alert">
          <Text value={trouble} />
        </p>
      )}
      <div class="bar">
        <button type="submit" class="primary">
          {action}
        </button>
        {members.length > 0 && (
          <button
            type="button"
            onClick={() => {
              const now = collected(members, values, []);
              setWhole(isWhole ? undefined : JSON.stringify(typeof now === 'string' ? {} : now, null, 2));
            }}
          >
            {isWhole ? 'As a form' : 'As JSON'}
          </button>
        )}
      </div>
    </form>
  );
}

interface FieldParts {
  readonly name: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  readonly value: string | undefined;
  readonly change: (value: string) => void;
}

function Field({ name, schema, isRequired, value = '', change }: FieldParts) {
  const { description, type } = schema;
  const choices = choicesOf(schema);
  const about = typeof description === 'string' ? visibleText(description) : undefined;
  return (
    <label>
      <span>
        <code>
          <Text value={name} />
        </code>
        {isRequired ? '' : ' (optional)'}
        {type !== undefined && ` ${String(type)}`}
      </span>
      {choices !== undefined ? (
        <select value={value} required={isRequired} onChange={(event) => change(event.currentTarget.value)}>
          <option value="" />
          {choices.map((one) => (
            <option key={one} value={one}>
              {visibleText(one)}
            </option>
          ))}
        </select>
      ) : type === 'string' && (schema['maxLength'] === undefined || Number(schema['maxLength']) > 200) ? (
        <textarea rows={2} value={value} required={isRequired} onInput={(event) => change(event.currentTarget.value)} />
      ) : type === 'integer' || type === 'number' ? (
        <input
          type="number"
          step={type === 'integer' ? 1 : 'any'}
          value={value}
          required={isRequired}
          onInput={(event) => change(event.currentTarget.value)}
        />
      ) : (
        <input
          value={value}
          required={isRequired}
          placeholder={type === 'string' ? '' : 'JSON'}
          onInput={(event) => change(event.currentTarget.value)}
        />
      )}
      {about !== undefined && <small class="dim">{about}</small>}
    </label>
  );
}

/** The value of the form, or its error. Empty fields are left out. */
function collected(
  members: readonly (readonly [string, Json])[],
  values: Readonly<Record<string, string>>,
  required: readonly Json[],
): JsonObject | string {
  const result: JsonObject = {};
  for (const [name, member] of members) {
    const text = values[name] ?? '';
    if (text === '' && !required.includes(name)) continue;
    const schema = isObject(member) ? member : {};
    const isText = schema['type'] === 'string' || (schema['type'] === undefined && choicesOf(schema) !== undefined);
    if (isText) {
      result[name] = text;
      continue;
    }
    const json = parseJson(text);
    if (!json.ok) return `${name} must be JSON, such as ${schema['type'] === 'array' ? '[1, 2]' : '{"a": 1}'}`;
    result[name] = json.value;
  }
  return result;
}

function parsed(what: string, text: string): JsonObject | string {
  const json = parseJson(text);
  return json.ok && isObject(json.value) ? json.value : `${what} must be a JSON object: {"name": value}`;
}

function choicesOf({ enum: choices, type }: JsonObject): string[] | undefined {
  if (Array.isArray(choices)) return choices.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
  return type === 'boolean' ? ['true', 'false'] : undefined;
}
