import { did, failed, nth, rounds, said, type Trace, tested } from '../Trace.ts';

// The turns differ, the situation does not.

export const stuck: readonly Trace[] = [
  {
    kind: 'stuck',
    about: 'one test fails through seven different edits',
    turns: rounds(7, (i) => [
      did(`edit src/parse.ts attempt ${i}`, 'Updated src/parse.ts.', { tree: `p${i}` }),
      tested('npm test', 31, ['parses nested quotes'], { tree: `p${i}` }),
    ]),
  },
  {
    kind: 'stuck',
    about: 'one error comes back whatever is called',
    turns: rounds(7, (i) =>
      failed(
        nth(
          ['git push', 'git push --force', 'gh pr create', 'git fetch', 'ssh -T git@host', 'git push -u'],
          i,
        ),
        'Permission denied (publickey). Could not read from remote repository.',
      ),
    ),
  },
  {
    kind: 'stuck',
    about: 'the compiler says the same after each change, at another line',
    turns: rounds(6, (i) => [
      did(`edit src/store.ts cast ${i}`, 'Updated src/store.ts.', { tree: `s${i}` }),
      failed(
        'tsc --noEmit',
        `src/store.ts:${20 + i * 3}:7 - error TS2322: Type 'string | undefined' is not assignable to type 'string'.`,
        { tree: `s${i}` },
      ),
    ]),
  },
  {
    kind: 'stuck',
    about: 'plans are written in other words and nothing is done',
    turns: rounds(9, (i) =>
      said(
        `Plan ${i}: first I read the configuration of the build, then I find out why the bundle does not contain the worker, after that I add the worker as an entry point of the build and check the size of the bundle. ${nth(['I start now.', 'Here we go.', 'Next step follows.'], i)}`,
      ),
    ),
  },
  {
    kind: 'stuck',
    about: 'the port is taken, whichever way the server is started',
    turns: rounds(7, (i) =>
      failed(
        nth(['npm start', 'node server.js', 'npm run dev', 'npx nodemon', 'node --inspect server.js'], i),
        `Error: listen EADDRINUSE: address already in use :::${3000}`,
      ),
    ),
  },
  {
    kind: 'stuck',
    about: 'each reviewed version is refused for the same reason',
    turns: rounds(6, (i) => [
      did(`edit docs/intro.md version ${i}`, 'Updated docs/intro.md.', { tree: `d${i}` }),
      did(
        'review docs/intro.md',
        `Not accepted. The introduction still does not say who the reader is, and it uses terms before they are explained. Start with the reader and define the terms first. ${nth(['Please revise.', 'Try again.', 'Again, please.'], i)}`,
        { tree: `d${i}` },
      ),
    ]),
  },
  {
    kind: 'stuck',
    about: 'two failures take turns: fixing one brings the other back',
    turns: rounds(5, (i) => [
      did(`edit src/sort.ts stable ${i}`, 'Updated src/sort.ts.', { tree: `st${i}` }),
      tested('npm test', 9, ['sort > is fast'], { tree: `st${i}` }),
      did(`edit src/sort.ts fast ${i}`, 'Updated src/sort.ts.', { tree: `fa${i}` }),
      tested('npm test', 9, ['sort > is stable'], { tree: `fa${i}` }),
    ]),
  },
  {
    kind: 'stuck',
    about: 'searches in ever other words find nothing',
    turns: rounds(8, (i) =>
      did(
        `search "${nth(['retry budget', 'retries', 'backoff', 'retry-policy', 'exponential', 'attempts'], i)}"`,
        'No results found in 412 files. Check the spelling of your query, or widen the folders that are searched.',
      ),
    ),
  },
  {
    kind: 'stuck',
    about: 'selectors are guessed, none is found',
    turns: rounds(7, (i) =>
      failed(
        `click ${nth(['#submit', '.submit', 'button[type=submit]', 'form button', '#btn-ok'], i)}`,
        'TimeoutError: waiting for locator: element is not visible, 30 s exceeded',
      ),
    ),
  },
  {
    kind: 'stuck',
    about: 'the query is rewritten and the database says the same',
    turns: rounds(6, (i) =>
      failed(
        `sql select ${i}`,
        'ERROR: column "order_total" does not exist; hint: perhaps you meant "orders.total"',
      ),
    ),
  },
  {
    kind: 'stuck',
    about: 'tests stay red while the agent looks around in between',
    turns: rounds(6, (i) => [
      did(`read src/mod${i}.ts`, `export const part${i} = build(${i * 31})`),
      did(`edit src/mod${i}.ts`, 'Updated.', { tree: `m${i}` }),
      tested('vitest run', 50, ['integration > boots', 'integration > stops'], { tree: `m${i}` }),
    ]),
  },
  {
    kind: 'stuck',
    about: 'every report is a copy of the one before with another number',
    turns: rounds(9, (i) =>
      said(
        `Status report ${i}. The migration of the customer table is being prepared. All preconditions were checked and found in order. The migration will be carried out as soon as the preparation is finished. There are no blocking problems at this time and no help is needed.`,
      ),
    ),
  },
  {
    kind: 'stuck',
    about: 'a good start, then the same assertion for ever',
    turns: [
      ...rounds(4, (i) => [
        did(`edit src/shape${i}.ts`, 'Updated.', { tree: `g${i}` }),
        tested('npm test', i * 2, ['round', 'area', 'perimeter', 'union', 'hull'].slice(i), {
          tree: `g${i}`,
        }),
      ]),
      ...rounds(6, (i) => [
        did(`edit src/hull.ts try ${i}`, 'Updated.', { tree: `h${i}` }),
        tested('npm test', 8, ['hull'], { tree: `h${i}` }),
      ]),
    ],
  },
  {
    kind: 'stuck',
    about: 'outputs are kept as hashes only, and they are equal',
    turns: rounds(7, () => ({ action: 'simulate', tool: 'simulate', outputHash: 'e3b0c44298fc1c14' })),
  },
  {
    kind: 'stuck',
    about: 'rate limited, and asks again at once',
    turns: rounds(7, (i) =>
      failed(`llm ask question ${i}`, `429 Too Many Requests: quota exceeded, retry after ${i + 20} s`),
    ),
  },
];
