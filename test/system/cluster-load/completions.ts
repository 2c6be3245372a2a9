import type { LoadClient, LoadContext } from './load-context.ts';

/** Chat completions of the OpenAI API. */
export function completions(load: LoadContext): LoadClient {
  const fates = load.fatesOf('completions');
  const json = { model: 'echo', messages: [{ role: 'user', content: 'hello' }] };
  return {
    async send() {
      await load.post(fates, '/v1/chat/completions', json);
      fates.complete += 1;
    },
  };
}
