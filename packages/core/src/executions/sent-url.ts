import { CredentialUse } from '../secrets/credential-use.ts';
import type { ApiRequest } from '../workflow/effects.ts';

/** The URL of a request as it was sent, with the name of each credential in the place of its value. */
export function sentUrl({ url, query }: Pick<ApiRequest, 'url' | 'query'>): string {
  const fields = query.map(([name, value]) => {
    const shown = value instanceof CredentialUse ? `<credential ${value.id}>` : encodeURIComponent(value);
    return `${encodeURIComponent(name)}=${shown}`;
  });
  const whole = fields.length === 0 ? url : `${url}${url.includes('?') ? '&' : '?'}${fields.join('&')}`;
  return whole.length <= LONGEST_SHOWN ? whole : `${whole.slice(0, LONGEST_SHOWN)}…`;
}

const LONGEST_SHOWN = 2048;
