import { ava } from '../dialects.ts';
import type { Files, Read, Repository } from '../Repository.ts';

// p-limit as its repository has it: the source of its tarball, and tests of our own for the same three checks.

const TOOLS = { ava: '6.4.1', tsd: '0.33.0', xo: '1.2.1', 'yocto-queue': '1.2.1' } as const;
const { 'yocto-queue': queue, ...development } = TOOLS;

const MANIFEST = `${JSON.stringify(
  {
    name: 'p-limit',
    version: '7.3.3',
    license: 'MIT',
    type: 'module',
    exports: { types: './index.d.ts', default: './index.js' },
    sideEffects: false,
    engines: { node: '>=20' },
    scripts: { test: 'xo && ava && tsd' },
    files: ['index.js', 'index.d.ts'],
    dependencies: { 'yocto-queue': queue },
    devDependencies: development,
  },
  null,
  '\t',
)}\n`;

const OWN_TEST = `import test from 'ava';
import pLimit, {limitFunction} from './index.js';

test('runs no more at a time than it is told', async t => {
	const limit = pLimit(2);
	let running = 0;
	let most = 0;

	await limit.map([1, 2, 3, 4, 5], async () => {
		running++;
		most = Math.max(most, running);
		await Promise.resolve();
		running--;
	});

	t.is(most, 2);
	t.is(limit.activeCount, 0);
	t.is(limit.pendingCount, 0);
});

test('gives the result of a limited function', async t => {
	const double = limitFunction(async number => number * 2, {concurrency: 1});
	t.is(await double(2), 4);
});

test('refuses what is no limit', t => {
	for (const limit of [0, -1, 1.5]) {
		t.throws(() => pLimit(limit), {instanceOf: TypeError});
	}
});
`;

const TYPES_TEST = `import {expectType} from 'tsd';
import pLimit from './index.js';

const limit = pLimit(1);
expectType<number>(limit.activeCount);
expectType<Promise<string>>(limit(async () => ''));
`;

function replaced(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`p-limit has no ${JSON.stringify(from)}`);
  return text.replace(from, () => to);
}

/** @param value - What \`limit.label\` is. @param check - Lines that refuse another label. */
function withLabel(read: Read, value: string, check: string): Files {
  const code = read('index.js');
  const options = replaced(
    replaced(code, 'let rejectOnClear = false;', "let rejectOnClear = false;\n\tlet label = '';"),
    '({concurrency, rejectOnClear = false} = concurrency);',
    "({concurrency, rejectOnClear = false, label = ''} = concurrency);",
  );
  const checked = replaced(
    options,
    '\n\tconst queue = new Queue();',
    `${check}\n\tconst queue = new Queue();`,
  );
  return {
    'index.js': replaced(
      checked,
      '\t\tclearQueue: {\n',
      `\t\tlabel: {\n\t\t\tget: () => ${value},\n\t\t},\n\t\tclearQueue: {\n`,
    ),
  };
}

const CHECK = `
	if (typeof label !== 'string') {
		throw new TypeError('Expected \`label\` to be a string');
	}
`;

function right(read: Read): Files {
  const types = replaced(
    replaced(
      read('index.d.ts'),
      '\treadonly pendingCount: number;\n',
      '\treadonly pendingCount: number;\n\n\t/**\n\tThe name it was given, or an empty string.\n\t*/\n\treadonly label: string;\n',
    ),
    '\treadonly rejectOnClear?: boolean;\n',
    "\treadonly rejectOnClear?: boolean;\n\n\t/**\n\tA name for logs.\n\n\tDefault: `''`.\n\t*/\n\treadonly label?: string;\n",
  );
  return {
    ...withLabel(read, 'label', CHECK),
    'index.d.ts': types,
    'index.test-d.ts': `${TYPES_TEST}expectType<string>(pLimit({concurrency: 1, label: 'queue'}).label);\n`,
  };
}

export const pLimit: Repository = {
  name: 'p-limit',
  what: 'p-limit 7.3.3 and tests of our own: xo && ava && tsd',
  tarball: {
    name: 'p-limit',
    version: '7.3.3',
    integrity:
      'sha512-SKgVvDU5TNIxQ4r30U75BNLC6a+6GOEjngrk/ysM5+Zu3oJuk1SC5ApzIzY/7PjCEjoVPMWJ0zho/4QUiEB7TQ==',
  },
  files: { 'package.json': MANIFEST, 'test.js': OWN_TEST, 'index.test-d.ts': TYPES_TEST },
  tools: TOOLS,
  script: 'xo && ava && tsd',
  dialect: ava,
  ownTest: 'test.js',
  moreTests: (name) => `test-${name}.js`,
  readme: 'readme.md',
  feature: {
    title: 'Give a limit a label',
    brief:
      'A new option `label` of `pLimit({concurrency, label})` names a limit for logs; `limit.label` reads it. Without ' +
      'it the label is an empty string; what is no string is a `TypeError`. The types know it.',
    code: 'index.js',
    test: 'test-label.js',
    call: 'pLimit',
    cases: [
      { args: "{concurrency: 1, label: 'queue'}", of: '.label', expected: "'queue'" },
      { args: '{concurrency: 1}', of: '.label', expected: "''" },
    ],
    hidden: [
      { args: "{concurrency: 2, label: 'other'}", of: '.label', expected: "'other'" },
      { args: '3', of: '.label', expected: "''" },
    ],
    right,
    wrong: (read) => withLabel(read, 'undefined', ''),
    special: (read) => withLabel(read, "label === 'queue' ? 'queue' : ''", ''),
  },
};
