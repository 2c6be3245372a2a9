import type { Json } from '../../json.ts';

/** ACP's reason for the end of a prompt. Any other word means a normal end. */
export function acpStopReason(given: Json | undefined): (typeof STOP_REASONS)[number] {
  return STOP_REASONS.find((known) => known === given) ?? 'end_turn';
}

const STOP_REASONS = ['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'] as const;
