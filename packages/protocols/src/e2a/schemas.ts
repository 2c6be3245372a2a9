import { type JsonSchema, SCHEMA_BASE, type SchemaSet } from '../schema.ts';
import { E2AEnvelopeInput, E2AFileRef } from './envelope.ts';
import * as question from './question.ts';
import { E2AResponseInput } from './response.ts';
import * as body from './response-body.ts';

const schemas: SchemaSet = {
  dialect: 'e2a',
  schemas: {
    Envelope: published('envelope', 'E2A envelope', E2AEnvelopeInput),
    Response: published('response', 'E2A response', E2AResponseInput),
    FileRef: published('file-ref', 'E2A attachment', E2AFileRef),
    CompleteBody: published('complete-body', 'Body of e2a.complete', body.CompleteBody),
    ChunkBody: published('chunk-body', 'Body of e2a.chunk', body.ChunkBody),
    ErrorBody: published('error-body', 'Body of e2a.error', body.FrameErrorBody),
    AcpSessionUpdateBody: published('acp-session-update-body', 'Body of acp.session_update', body.AcpSessionUpdateBody),
    AcpPromptResultBody: published('acp-prompt-result-body', 'Body of acp.prompt_result', body.AcpPromptResultBody),
    AcpJsonrpcErrorBody: published('acp-jsonrpc-error-body', 'Body of acp.jsonrpc_error', body.AcpJsonrpcErrorBody),
    AcpOutputRequestBody: published('acp-output-request-body', 'Body of acp.output_request', body.AcpOutputRequestBody),
    A2aTaskBody: published('a2a-task-body', 'Body of a2a.task', body.A2aTaskBody),
    A2aMessageBody: published('a2a-message-body', 'Body of a2a.message', body.A2aMessageBody),
    A2aStreamEventBody: published('a2a-stream-event-body', 'Body of a2a.stream_event', body.A2aStreamEventBody),
    CronBody: published('cron-body', 'Body of cron', body.CronBody),
    PlanApprovalBody: published('plan-approval-body', 'Body of plan.approval_required', body.PlanApprovalBody),
    Question: published('question', 'Question to a person', question.Question),
    NewQuestion: published('new-question', 'Question as an agent asks it', question.NewQuestion),
    GivenAnswer: published('given-answer', 'Answer from a caller', question.GivenAnswer),
    QuestionAnswer: published('question-answer', 'Answer to a question', question.QuestionAnswer),
    ExtBody: published('ext-body', 'Body of ext', body.ExtBody),
  },
};

export default schemas;

function published(file: string, title: string, shape: JsonSchema): JsonSchema {
  return { $id: `${SCHEMA_BASE}/e2a/${file}.json`, title, ...shape };
}
