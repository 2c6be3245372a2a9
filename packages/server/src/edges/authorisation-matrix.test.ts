import { expect, test } from 'vitest';
import { authorisationMatrix } from './authorisation-matrix.contract.ts';
import { exchangeRaw, head, route, startEdge } from './harness.contract.ts';

const routes = [
  route({ path: '/public', access: 'public' }),
  route({ path: '/open' }),
  route({ path: '/agent', access: 'agent' }),
  route({ path: '/owned', access: 'agent', owned: true }),
  route({ path: '/admin', access: 'admin' }),
];

test('lists every route with every actor', () => {
  const rows = authorisationMatrix(routes).map((row) => `${row.route.path} ${row.actor} ${row.verdict}`);
  expect(rows).toHaveLength(25);
  expect(rows).toContain('/agent other passes');
  expect(rows).toContain('/owned other absent');
  expect(rows).toContain('/owned owner passes');
});

test('the kernel enforces it, except for the checks of the routes themselves', async () => {
  const { port, host } = await startEdge({ routes });
  const keys = {
    owner: ['X-API-Key: ada'],
    other: ['X-API-Key: ada'],
    anonymous: [],
    revoked: ['X-API-Key: old'],
    admin: ['X-API-Key: admin'],
  };
  const statuses = { passes: 200, absent: 200, unauthenticated: 401, forbidden: 403 };
  for (const row of authorisationMatrix(routes)) {
    const fields = [...keys[row.actor], 'Connection: close'];
    const received = await exchangeRaw(port, head({ path: row.route.path, host, fields }));
    expect(received, `${row.route.path} ${row.actor}`).toMatch(new RegExp(`^HTTP/1.1 ${statuses[row.verdict]} `));
  }
});
