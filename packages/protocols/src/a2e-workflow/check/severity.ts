import type { Level } from '../message.ts';

export type Severity = 'error' | 'warning';

/** The severity of each finding. Every level checks everything; the level decides what stops a workflow. */
export function severityOf(code: FindingCode, level: Level): Severity {
  return CLASSES[FINDINGS[code]][level];
}

/**
 * `fatal`: certain to fail. `wrong`: a mistake that may still succeed. `doubtful`: fails in some runs only. `note`:
 * legal, but worth knowing.
 */
const CLASSES = {
  fatal: { strict: 'error', moderate: 'error', lenient: 'error' },
  wrong: { strict: 'error', moderate: 'error', lenient: 'warning' },
  doubtful: { strict: 'error', moderate: 'warning', lenient: 'warning' },
  note: { strict: 'warning', moderate: 'warning', lenient: 'warning' },
} as const satisfies Record<string, Record<Level, Severity>>;

/** Every code of the checker. */
export const FINDINGS = {
  unknown_operation: 'fatal',
  unknown_value: 'fatal',
  undefined_operation: 'fatal',
  cycle: 'fatal',
  too_deep: 'fatal',
  listed_twice: 'wrong',
  target_listed: 'wrong',
  unreachable_operation: 'doubtful',

  path_not_produced: 'fatal',
  read_before_write: 'fatal',
  loop_scope: 'fatal',
  wrong_type: 'fatal',
  near_template: 'doubtful',
  number_as_text: 'note',
  maybe_missing: 'doubtful',
  maybe_stored: 'doubtful',
  empty_input: 'doubtful',
  loop_overwrites_input: 'doubtful',
  overwritten_path: 'note',

  operation_not_allowed: 'fatal',
  callee_not_allowed: 'fatal',
  workflow_unknown: 'fatal',
  url: 'fatal',
  url_userinfo: 'fatal',
  templated_host: 'fatal',
  template_place: 'fatal',
  plain_http: 'note',
  api_not_allowed: 'fatal',
  api_unknown: 'doubtful',
  endpoint_unknown: 'doubtful',
  endpoint_not_allowed: 'fatal',
  credential_unavailable: 'fatal',
  credential_place: 'fatal',
  credential_place_unknown: 'doubtful',
  credential_host: 'fatal',
  data_flow: 'wrong',

  too_many_operations: 'fatal',
  too_many_steps: 'fatal',
  too_many_api_calls: 'doubtful',
  loop_size: 'note',
  nested_loop: 'note',
  api_call_in_loop: 'note',
  wait_exceeds_deadline: 'wrong',
  timeout_exceeds_deadline: 'note',
} as const satisfies Record<string, keyof typeof CLASSES>;

export type FindingCode = keyof typeof FINDINGS;
