export { type CardSkill, type LfCardSource, lfAgentCard, signedTexts } from './card.ts';
export { decodeA2aRequest, type Requests } from './decode.ts';
export { A2A_ERRORS, type A2aError, type A2aErrorName, a2aError, a2aErrorOf } from './errors.ts';
export { filePart } from './file-part.ts';
export { httpJsonMessageTo03 } from './http-json-03.ts';
export { answerInMessage, questionNamed } from './message-answer.ts';
export { A2A_OPERATIONS, type A2aOperation, type A2aVersion, operationOf, requestedVersion } from './operations.ts';
export {
  isThought,
  type PeerArtifact,
  type PeerEvent,
  type PeerIds,
  type PeerMessage,
  type PeerStatus,
  readParts,
  readPeerEvent,
} from './read-event.ts';
export type {
  Artifact,
  ArtifactUpdate,
  GetTaskRequest,
  ListPushConfigsRequest,
  ListTasksRequest,
  Message,
  MessagePart,
  NewTaskPushNotificationConfig,
  PushConfigRequest,
  SendMessageRequest,
  StatusUpdate,
  StreamEvent,
  Task,
  TaskPushNotificationConfig,
  TaskRequest,
  TaskStatus,
} from './shapes.ts';
export { isSettled, isTerminal, stateIn03, TASK_STATES, type TaskState, waitingState } from './states.ts';
export { foldOptionsOf, plainText, STATE_AT_END, TaskFold, type TaskFoldOptions } from './task-fold.ts';
export { type SendDetails, sendEnvelope } from './to-envelope.ts';
export { eventTo03, taskTo03 } from './version-03.ts';
export { type A2aBinding, type A2aWording, wordingOf } from './wording.ts';
