import { jest, mocha, nodeTest, vitest } from '../dialects.ts';
import { functionFeature } from '../functionFeature.ts';
import type { Repository } from '../Repository.ts';

// Repositories as their generators leave them: a package.json, a source folder, a test of it, a readme.

const manifest = (name: string, script: string, more: object = {}): string =>
  `${JSON.stringify({ name, version: '1.0.0', private: true, ...more, scripts: { test: script } }, null, 2)}\n`;

const WORDS = `/** The text with its first letter in upper case. */
export function capitalise(text) {
  return text === '' ? '' : text[0].toUpperCase() + text.slice(1);
}
`;

const slug = functionFeature({
  title: 'Turn a text into a slug',
  brief:
    '`slug(text)` is the text in lower case, its words joined with one dash. What is neither letter nor digit parts ' +
    'words; there is no dash at either end.',
  code: 'src/words.js',
  test: 'test/slug.test.js',
  call: 'slug',
  module: 'esm',
  params: 'text',
  right: "return text.toLowerCase().split(/[^a-z0-9]+/).filter(Boolean).join('-');",
  wrong: 'return text.toLowerCase();',
  cases: [
    { args: "'Hello World'", expected: "'hello-world'" },
    { args: "'a  b'", expected: "'a-b'" },
  ],
  hidden: [
    { args: "'  One, two: three!'", expected: "'one-two-three'" },
    { args: "''", expected: "''" },
  ],
});

const words = (test: string, script: string, more: object = {}): Repository['files'] => ({
  'package.json': manifest('words', script, { type: 'module', ...more }),
  'README.md': '# words\n\n`capitalise(text)` puts the first letter in upper case.\n',
  'src/words.js': WORDS,
  'test/words.test.js': test,
});

const WORDS_CASES = [
  { args: "'ada'", expected: "'Ada'" },
  { args: "''", expected: "''" },
];

const wordsTest = {
  name: 'capitalise',
  call: 'capitalise',
  from: '../src/words.js',
  title: 'puts the first letter in upper case',
  cases: WORDS_CASES,
};

const nodeRepository: Repository = {
  name: 'node-test',
  what: 'npm init, node --test',
  files: words(nodeTest.write(wordsTest), 'node --test'),
  tools: {},
  script: 'node --test',
  dialect: nodeTest,
  ownTest: 'test/words.test.js',
  moreTests: (name) => `test/${name}.test.js`,
  readme: 'README.md',
  feature: slug,
  local: { links: [], check: ['node', '--test'] },
};

const vitestRepository: Repository = {
  name: 'vitest',
  what: 'Vitest, its globals on',
  files: words(vitest.write(wordsTest), 'vitest run --globals', { devDependencies: { vitest: '3.2.4' } }),
  tools: { vitest: '3.2.4' },
  script: 'vitest run --globals',
  dialect: vitest,
  ownTest: 'test/words.test.js',
  moreTests: (name) => `test/${name}.test.js`,
  readme: 'README.md',
  feature: slug,
  local: { links: ['vitest'], check: ['node', 'node_modules/vitest/vitest.mjs', 'run', '--globals'] },
};

const MONEY = `/** Cents as a text: 1234 is 12.34. */
exports.format = function (cents) {
  return (cents / 100).toFixed(2);
};
`;

const jestRepository: Repository = {
  name: 'jest',
  what: 'Jest, CommonJS',
  files: {
    'package.json': manifest('money', 'jest', { devDependencies: { jest: '29.7.0' } }),
    'README.md': '# money\n\n`format(1234)` is `12.34`.\n',
    'src/money.js': MONEY,
    'test/money.test.js': jest.write({
      name: 'format',
      call: 'format',
      from: '../src/money.js',
      title: 'prints cents',
      cases: [{ args: '1234', expected: "'12.34'" }],
    }),
  },
  tools: { jest: '29.7.0' },
  script: 'jest',
  dialect: jest,
  ownTest: 'test/money.test.js',
  moreTests: (name) => `test/${name}.test.js`,
  readme: 'README.md',
  feature: functionFeature({
    title: 'Read an amount',
    brief:
      '`parse(text)` reads an amount such as `12.34` as whole cents. It is `null` for what is no amount with at most ' +
      'two decimals.',
    code: 'src/money.js',
    test: 'test/parse.test.js',
    call: 'parse',
    module: 'cjs',
    params: 'text',
    right: 'return /^-?\\d+(\\.\\d{1,2})?$/.test(text) ? Math.round(Number(text) * 100) : null;',
    wrong: 'return Number(text);',
    cases: [
      { args: "'12.34'", expected: '1234' },
      { args: "'x'", expected: 'null' },
    ],
    hidden: [
      { args: "'-0.5'", expected: '-50' },
      { args: "'1.234'", expected: 'null' },
    ],
  }),
};

