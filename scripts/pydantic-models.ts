import { AgentCard } from '../packages/protocols/src/a2a-messages/agent-card.ts';
import * as messages from '../packages/protocols/src/a2a-messages/message.ts';
import * as payloads from '../packages/protocols/src/a2a-messages/payloads.ts';
import type { JsonSchema } from '../packages/protocols/src/schema.ts';

/**
 * The Pydantic 2 models of the A2A messages, as the text of a Python module. A record that has a name in TypeScript has it in
 * Python too; one that stands inside another is named for where it stands.
 */
export function pydanticModels(): string {
  const classes = new Classes();
  classes.base();
  for (const [type, part] of Object.entries(PARTS)) classes.message(type, part);
  const union = Object.keys(PARTS).map((name) => `    ${name},`);
  return [
    HEADING,
    ...classes.texts,
    `\n\nA2AMessage = Annotated[\n    Union[\n${union.map((line) => `    ${line}`).join('\n')}\n    ],\n    Field(discriminator="message_type"),\n]\n`,
    '"""Any message, distinguished by ``message_type``."""\n',
  ].join('');
}

/** Writes each class once, after those it needs. */
class Classes {
  readonly texts: string[] = [];
  readonly #written = new Set<string>();

  base(): void {
    this.#write('BaseMessage', messages.BaseMessage, 'Message');
  }

  /** The part of a message type beyond its base message. */
  message(name: string, part: JsonSchema): void {
    const base = propertiesOf(messages.BaseMessage);
    const own = Object.entries(propertiesOf(part));
    const properties = Object.fromEntries(own.map(([field, schema]) => [field, narrowed(base[field] ?? {}, schema)]));
    const required = [...messages.BaseMessage.required, ...list(part['required'])];
    this.#write(name, { ...messages.BaseMessage, properties, required }, 'BaseMessage');
  }

  #write(name: string, schema: JsonSchema, parent = 'Record'): string {
    if (this.#written.has(name)) return name;
    this.#written.add(name);
    const required = new Set(list(schema['required']));
    const fields = Object.entries(propertiesOf(schema)).map(([field, inner]) => {
      const type = this.#type(inner, `${name}${pascal(field)}`);
      const isNull = inner['type'] === 'null' || list(inner['type']).includes('null');
      if (required.has(field)) return `    ${field}: ${type}`;
      if (isNull) return `    ${field}: ${type} = None`;
      return `    ${field}: Annotated[Optional[${type}], BeforeValidator(not_null)] = None`;
    });
    const isOpen = schema['additionalProperties'] !== false;
    const open = isOpen ? ['    model_config = ConfigDict(extra="allow", strict=True)\n'] : [];
    const description = typeof schema['description'] === 'string' ? [`    """${schema['description']}"""\n`] : [];
    this.texts.push(`\n\nclass ${name}(${parent}):\n${[...description, ...open, ...fields].join('\n')}\n`);
    return name;
  }

  #type(schema: JsonSchema, place: string): string {
    const { type } = schema;
    if ('const' in schema) return `Literal[${JSON.stringify(schema['const'])}]`;
    if ('enum' in schema)
      return `Literal[${list(schema['enum'])
        .map((value) => JSON.stringify(value))
        .join(', ')}]`;
    if (Array.isArray(schema['anyOf'])) {
      return `Union[${schema['anyOf'].map((inner: JsonSchema) => this.#type(inner, place)).join(', ')}]`;
    }
    if (Array.isArray(type)) return `Optional[${this.#type({ ...schema, type: type[0] }, place)}]`;
    switch (type) {
      case 'null':
        return 'None';
      case 'boolean':
        return 'bool';
      case 'string':
        return annotated('str', [...constraints(schema, STRING_WORDS, 'StringConstraints'), ...formatOf(schema)]);
      case 'integer':
        return annotated('int', ['BeforeValidator(whole)', ...constraints(schema, NUMBER_WORDS)]);
      case 'number':
        return annotated('float', constraints(schema, NUMBER_WORDS));
      case 'array': {
        const items = this.#type(schema['items'] as JsonSchema, place);
        return annotated(`List[${items}]`, constraints(schema, ARRAY_WORDS));
      }
      case 'object':
        if (!('properties' in schema)) return 'Dict[str, Any]';
        return this.#write(NAMES.get(schema) ?? place, schema);
      default:
        throw new Error(`no Python type for ${JSON.stringify(schema)}`);
    }
  }
}

