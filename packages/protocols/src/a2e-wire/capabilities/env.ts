import type { JsonObject } from '../../json.ts';
import type { Issue } from '../../outcome.ts';
import { OpaqueObject } from '../../schema.ts';
import {
  anything,
  type Complete,
  choice,
  count,
  flag,
  integerOrNull,
  list,
  numberOrNull,
  object,
  record,
  recordOrNull,
  records,
  req_id,
  requiredName,
  string,
  text,
  textOrNull,
  time,
} from '../fields.ts';
import { answer, type Namespace, notice, request } from '../message-row.ts';

export const RENDER_MODES = ['screenshot', 'rgb_array', 'text'] as const;

export const EnvObservation = object(
  {
    episode_id: string,
    step_num: count(0),
    state: record,
    done: flag(false),
    truncated: flag(false),
    reward: { type: ['number', 'null'], default: 0 },
    created_at: time,
    metadata: record,
  },
  ['episode_id'],
);
export type EnvObservation = Complete<typeof EnvObservation>;

export const EnvResetRequest = object({ env_name: requiredName, spec: record, seed: integerOrNull, options: record }, [
  'env_name',
]);
export const EnvObserved = object({ req_id, obs: EnvObservation }, ['obs']);
export const EnvStepRequest = object({ episode_id: requiredName, action: OpaqueObject }, ['episode_id', 'action']);
export const EnvObserveRequest = object({ episode_id: requiredName }, ['episode_id']);
export const EnvCloseRequest = object({ episode_id: requiredName }, ['episode_id']);
export const EnvCloseResponse = object({ req_id, closed: flag(true) });
export const EnvSpaceRequest = object({ env_name: requiredName }, ['env_name']);
export const EnvSpaceResponse = object({ req_id, action_space: record, state_schema: record });
export const EnvRenderRequest = object({ episode_id: requiredName, mode: choice(RENDER_MODES, 'screenshot') }, [
  'episode_id',
]);
export const EnvRenderResponse = object({ req_id, render: anything });
export const EnvPlanRequest = object({ episode_id: textOrNull, state: recordOrNull });
export const EnvPlanResponse = object({ req_id, suggested_actions: records });
export const EnvBatchStepRequest = object(
  {
    episode_ids: { type: 'array', items: requiredName },
    actions: { type: 'array', items: OpaqueObject },
  },
  ['episode_ids', 'actions'],
);
export const EnvBatchStepResponse = object({ req_id, results: list(object({ obs: EnvObservation }, ['obs'])) });
export const EnvExperienceListRequest = object({ episode_id: text(''), limit: count(100) });
export const EnvExperienceListResponse = object({ req_id, episodes: records });

/** A spontaneous change of the environment; `delta` has only the changed members. */
export const EnvStatePush = object(
  {
    episode_id: string,
    step_id: { type: 'integer', minimum: 0 },
    action_id: textOrNull,
    event_type: requiredName,
    reason: text(''),
    delta: record,
    reward: numberOrNull,
    reward_info: record,
    terminal: flag(false),
  },
  ['episode_id', 'step_id', 'event_type'],
);

export const env = {
  capability: 'env',
  types: {
    'env/reset/req': request(EnvResetRequest, 'env/reset/resp', { changes: true }),
    'env/reset/resp': answer(EnvObserved),
    'env/step/req': request(EnvStepRequest, 'env/step/resp', { changes: true }),
    'env/step/resp': answer(EnvObserved),
    'env/observe/req': request(EnvObserveRequest, 'env/observe/resp'),
    'env/observe/resp': answer(EnvObserved),
    'env/close/req': request(EnvCloseRequest, 'env/close/resp', { changes: true }),
    'env/close/resp': answer(EnvCloseResponse),
    'env/space/req': request(EnvSpaceRequest, 'env/space/resp'),
    'env/space/resp': answer(EnvSpaceResponse),
    'env/render/req': request(EnvRenderRequest, 'env/render/resp'),
    'env/render/resp': answer(EnvRenderResponse),
    'env/plan/req': request(EnvPlanRequest, 'env/plan/resp'),
    'env/plan/resp': answer(EnvPlanResponse),
    'env/batch_step/req': request(EnvBatchStepRequest, 'env/batch_step/resp', {
      changes: true,
      check: oneActionAnEpisode,
    }),
    'env/batch_step/resp': answer(EnvBatchStepResponse),
    'env/exp/list/req': request(EnvExperienceListRequest, 'env/exp/list/resp'),
    'env/exp/list/resp': answer(EnvExperienceListResponse),
    'env/state/push': notice(EnvStatePush, 'host'),
  },
  // The protocol's index page spells these types differently from its code.
  aliases: {
    'env/spaces/req': 'env/space/req',
    'env/spaces/resp': 'env/space/resp',
    'env/state_push': 'env/state/push',
  },
} as const satisfies Namespace;

/** `actions[n]` is for `episode_ids[n]`, so both lists must have the same length. */
function oneActionAnEpisode({ episode_ids, actions }: JsonObject): readonly Issue[] {
  const episodes = Array.isArray(episode_ids) ? episode_ids.length : 0;
  const wanted = Array.isArray(actions) ? actions.length : 0;
  if (episodes === wanted) return [];
  const message = `actions must have one item for each of episode_ids, ${episodes}; got ${wanted}`;
  return [{ pointer: '/actions', code: 'length_mismatch', message }];
}
