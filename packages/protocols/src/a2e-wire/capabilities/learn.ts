import {
  anything,
  type Complete,
  choice,
  count,
  flag,
  list,
  number,
  numberOrNull,
  object,
  record,
  records,
  req_id,
  requiredName,
  string,
  strings,
  text,
  textOrNull,
  time,
} from '../fields.ts';
import { answer, type Namespace, request } from '../message-row.ts';

export const POLARITIES = ['positive', 'negative', 'neutral', 'corrective'] as const;
export const DIMENSIONS = ['correctness', 'helpfulness', 'safety', 'tone', 'plan_quality'] as const;
export const FEEDBACK_SOURCES = ['human', 'env', 'self'] as const;
export const ADAPT_STRATEGIES = ['ppo', 'ucb1', 'epsilon_greedy', 'softmax', 'custom'] as const;

/** The turn a feedback is about. */
export const RatedTurn = {
  ...object({ prompt: string, response: string, model: string, environment: anything, version: textOrNull }, [
    'prompt',
    'response',
    'model',
  ]),
  type: ['object', 'null'],
  default: null,
} as const;

export const Feedback = {
  ...object(
    {
      feedback_id: text(''),
      correlation_id: text(''),
      session_id: text(''),
      rated_turn: RatedTurn,
      polarity: { enum: POLARITIES },
      score: { type: 'number', minimum: -1, maximum: 1, default: 0 },
      dimension: choice(DIMENSIONS, 'helpfulness'),
      confidence: { type: 'number', minimum: 0, maximum: 1, default: 1 },
      comment: text(''),
      correction: text(''),
      correction_span: { type: ['array', 'null'], items: { type: 'integer' }, minItems: 2, maxItems: 2, default: null },
      source: choice(FEEDBACK_SOURCES, 'human'),
      annotator_id: text(''),
      ts: time,
    },
    ['polarity'],
  ),
  // Corrective feedback must contain the correction.
  if: { required: ['polarity'], properties: { polarity: { const: 'corrective' } } },
  // biome-ignore lint/suspicious/noThenProperty: a JSON Schema keyword
  then: { required: ['correction'], properties: { correction: { minLength: 1 } } },
} as const;
export type Feedback = Complete<typeof Feedback>;

/** One step of a trajectory, for replay. */
export const Experience = object({
  experience_id: text(''),
  state: record,
  action: record,
  reward: number(0),
  next_state: record,
  done: flag(false),
  episode_id: text(''),
  step: count(0),
  ts: time,
});
export type Experience = Complete<typeof Experience>;

/** Statistics of a skill, tool or subagent. */
export const PerformanceRecord = object(
  {
    component_name: string,
    calls_total: count(0),
    calls_success: count(0),
    calls_failed: count(0),
    avg_duration_ms: number(0),
    avg_score: number(0),
    last_called: number(0),
    p95_duration_ms: number(0),
  },
  ['component_name'],
);
export type PerformanceRecord = Complete<typeof PerformanceRecord>;

export const LearnFeedbackRequest = object({ feedbacks: { type: 'array', items: Feedback } }, ['feedbacks']);
export const LearnFeedbackResponse = object({ req_id, recorded: count(0), new_score: numberOrNull });
export const LearnExperienceRequest = object({ experiences: list(Experience) });
export const LearnExperienceResponse = object({ req_id, stored: count(0) });
// An empty component_name means all components.
export const LearnAdaptRequest = object({ component_name: text(''), strategy: choice(ADAPT_STRATEGIES, 'ppo') });
export const LearnAdaptResponse = object({ req_id, updated: list(PerformanceRecord), message: text('') });
export const LearnStatsRequest = object({ component_name: text('') });
export const LearnStatsResponse = object({ req_id, components: list(PerformanceRecord) });

export const RefinementPlanRequest = object({ component_name: text(''), scope: text('local') });
export const RefinementPlanResponse = object({ req_id, plan_id: text(''), proposals: records, status: text('') });
export const RefinementApplyRequest = object({ proposal: record });
export const RefinementApplyResponse = object({
  req_id,
  refinement_id: text(''),
  applied_edits: count(0),
  failed_edits: count(0),
  rollback_available: flag(false),
  error: text(''),
});
export const RefinementRollbackRequest = object({ refinement_id: requiredName }, ['refinement_id']);
export const RefinementRollbackResponse = object({
  req_id,
  refinement_id: text(''),
  rolled_back: flag(false),
  error: text(''),
});
export const RefinementReviewRequest = object({ proposal: record });
export const RefinementReviewResponse = object({
  req_id,
  approved: flag(false),
  confidence_adjusted: number(0),
  reasons: strings,
  risk_level: text('low'),
});
export const RefinementHistoryRequest = object({});
export const RefinementHistoryResponse = object({ req_id, entries: records });

export const learn = {
  capability: 'learning',
  types: {
    'learn/feedback/req': request(LearnFeedbackRequest, 'learn/feedback/resp', { changes: true }),
    'learn/feedback/resp': answer(LearnFeedbackResponse),
    'learn/experience/req': request(LearnExperienceRequest, 'learn/experience/resp', { changes: true }),
    'learn/experience/resp': answer(LearnExperienceResponse),
    'learn/adapt/req': request(LearnAdaptRequest, 'learn/adapt/resp', { changes: true }),
    'learn/adapt/resp': answer(LearnAdaptResponse),
    'learn/stats/req': request(LearnStatsRequest, 'learn/stats/resp'),
    'learn/stats/resp': answer(LearnStatsResponse),
    'learn/refinement/plan/req': request(RefinementPlanRequest, 'learn/refinement/plan/resp'),
    'learn/refinement/plan/resp': answer(RefinementPlanResponse),
    'learn/refinement/apply/req': request(RefinementApplyRequest, 'learn/refinement/apply/resp', { changes: true }),
    'learn/refinement/apply/resp': answer(RefinementApplyResponse),
    'learn/refinement/rollback/req': request(RefinementRollbackRequest, 'learn/refinement/rollback/resp', {
      changes: true,
    }),
    'learn/refinement/rollback/resp': answer(RefinementRollbackResponse),
    'learn/refinement/review/req': request(RefinementReviewRequest, 'learn/refinement/review/resp'),
    'learn/refinement/review/resp': answer(RefinementReviewResponse),
    'learn/refinement/history/req': request(RefinementHistoryRequest, 'learn/refinement/history/resp'),
    'learn/refinement/history/resp': answer(RefinementHistoryResponse),
  },
} as const satisfies Namespace;
