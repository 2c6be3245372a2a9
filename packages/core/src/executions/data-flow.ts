import { type Failure, failure } from '@dragoman/protocols';
import type { ApiCatalogue } from '../apis/api.ts';
import { apiAround } from '../apis/api-around.ts';
import { hostPortOf, nameOfHostPort } from '../gate/host-port.ts';
import type { ApiRequest } from '../workflow/effects.ts';
import type { Label } from '../workflow/label.ts';

/**
 * Why a request must not be sent with its data: data that was fetched with a credential may go to the hosts of that
 * credential, and to other hosts only where the operator's entry of the API allows it.
 */
export function refuseFlow(
  { url, carries }: Pick<ApiRequest, 'url' | 'carries'>,
  apis: ApiCatalogue,
): Failure | undefined {
  if (carries.length === 0) return undefined;
  const target = new URL(url);
  const to = nameOfHostPort(hostPortOf(target));
  const api = apiAround(target, apis);
  const accepted = api?.accepts_data_from ?? [];
  const stopped = carries.find((label) => !label.to.includes(to) && !accepts(accepted, label));
  if (stopped === undefined) return undefined;
  const { from } = stopped;
  const entry = api === undefined ? `register ${target.origin} as an API with` : `add to the API ${api.id}`;
  return failure(
    'forbidden',
    { from, to, sent: false, suggestions: [`the operator can allow it: ${entry} accepts_data_from: ["${from}"]`] },
    `The call would send to ${to} data that was fetched from ${from} with a credential; no rule allows that.`,
  );
}

function accepts(accepted: readonly string[], { from }: Label): boolean {
  return accepted.includes(EVERYWHERE) || accepted.includes(from);
}

const EVERYWHERE = '*';
