import { describe, expect, test } from 'vitest';
import { unknownFilesIn } from '../nodes/unknownFiles.ts';

const FILES = [
  'README.md',
  'package.json',
  'tsconfig.json',
  'src/index.ts',
  'src/slug.ts',
  'src/text/words.ts',
  'test/slug.test.ts',
  'packages/web/src/App.tsx',
];

const unknownIn = (content: string, files = FILES) => unknownFilesIn([{ content }], files);

describe('a design', () => {
  test.each([
    ['Change `src/slugify.ts` so that it folds umlauts.', ['src/slugify.ts']],
    ['- `lib/strings/slug.js`: exports `slug`.', ['lib/strings/slug.js']],
    ['Add an option `separator` to `src/options.ts`.', ['src/options.ts']],
    ['See `src/slugify.ts:12-14` and `./src/words.ts#L3`.', ['src/slugify.ts', 'src/words.ts']],
    ['The tests in `test/words.test.ts` stay.', ['test/words.test.ts']],
    ['`slugify.ts` holds the table.', ['slugify.ts']],
    ['# A new slug\n\nToday `src/slugify.ts` drops them.', ['src/slugify.ts']],
    ['Reads `config/default.json` at start.', ['config/default.json']],
    ['| file | does |\n| --- | --- |\n| `src/slugify.ts` | folds |', ['src/slugify.ts']],
  ])('that rests on a file nobody has seen: %j', (text, found) => {
    expect(unknownIn(text)).toEqual(found);
  });

  test.each([
    // What is there, in every spelling.
    'Change `src/slug.ts`, `./src/index.ts:3`, `slug.ts`, `text/words.ts` and `src/App.tsx`.',
    'The import stays `./src/slug.js`, compiled from TypeScript.',
    '`README.md` and `package.json` are brought up to date.',
    // Announced as new.
    'Create `src/fold.ts` with one function.',
    '`src/fold.ts` (new): one function.',
    '`src/fold.ts` is a new module.',
    '`src/fold.ts` — new, holds the table.',
    'A new module `src/fold.ts` holds it. Later `src/fold.ts` may grow.',
    'Add tests in `test/fold.test.ts`.',
    'Split `src/slug.ts` into `src/fold.ts` and `src/join.ts`.',
    'Rename `src/slug.ts` to `src/slugify.ts`.',
    '## New files\n\n- `src/fold.ts`\n- `test/fold.test.ts`',
    'The following files are added:\n\n1. `src/fold.ts`: the table',
    '| new file | does |\n| --- | --- |\n| `src/fold.ts` | folds |',
    'The folder `src/fold/` is new.\n\n`src/fold/table.ts` holds the table.',
    // No files at all.
    'Uses `Node.js`, `Vue.js`, `console.log`, `Math.max`, `node:fs`, `application/json` and `and/or`.',
    'Run `pnpm test src/none.ts`, or `https://example.com/a.js`, or `/etc/app.js`.',
    'Import `@scope/pkg/index.js` and `lodash`.',
    'Built to `dist/index.js`; ignores `node_modules/x/y.js` and `**/*.test.ts`.',
    'Say `path/to/file.ts`, `foo.ts` or `src/foo.js`.',
    '```ts\n// src/other.ts\nimport `src/never.ts`\n```',
    // Said not to be there.
    'There is no `src/options.ts` today.',
    'It does not need `src/options.ts`.',
    'For example `src/options.ts`.',
    '',
  ])('that does not: %j', (text) => {
    expect(unknownIn(text)).toEqual([]);
  });

  test('announces for all its documents', () => {
    const documents = [{ content: '`src/fold.ts` holds it.' }, { content: 'Create `src/fold.ts`.' }];
    expect(unknownFilesIn(documents, FILES)).toEqual([]);
  });

  test('of a project that begins is free to name its files', () => {
    expect(unknownIn('`src/slugify.ts` does it.', [])).toEqual([]);
    expect(unknownIn('`src/slugify.ts` does it.', ['README.md', 'package.json'])).toEqual([]);
  });

  test('of a megabyte is read at once', () => {
    expect(unknownIn(`# ${'add new '.repeat(50_000)}\n- ${'add '.repeat(100_000)}\`src/a.ts\``)).toEqual([]);
    expect(unknownIn(`${'new '.repeat(100_000)}\`a/${'b'.repeat(100_000)}\n${'`'.repeat(100_000)}`)).toEqual(
      [],
    );
  });
});
