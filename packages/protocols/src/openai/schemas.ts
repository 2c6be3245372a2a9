import { SCHEMA_BASE, type SchemaSet } from '../schema.ts';
import { ChatCompletionRequest, CreateResponseRequest } from './shapes.ts';

const base = `${SCHEMA_BASE}/openai`;

const schemas: SchemaSet = {
  dialect: 'openai',
  schemas: {
    ChatCompletionRequest: {
      $id: `${base}/chat-completion.json`,
      title: 'OpenAI chat completion request',
      ...ChatCompletionRequest,
    },
    CreateResponseRequest: {
      $id: `${base}/create-response.json`,
      title: 'OpenAI responses request',
      ...CreateResponseRequest,
    },
  },
};

export default schemas;
