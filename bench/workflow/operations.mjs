// Operations for the benchmark of operations on data: rows to work on, and the same work as a person would write it.

const described = {
  summary: 'Part of a benchmark.',
  category: 'data',
  schema: { type: 'object' },
  members: [
    { at: '/inputPath', is: 'input' },
    { at: '/outputPath', is: 'output' },
  ],
};

/** The same rows for as long as the thread lives. */
const made = new Map();
let byHand;

const CITIES = ['Madrid', 'Oslo', 'Quito', 'Hanoi', 'Accra', 'Lima', 'Perth', 'Kyoto'];

function rowsOf(count) {
  let rows = made.get(count);
  if (rows === undefined) {
    let seed = 42;
    const next = () => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return seed / 4294967296;
    };
    // As they come from an API: parsed from JSON, in pieces, for no text may hold a million of them.
    rows = [];
    while (rows.length < count) {
      const piece = Array.from({ length: Math.min(10_000, count - rows.length) }, (_, at) => ({
        id: rows.length + at,
        name: `user-${Math.floor(next() * count)}`,
        status: next() < 0.5 ? 'active' : 'gone',
        points: Math.floor(next() * 1000),
        score: next() * 100,
        city: CITIES[Math.floor(next() * CITIES.length)],
      }));
      for (const row of JSON.parse(JSON.stringify(piece))) rows.push(row);
    }
    made.set(count, rows);
  }
  return rows;
}

const HAND = {
  filter: (rows) => rows.filter((row) => row.status === 'active' && row.points > 500),
  sort: (rows) => rows.slice().sort((one, other) => other.score - one.score),
  sortText: (rows) => rows.slice().sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0)),
  group: (rows) => {
    const groups = {};
    for (const row of rows) {
      const group = groups[row.city];
      if (group === undefined) groups[row.city] = [row];
      else group.push(row);
    }
    return groups;
  },
  aggregate: (rows) => {
    let count = 0;
    let sum = 0;
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    for (const row of rows) {
      const { score } = row;
      count++;
      sum += score;
      if (score < least) least = score;
      if (score > most) most = score;
    }
    return { count, sum, mean: sum / count, least, most };
  },
};

/** The very same rows in the very same places. */
function isSame(one, other) {
  if (typeof one !== 'object' || one === null) return one === other;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => one[key] === other[key] || (Array.isArray(one[key]) && isSame(one[key], other[key])));
}

export const operations = {
  Rounds: {
    description: described,
    compile:
      ({ count }) =>
      () =>
        Array.from({ length: count }, (_, at) => at),
  },
  MakeRows: {
    description: described,
    compile:
      ({ count }) =>
      (step) => {
        step.boundedBy(count * 100);
        return rowsOf(count);
      },
  },
  ByHand: {
    description: described,
    compile: ({ what, inputPath }, compiling) => {
      const input = compiling.path(inputPath);
      return (step) => {
        byHand = HAND[what](step.read(input));
        return null;
      };
    },
  },
  Compare: {
    description: described,
    compile: ({ inputPath }, compiling) => {
      const input = compiling.path(inputPath);
      return (step) => {
        if (!isSame(byHand, step.read(input))) throw new Error('the results differ');
        byHand = undefined;
        return true;
      };
    },
  },
};
