import type { Access, Route, SocketRoute } from '../http/route.ts';

/** The caller of a route in a test. `owner` and `other` are two agents; the resource in the path belongs to `owner`. */
export type Actor = 'owner' | 'other' | 'anonymous' | 'revoked' | 'admin';

/** The expected result. `passes`: the route decides; `absent`: 404, the same as for a resource that never existed. */
export type Verdict = 'passes' | 'absent' | 'unauthenticated' | 'forbidden';

export interface MatrixRow<Entry> {
  readonly route: Entry;
  readonly actor: Actor;
  readonly verdict: Verdict;
}

/** Every route of a table with every actor and its expected result, so that a test covers every route. */
export function authorisationMatrix<Entry extends Route | SocketRoute>(routes: readonly Entry[]): MatrixRow<Entry>[] {
  return routes.flatMap((route) =>
    ACTORS.map((actor) => {
      const verdict = VERDICTS[route.access][actor];
      const isOwned = 'owned' in route && route.owned === true;
      return { route, actor, verdict: isOwned && actor !== 'owner' && verdict === 'passes' ? 'absent' : verdict };
    }),
  );
}

const ACTORS: readonly Actor[] = ['owner', 'other', 'anonymous', 'revoked', 'admin'];

const VERDICTS: Readonly<Record<Access, Readonly<Record<Actor, Verdict>>>> = {
  public: { owner: 'passes', other: 'passes', anonymous: 'passes', revoked: 'passes', admin: 'passes' },
  open: { owner: 'passes', other: 'passes', anonymous: 'passes', revoked: 'unauthenticated', admin: 'passes' },
  agent: {
    owner: 'passes',
    other: 'passes',
    anonymous: 'unauthenticated',
    revoked: 'unauthenticated',
    admin: 'forbidden',
  },
  admin: {
    owner: 'forbidden',
    other: 'forbidden',
    anonymous: 'unauthenticated',
    revoked: 'unauthenticated',
    admin: 'passes',
  },
};
