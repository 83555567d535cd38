import { did, failed, nth, rounds, said, type Trace, tested } from '../Trace.ts';

// Slow, repetitive or with detours; it gets there.

const FILES = [
  'users',
  'orders',
  'cart',
  'till',
  'stock',
  'mail',
  'auth',
  'audit',
  'tax',
  'login',
  'search',
  'export',
];

export const progressing: readonly Trace[] = [
  {
    kind: 'progressing',
    about: 'every edit answers with the same short word',
    turns: FILES.map((name) => did(`edit src/${name}.ts`, 'ok', { tree: name })),
  },
  {
    kind: 'progressing',
    about: 'one failing test fewer each round',
    turns: rounds(8, (i) => [
      did(`edit src/${nth(FILES, i)}.ts`, 'Updated.', { tree: `r${i}` }),
      tested('npm test', 20 + i, FILES.slice(i, 9), { tree: `r${i}` }),
    ]),
  },
  {
    kind: 'progressing',
    about: 'a hard test takes three attempts, then the next one does',
    turns: ['tax', 'audit', 'search'].flatMap((name, done) =>
      rounds(3, (i) => [
        did(`edit src/${name}.ts attempt ${i}`, 'Updated.', { tree: `${name}${i}` }),
        tested(
          'npm test',
          10 + done + (i === 3 ? 1 : 0),
          ['tax', 'audit', 'search'].slice(i === 3 ? done + 1 : done),
          {
            tree: `${name}${i}`,
          },
        ),
      ]),
    ),
  },
  {
    kind: 'progressing',
    about: 'lint is clean after each of many edits',
    turns: FILES.slice(0, 8).flatMap((name) => [
      did(`edit src/${name}.ts`, 'Updated.', { tree: name }),
      did('npm run lint', 'No problems found.', { tree: name }),
    ]),
  },
  {
    kind: 'progressing',
    about: 'tests stay green through a refactoring',
    turns: FILES.slice(0, 8).flatMap((name) => [
      did(`edit src/${name}.ts extract function`, 'Updated.', { tree: name }),
      tested('npm test', 64, [], { tree: name }),
    ]),
  },
  {
    kind: 'progressing',
    about: 'reads one page of a list after the other',
    turns: rounds(10, (i) =>
      did(
        'browser next',
        `Products ${i * 20 - 19} to ${i * 20} of 200: ${FILES.map((f) => `${f}-${i}`).join(', ')}`,
      ),
    ),
  },
  {
    kind: 'progressing',
    about: 'two network errors, then through',
    turns: [
      failed('npm install', 'ETIMEDOUT registry'),
      failed('npm install', 'ETIMEDOUT registry'),
      did('npm install', 'added 212 packages in 8 s'),
      did('npm run build', 'built in 2 s', { tree: 'b' }),
      tested('npm test', 8, []),
    ],
  },
  {
    kind: 'progressing',
    about: 'one idea is tried, taken back, and another one works',
    turns: [
      tested('npm test', 5, ['caches'], { tree: 'base' }),
      did('edit src/cache.ts weak map', 'Updated.', { tree: 'weak' }),
      tested('npm test', 4, ['caches', 'evicts'], { tree: 'weak' }),
      did('git checkout src/cache.ts', 'Updated 1 path from the index.', { tree: 'base' }),
      did('edit src/cache.ts lru', 'Updated.', { tree: 'lru' }),
      tested('npm test', 6, [], { tree: 'lru' }),
    ],
  },
  {
    kind: 'progressing',
    about: 'a long report of a long run changes in a few numbers',
    turns: rounds(8, (i) =>
      did(
        `train epoch ${i}`,
        `epoch ${i} of 8: loss ${(2 / i).toFixed(3)}, accuracy ${(1 - 1 / (i + 1)).toFixed(3)}, learning rate ${(0.01 / i).toFixed(4)}, ${i * 400} samples seen`,
      ),
    ),
  },
  {
    kind: 'progressing',
    about: 'compiler errors are fixed one at a time',
    turns: rounds(8, (i) => [
      failed(
        'tsc --noEmit',
        `src/${nth(FILES, i)}.ts:${i * 7}:3 - error TS2${300 + i}: ${nth(FILES, i)} has no such member.`,
      ),
      did(`edit src/${nth(FILES, i)}.ts`, 'Updated.', { tree: `c${i}` }),
    ]),
  },
  {
    kind: 'progressing',
    about: 'reads many files before the first edit',
    turns: [
      did('ls src', FILES.join('\n')),
      ...FILES.map((name) =>
        did(`read src/${name}.ts`, `export function ${name}(input) { return ${name}Table.get(input) }`),
      ),
      did('edit src/index.ts', 'Updated.', { tree: 'x' }),
    ],
  },
  {
    kind: 'progressing',
    about: 'asks git for its state between commits',
    turns: FILES.slice(0, 6).flatMap((name) => [
      did(`edit src/${name}.ts`, 'Updated.', { tree: name }),
      did(`git commit -m ${name}`, `[main ${name.length}f3] ${name}\n 1 file changed`, { tree: name }),
      did('git status', 'On branch main\nnothing to commit, working tree clean', { tree: name }),
    ]),
  },
  {
    kind: 'progressing',
    about: 'thinks aloud, each thought its own',
    turns: [
      said('The report is empty because the query joins on the wrong key.'),
      did('read src/report.ts', 'join customers on customers.name = orders.customer'),
      said('So the key has to be the id. Names are not unique, which also explains the doubled rows.'),
      did('edit src/report.ts', 'Updated.', { tree: 'q' }),
      said('Now the test for the doubled rows should pass; the one for empty months needs a left join.'),
      tested('npm test', 11, ['empty months']),
      did('edit src/report.ts left join', 'Updated.', { tree: 'r' }),
      tested('npm test', 12, []),
    ],
  },
  {
    kind: 'progressing',
    about: 'deletes a queue of messages one by one with the same answer',
    turns: rounds(12, (i) => did(`queue ack message-${i}`, 'ACK')),
  },
  {
    kind: 'progressing',
    about: 'the test log is long and mostly the same while failures go away',
    turns: rounds(6, (i) => [
      did(`edit src/${nth(FILES, i)}.ts`, 'Updated.', { tree: `l${i}` }),
      did(
        'npm test',
        [
          '> till@1.0.0 test > vitest run --reporter=verbose',
          ...FILES.map(
            (name, n) =>
              `${n < i + 3 ? 'PASS' : 'FAIL'} src/${name}.test.ts > ${name} > works as described in the requirements`,
          ),
          'Test Files 12, Tests 12, Snapshots 0, type checks none',
        ].join('\n'),
        { tests: { passed: i + 3, failed: 9 - i, failing: FILES.slice(i + 3) }, tree: `l${i}` },
      ),
    ]),
  },
];