const RANGES = `/** The number, or the nearer end of the range. */
export function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
`;

const mochaRepository: Repository = {
  name: 'mocha',
  what: 'Mocha, ES modules',
  files: {
    'package.json': manifest('ranges', 'mocha', { type: 'module', devDependencies: { mocha: '11.7.1' } }),
    'README.md': '# ranges\n\n`clamp(value, low, high)` keeps a number in a range.\n',
    'src/ranges.js': RANGES,
    'test/ranges.js': mocha.write({
      name: 'clamp',
      call: 'clamp',
      from: '../src/ranges.js',
      title: 'keeps a number in a range',
      cases: [{ args: '5, 1, 3', expected: '3' }],
    }),
  },
  tools: { mocha: '11.7.1' },
  script: 'mocha',
  dialect: mocha,
  ownTest: 'test/ranges.js',
  moreTests: (name) => `test/${name}.js`,
  readme: 'README.md',
  feature: functionFeature({
    title: 'Tell whether two ranges overlap',
    brief:
      '`overlap(a, b)` tells whether two ranges `[low, high]` have a number in common. Both ends belong to a range; ' +
      'ends may come in either order.',
    code: 'src/ranges.js',
    test: 'test/overlap.js',
    call: 'overlap',
    module: 'esm',
    params: 'a, b',
    right: 'return Math.max(Math.min(...a), Math.min(...b)) <= Math.min(Math.max(...a), Math.max(...b));',
    wrong: 'return a[0] < b[0];',
    cases: [
      { args: '[1, 2], [3, 4]', expected: 'false' },
      { args: '[1, 3], [3, 4]', expected: 'true' },
    ],
    hidden: [
      { args: '[3, 1], [2, 5]', expected: 'true' },
      { args: '[5, 6], [1, 2]', expected: 'false' },
    ],
  }),
};

const UNITS = `/** Minutes as a text: 90 is 1:30. */
export function clock(minutes) {
  return \`\${Math.floor(minutes / 60)}:\${String(minutes % 60).padStart(2, '0')}\`;
}
`;

const REPORT = `import { clock } from '@trial/units';

/** A line of a report. */
export const line = (name, minutes) => \`\${name} \${clock(minutes)}\`;
`;

const monorepo: Repository = {
  name: 'pnpm-monorepo',
  what: 'pnpm workspace of two packages, node --test',
  files: {
    'package.json': manifest('times', 'pnpm -r test', { packageManager: 'pnpm@10.34.9' }),
    'pnpm-workspace.yaml': 'packages:\n  - packages/*\n',
    'README.md': '# times\n\nTwo packages: units and reports.\n',
    'packages/units/package.json': manifest('@trial/units', 'node --test', {
      type: 'module',
      exports: './units.js',
    }),
    'packages/units/units.js': UNITS,
    'packages/units/units.test.js': nodeTest.write({
      name: 'clock',
      call: 'clock',
      from: './units.js',
      title: 'prints hours and minutes',
      cases: [{ args: '90', expected: "'1:30'" }],
    }),
    'packages/report/package.json': manifest('@trial/report', 'node --test', {
      type: 'module',
      exports: './report.js',
      dependencies: { '@trial/units': 'workspace:*' },
    }),
    'packages/report/report.js': REPORT,
    'packages/report/report.test.js': nodeTest.write({
      name: 'line',
      call: 'line',
      from: './report.js',
      title: 'names and times',
      cases: [{ args: "'rest', 65", expected: "'rest 1:05'" }],
    }),
  },
  tools: { pnpm: '10.34.9' },
  script: 'pnpm -r test',
  dialect: nodeTest,
  ownTest: 'packages/units/units.test.js',
  moreTests: (name) => `packages/units/${name}.test.js`,
  readme: 'README.md',
  feature: functionFeature({
    title: 'Read a time as minutes',
    brief:
      '`minutes(text)` of `@trial/units` reads a time such as `1:30` as minutes. It is `null` for what is no time; ' +
      'minutes have two digits and are below 60.',
    code: 'packages/units/units.js',
    test: 'packages/units/minutes.test.js',
    call: 'minutes',
    module: 'esm',
    params: 'text',
    right:
      'const [, hours, rest] = /^(\\d+):([0-5]\\d)$/.exec(text) ?? [];\n' +
      'return hours === undefined ? null : 60 * Number(hours) + Number(rest);',
    wrong: 'return Number(text);',
    cases: [
      { args: "'1:30'", expected: '90' },
      { args: "'x'", expected: 'null' },
    ],
    hidden: [
      { args: "'0:05'", expected: '5' },
      { args: "'1:75'", expected: 'null' },
    ],
  }),
};

export const GENERATED: readonly Repository[] = [
  vitestRepository,
  jestRepository,
  mochaRepository,
  nodeRepository,
  monorepo,
];
