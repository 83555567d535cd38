import { did, failed, nth, rounds, said, type Trace, tested } from '../Trace.ts';

const PAGES = [
  'intro',
  'setup',
  'usage',
  'options',
  'recipes',
  'errors',
  'faq',
  'history',
  'credits',
  'legal',
];

export const progressing: readonly Trace[] = [
  {
    kind: 'progressing',
    about: 'uploads many images, each acknowledged alike',
    turns: rounds(14, (i) => did(`upload img-${i}.png`, 'HTTP 201 Created')),
  },
  {
    kind: 'progressing',
    about: 'translates page after page and checks the links of each',
    turns: PAGES.flatMap((page) => [
      did(`write de/${page}.md`, `Wrote de/${page}.md.`, { tree: page }),
      did('npm run check-links', 'All links are valid.', { tree: page }),
    ]),
  },
  {
    kind: 'progressing',
    about: 'a red test is written, then made green, feature by feature',
    turns: PAGES.slice(0, 6).flatMap((page, n) => [
      did(`edit test/${page}.test.ts`, 'Updated.', { tree: `${page}-t` }),
      tested('npm test', n, [`${page} works`], { tree: `${page}-t` }),
      did(`edit src/${page}.ts`, 'Updated.', { tree: `${page}-s` }),
      tested('npm test', n + 1, [], { tree: `${page}-s` }),
    ]),
  },
  {
    kind: 'progressing',
    about: 'coverage creeps up',
    turns: rounds(9, (i) => [
      did(`edit test/gap-${i}.test.ts`, 'Updated.', { tree: `cov${i}` }),
      did(
        'npm run coverage',
        `Statements ${70 + i * 2}.${i} %, branches ${61 + i} %, functions ${75 + i} %, lines ${71 + i * 2} %`,
        {
          tests: { passed: 100 + i * 3, failed: 0 },
          tree: `cov${i}`,
        },
      ),
    ]),
  },
  {
    kind: 'progressing',
    about: 'a bisect: the same test on ever other commits',
    turns: rounds(7, (i) =>
      did(
        `git bisect ${i % 2 === 0 ? 'good' : 'bad'}`,
        `Bisecting: ${Math.floor(256 / 2 ** i)} revisions left to test after this (roughly ${8 - i} steps)`,
        {
          tests: { passed: 10, failed: i % 2, failing: i % 2 === 0 ? [] : ['regression'] },
          tree: `rev${i}`,
        },
      ),
    ),
  },
  {
    kind: 'progressing',
    about: 'four attempts at a hard bug with other findings each',
    turns: [
      tested('npm test', 30, ['reconnects'], { tree: 'n0' }),
      did('read src/socket.ts', 'on close: timer = setTimeout(connect, delay)'),
      did('edit src/socket.ts clear timer', 'Updated.', { tree: 'n1' }),
      tested('npm test', 30, ['reconnects'], { tree: 'n1' }),
      did('add log lines', 'Updated.', { tree: 'n2' }),
      did('npm test -- reconnects', 'close, connect, close, connect: connect is called twice per close', {
        tree: 'n2',
      }),
      did('edit src/socket.ts once', 'Updated.', { tree: 'n3' }),
      tested('npm test', 30, ['reconnects after sleep'], { tree: 'n3' }),
      did('edit src/socket.ts unref', 'Updated.', { tree: 'n4' }),
      tested('npm test', 31, [], { tree: 'n4' }),
    ],
  },
  {
    kind: 'progressing',
    about: 'a flaky end-to-end test is retried twice',
    turns: [
      did('edit e2e/pay.spec.ts', 'Updated.', { tree: 'e' }),
      failed('playwright test', 'browser closed unexpectedly', { tree: 'e' }),
      failed('playwright test', 'browser closed unexpectedly', { tree: 'e' }),
      tested('playwright test', 14, [], { tree: 'e' }),
      did('git commit -m pay', '[main 1a2b3c4] pay', { tree: 'e' }),
    ],
  },
  {
    kind: 'progressing',
    about: 'reads chapters and takes notes in one form',
    turns: rounds(8, (i) => [
      did(
        `read book.epub chapter ${i}`,
        `Chapter ${i}. ${nth(PAGES, i)} and ${nth(PAGES, i + 3)}: how ${nth(PAGES, i + 5)} came about in year ${1800 + i * 13}.`,
      ),
      did('notes append', 'Saved.'),
    ]),
  },
  {
    kind: 'progressing',
    about: 'hyperparameters are searched, results wander and improve',
    turns: rounds(10, (i) =>
      did(
        `fit --depth ${i} --rate 0.${i}`,
        `score 0.${61 + ((i * 7) % 9) + i}, ${i * 3} trees, ${i + 2} leaves`,
      ),
    ),
  },
  {
    kind: 'progressing',
    about: 'a migration in steps with a dry run before each',
    turns: PAGES.slice(0, 5).flatMap((table) => [
      did(`migrate --dry-run ${table}`, `would change table ${table}: 2 columns, 1 index`),
      did(`migrate ${table}`, 'done'),
      did('db check', 'consistent'),
    ]),
  },
  {
    kind: 'progressing',
    about: 'the formatter is run after each edit and has nothing to do',
    turns: PAGES.slice(0, 8).flatMap((page) => [
      did(`edit src/${page}.py`, 'edited', { tree: page }),
      did('black .', 'All done! 31 files left unchanged.', { tree: page }),
      did('mypy .', 'Success: no issues found in 31 source files', { tree: page }),
    ]),
  },
  {
    kind: 'progressing',
    about: 'an interview: questions differ, answers come',
    turns: PAGES.slice(0, 7).flatMap((page) => [
      said(`What should readers of the ${page} page be able to do afterwards?`),
      did(`ask editor ${page}`, `For ${page}: they should find their way without asking support.`),
    ]),
  },
  {
    kind: 'progressing',
    about: 'type errors fall from dozens to none, the report is long',
    turns: rounds(6, (i) => [
      did(`edit src/${nth(PAGES, i)}.ts`, 'Updated.', { tree: `ty${i}` }),
      did(
        'tsc --noEmit',
        rounds(8 - i, (n) => ({
          action: '',
          output: `src/${nth(PAGES, n + i)}.ts(${n * 11},5): error TS2345: Argument of type '${nth(PAGES, n)}' is not assignable`,
        }))
          .map(({ output = '' }) => output)
          .join('\n'),
        { tests: { passed: 0, failed: 8 - i }, tree: `ty${i}` },
      ),
    ]),
  },
  {
    kind: 'progressing',
    about: 'tries a library, goes back, writes it by hand',
    turns: [
      did('npm install csv-lib', 'added 1 package', { tree: 'lib' }),
      failed('npm run build', 'csv-lib is not an ES module', { tree: 'lib' }),
      did('npm uninstall csv-lib', 'removed 1 package', { tree: 'without' }),
      did('edit src/csv.ts', 'Updated.', { tree: 'own' }),
      did('npm run build', 'built', { tree: 'own' }),
      tested('npm test', 22, ['quotes', 'newlines'], { tree: 'own' }),
      did('edit src/csv.ts quotes', 'Updated.', { tree: 'own2' }),
      tested('npm test', 23, ['newlines'], { tree: 'own2' }),
      did('edit src/csv.ts newlines', 'Updated.', { tree: 'own3' }),
      tested('npm test', 24, [], { tree: 'own3' }),
    ],
  },
  {
    kind: 'progressing',
    about: 'moves through a game, most moves answered alike',
    turns: rounds(16, (i) =>
      did(
        `move ${nth(['north', 'east', 'north', 'take lamp', 'east', 'open door'], i)} from room ${i}`,
        i % 4 === 0 ? `You enter room ${i}. There is a key.` : 'Done.',
      ),
    ),
  },
];
