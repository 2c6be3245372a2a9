// An agent that walks through ./grid.mjs by what the environment suggests. Run it: node examples/environment/run.mjs
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { connectWire, streamWire } from '@dragoman/client/wire';
import { allHold, step } from '../support/steps.mjs';

const file = (path) => fileURLToPath(new URL(path, import.meta.url));
const command = [file('../../packages/cli/bin/dragoman.js'), 'wire', '--config', file('./dragoman.yaml')];
const host = spawn(process.execPath, command, { stdio: ['pipe', 'pipe', 'inherit'] });
const wire = await connectWire({ transport: streamWire({ input: host.stdout, output: host.stdin }) });

let { obs } = await wire.request('env/reset/req', { env_name: 'grid', seed: 2 });
const { episode_id } = obs;
assert.deepEqual(obs.state, { at: [0, 0], flag: [2, 3], size: 4 });
step('An episode begins where the seed says.');

await assert.rejects(wire.request('env/step/req', { episode_id, action: { move: 'jump' } }), {
  code: 'unknown_action',
});
step('An action that the environment does not have never reaches it.');

while (!obs.done) {
  const { suggested_actions } = await wire.request('env/plan/req', { episode_id });
  ({ obs } = await wire.request('env/step/req', { episode_id, action: suggested_actions[0] }));
}
assert.equal(obs.step_num, 5);
step(`The flag is reached after ${obs.step_num} steps.`);

const { episodes } = await wire.request('env/exp/list/req', {});
assert.equal(episodes[0].total_reward.toFixed(1), '0.6');
step('The host knows what the episode earned.');

await wire.close();
host.stdin.end();
allHold();
