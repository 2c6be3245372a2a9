import {
  type Change,
  type ExplainedFrame,
  type Explanation,
  isObject,
  type Json,
  type JsonObject,
} from '@dragoman/protocols';
import { membersWithContent } from './members-with-content.ts';
import type { Paint } from './paint.ts';
import { visible } from './visible.ts';
import { wrap } from './wrap.ts';

/** An explanation as text, in the order of the events. */
export function explanationText(explanation: Explanation, paint: Paint, columns = USUAL_COLUMNS): string {
  const { bold, dim } = paint;
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ['', bold(title), ...lines.flatMap((line) => wrapped(visible(line), columns))];
  const { received, way_in: way } = explanation;
  const lines = [
    `${bold(visible(explanation.request_id))} ${dim(visible(`${explanation.kind} of ${explanation.agent_id}, ${explanation.accepted_at}, ${explanation.state}${explanation.node === null ? '' : ` on ${explanation.node}`}`))}`,
    ...section(`1. Received: ${received.dialect}, ${received.bytes} bytes`, [
      received.text ?? `(${received.note ?? 'not kept'})`,
    ]),
    ...section(
      '2. Allowed',
      explanation.allowed.map(({ who, known_by, what, rule }) => `${who} (${known_by}) ${what}: ${rule}`),
    ),
    ...section('3. Envelope', explanation.envelope === null ? [] : [textOf(membersWithContent(explanation.envelope))]),
    ...section('4. Changes by the conversion', [
      ...changeLines('dropped ', way.dropped),
      ...changeLines('changed ', way.changed),
      ...changeLines('added   ', way.invented),
      ...way.warnings.map(({ pointer, message }) => `warning  ${pointer} ${message}`),
    ]),
    ...section('5. Answer', answerLines(explanation)),
    ...section(
      '6. Callbacks',
      explanation.callbacks.map((one) => textOf(one)),
    ),
    ...section('Outcome', explanation.outcome === null ? [] : [textOf(explanation.outcome)]),
    ...section('The same id was also used by', explanation.also_by),
  ];
  return `${lines.join('\n')}\n`;
}

function answerLines({ answers, answers_left_out: leftOut }: Explanation): string[] {
  const lines = answers.flatMap((frame) => [
    `${frame.sequence} ${frame.response_kind} ${textOf(bodyOf(frame))}`,
    ...frame.projections.flatMap(({ dialect, message, dropped, invented }) => [
      message === null ? `    no message in ${dialect}` : `    in ${dialect}: ${textOf(message)}`,
      ...(message === null ? [] : changeLines('    dropped ', dropped)),
      ...changeLines('    added  ', invented),
    ]),
  ]);
  return leftOut === 0 ? lines : [...lines, `… and ${leftOut} frames between`];
}

function changeLines(label: string, changes: readonly Change[]): string[] {
  return changes.map(({ pointer, value, why }) => {
    const now = value === undefined ? '' : ` ${textOf(value)}`;
    return `${label} ${pointer}${now}  (${why})`;
  });
}

/** An indented line. What does not fit continues on the next lines, indented further. */
function wrapped(line: string, columns: number): string[] {
  const indent = ' '.repeat(2 + (/^ */.exec(line)?.[0].length ?? 0));
  const [first = '', ...rest] = wrap(line.trimStart(), Math.max(NARROWEST, columns - indent.length - 4));
  return [`${indent}${first}`, ...rest.map((part) => `${indent}    ${part}`)];
}

/** A value as JSON, without members that are null. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (!isObject(member as Json)) return member;
    return Object.fromEntries(Object.entries(member as JsonObject).filter(([, one]) => one !== null));
  });
}

function bodyOf({ frame }: ExplainedFrame): Json {
  return isObject(frame) ? (frame['body'] ?? null) : frame;
}

/** The width if there is no screen. */
const USUAL_COLUMNS = 100;
const NARROWEST = 30;