function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return (schema['properties'] ?? {}) as Record<string, JsonSchema>;
}

/** Merges both: the part wins, and a pattern of the base stays. */
function narrowed(base: JsonSchema, part: JsonSchema): JsonSchema {
  return part['type'] === 'object' || 'anyOf' in part ? part : { ...base, ...part };
}

function list(words: unknown): readonly string[] {
  return Array.isArray(words) ? words : [];
}

function annotated(type: string, words: readonly string[]): string {
  return words.length === 0 ? type : `Annotated[${[type, ...words].join(', ')}]`;
}

function constraints(schema: JsonSchema, words: Readonly<Record<string, string>>, by = 'Field'): string[] {
  const given = Object.entries(words).filter(([keyword]) => keyword in schema);
  if (given.length === 0) return [];
  return [`${by}(${given.map(([keyword, word]) => `${word}=${literal(schema[keyword])}`).join(', ')})`];
}

/** Python's `\d` is any digit of any script, ours is one of ten. */
function literal(value: unknown): string {
  return typeof value === 'string' ? `r"${value.replaceAll('\\d', '[0-9]')}"` : String(value);
}

function formatOf({ format, contentEncoding }: JsonSchema): string[] {
  const named = FORMATS.get(format ?? contentEncoding);
  return named === undefined ? [] : [`AfterValidator(${named})`];
}

function pascal(field: string): string {
  return field.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

const PARTS: Readonly<Record<string, JsonSchema>> = {
  RequestMessage: messages.RequestPart,
  ResponseMessage: messages.ResponsePart,
  HandshakeMessage: messages.HandshakePart,
  HandshakeAckMessage: messages.HandshakeAckPart,
  ErrorMessage: messages.ErrorPart,
  DiscoverAgentsMessage: messages.DiscoverAgentsPart,
  AgentAnnouncementMessage: messages.AgentAnnouncementPart,
  GoodbyeMessage: messages.GoodbyePart,
};

const NAMES: ReadonlyMap<JsonSchema, string> = new Map<JsonSchema, string>([
  [messages.AuthenticationTag, 'AuthenticationTag'],
  [AgentCard, 'AgentCard'],
  [payloads.AgentInfo, 'AgentInfo'],
  [payloads.RequestPayload, 'RequestPayload'],
  [payloads.SuccessPayload, 'SuccessPayload'],
  [payloads.ErrorPayload, 'ErrorPayload'],
  [payloads.HandshakePayload, 'HandshakePayload'],
  [payloads.HandshakeAckPayload, 'HandshakeAckPayload'],
  [payloads.ErrorMessagePayload, 'ErrorMessagePayload'],
  [payloads.DiscoverAgentsPayload, 'DiscoverAgentsPayload'],
  [payloads.AgentAnnouncementPayload, 'AgentAnnouncementPayload'],
  [payloads.GoodbyePayload, 'GoodbyePayload'],
]);

const STRING_WORDS = { minLength: 'min_length', maxLength: 'max_length', pattern: 'pattern' };
const NUMBER_WORDS = { minimum: 'ge', maximum: 'le' };
const ARRAY_WORDS = { minItems: 'min_length', maxItems: 'max_length' };
const FORMATS: ReadonlyMap<unknown, string> = new Map([
  ['date-time', 'date_time'],
  ['uri', 'uri'],
  ['base64', 'base64'],
]);

const HEADING = `# Written by scripts/generate-schemas.ts from the schemas of the messages. Changes belong there.
"""Pydantic models of the A2A messages. Times and ids keep their received text, so that signatures stay valid."""

from typing import Annotated, Any, Dict, List, Literal, Optional, Union

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, StringConstraints

from .records import Message, Record
from .rules import base64, date_time, not_null, uri, whole
`;
