// A grid to walk through: from the upper left corner to the flag, which the seed places. Each step costs 0.1, the flag is worth 1.
const MOVES = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] };

/** @type {import('@dragoman/core').Environment} */
export const grid = {
  name: 'grid',
  description: 'Walk to the flag.',
  actions: {
    type: 'object',
    required: ['move'],
    properties: { move: { enum: Object.keys(MOVES) } },
    additionalProperties: false,
  },
  states: { type: 'object', properties: { at: { type: 'array' }, flag: { type: 'array' } } },
  reset({ seed, options }) {
    const size = Math.min(Math.max(Number(options.size ?? 4), 2), 20);
    const flag = [(seed ?? 0) % size, size - 1];
    let at = [0, 0];
    let steps = 0;
    return {
      state: { at, flag, size },
      step({ move }) {
        const [x, y] = MOVES[move];
        const inside = (value) => Math.min(Math.max(value, 0), size - 1);
        at = [inside(at[0] + x), inside(at[1] + y)];
        steps += 1;
        const done = at[0] === flag[0] && at[1] === flag[1];
        return { state: { at, flag, size }, reward: done ? 1 : -0.1, done, truncated: !done && steps >= 100 };
      },
      render() {
        const cell = (x, y) => {
          if (x === at[0] && y === at[1]) return 'A';
          return x === flag[0] && y === flag[1] ? 'F' : '.';
        };
        const row = (y) => Array.from({ length: size }, (_, x) => cell(x, y)).join('');
        return Array.from({ length: size }, (_, y) => row(y)).join('\n');
      },
      suggest() {
        if (at[0] !== flag[0]) return [{ move: at[0] < flag[0] ? 'right' : 'left' }];
        return at[1] === flag[1] ? [] : [{ move: at[1] < flag[1] ? 'down' : 'up' }];
      },
    };
  },
};
