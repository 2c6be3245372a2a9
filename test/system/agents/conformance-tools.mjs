/** The tools that the MCP conformance suite calls by these names. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const none = { type: 'object' };
export const simple = {
  name: 'test_simple_text',
  description: 'x',
  input: none,
  run: () => 'This is a simple text response for testing.',
};
export const image = {
  name: 'test_image_content',
  description: 'x',
  input: none,
  run: () => [{ type: 'image', data: png, mimeType: 'image/png' }],
};
export const audio = {
  name: 'test_audio_content',
  description: 'x',
  input: none,
  run: () => [{ type: 'audio', data: wav, mimeType: 'audio/wav' }],
};
export const embedded = {
  name: 'test_embedded_resource',
  description: 'x',
  input: none,
  run: () => [
    {
      type: 'resource',
      resource: {
        uri: 'test://embedded-resource',
        mimeType: 'text/plain',
        text: 'This is an embedded resource content.',
      },
    },
  ],
};
export const mixed = {
  name: 'test_multiple_content_types',
  description: 'x',
  input: none,
  run: () => [
    { type: 'text', text: 'Multiple content types test:' },
    { type: 'image', data: png, mimeType: 'image/png' },
    {
      type: 'resource',
      resource: {
        uri: 'test://mixed-content-resource',
        mimeType: 'application/json',
        text: '{"test":"data","value":123}',
      },
    },
  ],
};
export const error = {
  name: 'test_error_handling',
  description: 'x',
  input: none,
  run: () => {
    throw new Error('This tool intentionally returns an error for testing');
  },
};
export const progress = {
  name: 'test_tool_with_progress',
  description: 'x',
  input: none,
  run: async (_, call) => {
    for (const pct of [0, 50, 100]) {
      call.progress(pct, `${pct}`);
      await new Promise((r) => setTimeout(r, 50));
    }
    return 'done';
  },
};

const form = { type: 'object', properties: { name: { type: 'string' } } };
const asks = (name, schema = form, times = 1) => ({
  name,
  description: 'x',
  input: none,
  async run(_, call) {
    let answer;
    for (let time = 0; time < times; time++)
      answer = await call.ask({ kind: 'form', title: 'What is your name?', schema });
    return `${answer.action}: ${JSON.stringify(answer.content ?? {})}`;
  },
});
const account = { username: { type: 'string' }, email: { type: 'string' } };
const defaults = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};
export const elicits = asks('test_elicitation', { type: 'object', properties: account, required: ['username'] });
export const fills = asks('test_elicitation_sep1034_defaults', { type: 'object', properties: defaults });
const three = (word) => [`${word}1`, `${word}2`, `${word}3`];
const titled = (values) => values.map((value) => ({ const: value, title: `Option ${value}` }));
const enums = {
  untitledSingle: { type: 'string', enum: three('option') },
  titledSingle: { type: 'string', oneOf: titled(three('value')) },
  legacyEnum: { type: 'string', enum: three('opt'), enumNames: ['Option One', 'Option Two', 'Option Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: three('option') } },
  titledMulti: { type: 'array', items: { anyOf: titled(three('value')) } },
};
export const chooses = asks('test_elicitation_sep1330_enums', { type: 'object', properties: enums });
export const streams = asks('test_streaming_elicitation');
export const input = asks('test_input_required_result_elicitation');
export const state = asks('test_input_required_result_request_state');
export const tampered = asks('test_input_required_result_tampered_state');
export const rounds = asks('test_input_required_result_multi_round', form, 2);
export const capable = asks('test_input_required_result_capabilities');
export const logs = {
  name: 'test_logging_tool',
  description: 'x',
  input: none,
  run(_, call) {
    call.log.info({}, 'a line');
    return 'done';
  },
};
