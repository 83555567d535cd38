import { did, failed, rounds, said, type Trace, tested } from '../Trace.ts';

// The same few turns again and again, exactly or but for times, ids and paths.

export const looping: readonly Trace[] = [
  {
    kind: 'looping',
    about: 'one search is made again and again with the same hits',
    turns: rounds(7, () =>
      did(
        'grep -rn createUser src',
        'src/users.ts:14:export function createUser\nsrc/api.ts:33: createUser(',
      ),
    ),
  },
  {
    kind: 'looping',
    about: 'after some work a file is read for ever',
    turns: [
      did('ls .', 'README.md\npackage.json\nsrc'),
      did('cat package.json', '{ "name": "till", "type": "module", "scripts": { "test": "vitest run" } }'),
      did('edit src/till.ts +4 -0', 'Updated src/till.ts.', { tree: 'a1' }),
      ...rounds(8, () =>
        did('cat src/till.ts', 'export const open = () => drawer.unlock()\nexport const VAT = 0.19'),
      ),
    ],
  },
  {
    kind: 'looping',
    about: 'a test run repeated, only times and durations differ',
    turns: rounds(7, (i) =>
      did(
        'npm test',
        `2026-03-0${i}T09:1${i}:00Z start\nFAIL src/cart.test.ts > adds VAT\n  expected 119 to be 100\nDuration ${300 + i * 17} ms`,
        { tests: { passed: 11, failed: 1, failing: ['adds VAT'] } },
      ),
    ),
  },
  {
    kind: 'looping',
    about: 'an edit and its removal take turns',
    turns: rounds(5, () => [
      did('edit src/date.ts +1 -0 add timezone', 'Updated src/date.ts.', { tree: 'with' }),
      did('edit src/date.ts +0 -1 remove timezone', 'Updated src/date.ts.', { tree: 'without' }),
    ]),
  },
  {
    kind: 'looping',
    about: 'an edit, its removal, and the same test failing each time',
    turns: rounds(4, () => [
      did('edit src/lock.ts +6 -2 use mutex', 'Updated src/lock.ts.', { tree: 'mutex' }),
      tested('npm test', 20, ['lock > is fair'], { tree: 'mutex' }),
      did('edit src/lock.ts +2 -6 drop mutex', 'Updated src/lock.ts.', { tree: 'plain' }),
      tested('npm test', 20, ['lock > is fair', 'lock > is exclusive'], { tree: 'plain' }),
    ]),
  },
  {
    kind: 'looping',
    about: 'a command that does not exist is called for ever',
    turns: rounds(6, () => failed('bash pytest -q', 'bash: line 1: pytest: command not found')),
  },
  {
    kind: 'looping',
    about: 'the same failing request with a new request id each time',
    turns: rounds(6, (i) =>
      failed(
        'http GET /v1/orders/77',
        `404 Not Found: order 77 (request 5f0c1d2e-0000-4000-8000-00000000000${i})`,
      ),
    ),
  },
  {
    kind: 'looping',
    about: 'the agent promises to begin and does not',
    turns: rounds(7, () =>
      said('I will now start to implement the login form. Let me begin with the component.'),
    ),
  },
  {
    kind: 'looping',
    about: 'the agent promises to begin in almost the same words',
    turns: rounds(9, (i) =>
      said(
        `${['Okay', 'Right', 'Now', 'Sure', 'Good'][i % 5]}, to fix the failing export test I have to look at how the exporter writes its header row, then I compare it with the fixture and change the header so that both agree with each other again.`,
      ),
    ),
  },
  {
    kind: 'looping',
    about: 'three calls in a circle',
    turns: rounds(4, () => [
      did('search docs "rate limit"', 'api.md: Rate limits are described in limits.md.'),
      did('open docs/limits.md', 'For limits see quota.md. Everything else is described in api.md.'),
      did('open docs/quota.md', 'Quotas moved to api.md. This page is kept so that old links still work.'),
    ]),
  },
  {
    kind: 'looping',
    about: 'two files are read in turns',
    turns: rounds(6, () => [
      did(
        'read src/server.ts',
        'import { router } from "./router.ts"\nexport const server = listen(router, 8080)',
      ),
      did(
        'read src/router.ts',
        'import { server } from "./server.ts"\nexport const router = routesOf(server)',
      ),
    ]),
  },
  {
    kind: 'looping',
    about: 'an install that conflicts is repeated',
    turns: rounds(6, (i) =>
      failed(
        'npm install react@19',
        `npm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR! peer react@"^18" from legacy-table@2.1.0\nnpm ERR! log: /root/.npm/_logs/2026-01-0${i}T10_00_00_000Z-debug-0.log`,
      ),
    ),
  },
  {
    kind: 'looping',
    about: 'a patch that does not apply, line numbers wander',
    turns: rounds(6, (i) =>
      failed(
        'patch src/index.ts',
        `error: patch failed: src/index.ts:${40 + i}\nerror: src/index.ts: patch does not apply`,
      ),
    ),
  },
  {
    kind: 'looping',
    about: 'a full context is met with the same request again',
    turns: rounds(6, () =>
      failed(
        'llm complete',
        'This model maximum context length is 128000 tokens, your messages resulted in 131072 tokens.',
      ),
    ),
  },
  {
    kind: 'looping',
    about: 'good work first, then lint and format undo each other',
    turns: [
      did('edit src/a.ts +20 -0', 'Updated src/a.ts.', { tree: 't1' }),
      tested('npm test', 3, ['b works', 'c works'], { tree: 't1' }),
      did('edit src/b.ts +12 -0', 'Updated src/b.ts.', { tree: 't2' }),
      tested('npm test', 4, ['c works'], { tree: 't2' }),
      ...rounds(5, () => [
        did('npm run lint:fix', '1 file changed: trailing commas added.', { tree: 'lint' }),
        did('npm run format', '1 file changed: trailing commas removed.', { tree: 'fmt' }),
      ]),
    ],
  },
];
