import { describeNamespace } from '../namespace.contract.ts';
import { learn } from './learn.ts';

describeNamespace(learn, [
  [
    'learn/feedback/req',
    { feedbacks: [{ polarity: 'neutral' }] },
    {
      feedbacks: [
        {
          polarity: 'neutral',
          feedback_id: '',
          correlation_id: '',
          session_id: '',
          rated_turn: null,
          score: 0,
          dimension: 'helpfulness',
          confidence: 1,
          comment: '',
          correction: '',
          correction_span: null,
          source: 'human',
          annotator_id: '',
        },
      ],
    },
  ],
  ['learn/feedback/resp', {}, { req_id: '', recorded: 0, new_score: null }],
  [
    'learn/experience/req',
    { experiences: [{}] },
    {
      experiences: [
        { experience_id: '', state: {}, action: {}, reward: 0, next_state: {}, done: false, episode_id: '', step: 0 },
      ],
    },
  ],
  ['learn/experience/resp', {}, { req_id: '', stored: 0 }],
  ['learn/adapt/req', {}, { component_name: '', strategy: 'ppo' }],
  [
    'learn/adapt/resp',
    { updated: [{ component_name: 'c' }] },
    {
      req_id: '',
      updated: [
        {
          component_name: 'c',
          calls_total: 0,
          calls_success: 0,
          calls_failed: 0,
          avg_duration_ms: 0,
          avg_score: 0,
          last_called: 0,
          p95_duration_ms: 0,
        },
      ],
      message: '',
    },
  ],
  ['learn/stats/req', {}, { component_name: '' }],
  ['learn/stats/resp', {}, { req_id: '', components: [] }],
  ['learn/refinement/plan/req', {}, { component_name: '', scope: 'local' }],
  ['learn/refinement/plan/resp', {}, { req_id: '', plan_id: '', proposals: [], status: '' }],
  ['learn/refinement/apply/req', {}, { proposal: {} }],
  [
    'learn/refinement/apply/resp',
    {},
    { req_id: '', refinement_id: '', applied_edits: 0, failed_edits: 0, rollback_available: false, error: '' },
  ],
  ['learn/refinement/rollback/req', { refinement_id: 'r' }, { refinement_id: 'r' }],
  ['learn/refinement/rollback/resp', {}, { req_id: '', refinement_id: '', rolled_back: false, error: '' }],
  ['learn/refinement/review/req', {}, { proposal: {} }],
  [
    'learn/refinement/review/resp',
    {},
    { req_id: '', approved: false, confidence_adjusted: 0, reasons: [], risk_level: 'low' },
  ],
  ['learn/refinement/history/req', {}, {}],
  ['learn/refinement/history/resp', {}, { req_id: '', entries: [] }],
]);
