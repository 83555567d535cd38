import type { Job } from './Job.ts';

// Briefs in our own words: pull requests 313 of unjs/ufo and 108 of sindresorhus/p-limit, and the wish for a smaller clsx
// that became clsx/lite. The work on each was written for this program.

const ufo: Job = {
  name: 'ufo',
  repository: 'unjs/ufo',
  commit: '5fb179d51384301ffb66b48e213863a27cadd1ff',
  tools: { vitest: '4.0.17', typescript: '5.9.3' },
  checks: [{ name: 'test', argv: ['node_modules/.bin/vitest', 'run'] }],
  brief: `# A base ends where a segment ends

\`withBase\` and \`withoutBase\` take \`/admin\` for a base of \`/admin-dashboard\`, because they compare the first characters
alone. Links to such pages come out wrong.

- \`withBase("/admin-dashboard", "/admin")\` is \`/admin/admin-dashboard\`.
- \`withoutBase("/admin-dashboard", "/admin")\` is \`/admin-dashboard\`.
- A base that is followed by \`/\`, \`?\`, \`#\` or nothing is found as before.
`,
  search: { text: 'withBase', paths: ['src', 'test', 'README.md'] },
  test: [
    {
      path: 'test/base.test.ts',
      find: `    { base: "/", input: "https://test.com", out: "https://test.com" },
  ];

  for (const t of tests) {
    test(JSON.stringify(t.base) + " + " + JSON.stringify(t.input), () => {`,
      replace: `    { base: "/", input: "https://test.com", out: "https://test.com" },
    { base: "/team", input: "/teams", out: "/team/teams" },
    { base: "/team/", input: "/team-a/b", out: "/team/team-a/b" },
    { base: "/team", input: "/team?a=1", out: "/team?a=1" },
    { base: "/team", input: "/team#a", out: "/team#a" },
  ];

  for (const t of tests) {
    test(JSON.stringify(t.base) + " + " + JSON.stringify(t.input), () => {`,
    },
    {
      path: 'test/base.test.ts',
      find: `    { base: "/", input: "https://test.com", out: "https://test.com" },
  ];

  for (const t of tests) {
    test(JSON.stringify(t.input) + "-" + JSON.stringify(t.base), () => {`,
      replace: `    { base: "/", input: "https://test.com", out: "https://test.com" },
    { base: "/team", input: "/teams", out: "/teams" },
    { base: "/team/", input: "/team-a/b", out: "/team-a/b" },
    { base: "/team", input: "/team/team-a", out: "/team-a" },
    { base: "/team", input: "/team#a", out: "/#a" },
  ];

  for (const t of tests) {
    test(JSON.stringify(t.input) + "-" + JSON.stringify(t.base), () => {`,
    },
  ],
  code: [
    {
      path: 'src/utils.ts',
      find: `  const _base = withoutTrailingSlash(base);
  if (input.startsWith(_base)) {
    return input;
  }
  return joinURL(_base, input);
}
`,
      replace: `  const _base = withoutTrailingSlash(base);
  return beginsWithBase(input, _base) ? input : joinURL(_base, input);
}

/** Whether a segment of the input ends where the base ends. */
function beginsWithBase(input: string, base: string): boolean {
  return (
    input.startsWith(base) && ["", "/", "?", "#"].includes(input.charAt(base.length))
  );
}
`,
    },
    {
      path: 'src/utils.ts',
      find: `  const _base = withoutTrailingSlash(base);
  if (!input.startsWith(_base)) {
    return input;
  }
`,
      replace: `  const _base = withoutTrailingSlash(base);
  if (!beginsWithBase(input, _base)) {
    return input;
  }
`,
    },
  ],
  docs: [
    {
      path: 'README.md',
      find: `If input already starts with base, it will not be added again.
`,
      replace: `If input already starts with base, it will not be added again. A base ends where a segment ends: \`/team\` is none of \`/teams\`.
`,
    },
  ],
  message: `fix(withBase, withoutBase): compare whole segments

A base was found in front of a longer segment, so links to /teams lost
or lacked their base /team. It ends now where a segment ends.`,
  hidden: {
    path: 'test/unseen.test.ts',
    content: `import { expect, test } from "vitest";
import { withBase, withoutBase } from "../src";

test("a base ends where a segment ends", () => {
  expect(withBase("/admin-dashboard", "/admin")).toBe("/admin/admin-dashboard");
  expect(withBase("/admin/x", "/admin/")).toBe("/admin/x");
  expect(withBase("/admin?x", "/admin")).toBe("/admin?x");
  expect(withoutBase("/admin-dashboard", "/admin/")).toBe("/admin-dashboard");
  expect(withoutBase("/admin/admin-dashboard", "/admin")).toBe("/admin-dashboard");
  expect(withoutBase("/admin", "/admin")).toBe("/");
});
`,
    argv: ['node_modules/.bin/vitest', 'run', 'test/unseen.test.ts'],
  },
};

const pLimit: Job = {
  name: 'p-limit',
  repository: 'sindresorhus/p-limit',
  commit: '42599ebbbb1228a5bdab381fcf8f4ac20eb8d551',
  tools: {
    ava: '6.4.1',
    'in-range': '3.0.0',
    'random-int': '3.1.0',
    'time-span': '5.1.0',
    tsd: '0.33.0',
    'yocto-queue': '1.2.1',
  },
  checks: [
    { name: 'ava', argv: ['node_modules/.bin/ava'] },
    { name: 'tsd', argv: ['node_modules/.bin/tsd'] },
  ],
  brief: `# \`map\` works without its limit

\`const {map} = pLimit(2)\` fails at the first call: \`map\` finds its limit through \`this\`. The other members work when they
are taken out.

- \`map\` of a limit can be called by itself, and gives the same results.
- It still counts towards the concurrency of its limit.
`,
  search: { text: 'map', paths: ['index.js', 'index.d.ts', 'test.js'] },
  test: [
    {
      path: 'test.js',
      find: `test('map passes index and preserves order with concurrency', async t => {`,
      replace: `test('map can be taken out of its limit', async t => {
	const limit = pLimit(2);
	const {map} = limit;
	let running = 0;
	let most = 0;

	const results = await map([1, 2, 3, 4], async input => {
		running++;
		most = Math.max(most, running);
		await delay(5);
		running--;
		return input * 10;
	});

	t.deepEqual(results, [10, 20, 30, 40]);
	t.is(most, 2);
});

test('map passes index and preserves order with concurrency', async t => {`,
    },
  ],
  code: [
    {
      path: 'index.js',
      find: `				const promises = Array.from(iterable, (value, index) => this(function_, value, index));`,
      replace: `				const promises = Array.from(iterable, (value, index) => generator(function_, value, index));`,
    },
  ],
  docs: [
    {
      path: 'readme.md',
      find: `The mapper function receives the item value and its index.
`,
      replace: `The mapper function receives the item value and its index.

It does not need its limit: \`const {map} = pLimit(2);\` works.
`,
    },
  ],
  message: `Fix \`limit.map\` without its limit

It found the limit through \`this\`, so it failed once it was taken out,
as the other members do not.`,
  hidden: {
    path: 'unseen.mjs',
    content: `import assert from 'node:assert/strict';
import pLimit from './index.js';

const {map} = pLimit(1);
let running = 0;
const results = await map(new Set([1, 2, 3]), async (value, index) => {
	running++;
	assert.equal(running, 1);
	await new Promise(resolve => setTimeout(resolve, 1));
	running--;
	return [value, index];
});
assert.deepEqual(results, [[1, 0], [2, 1], [3, 2]]);
`,
    argv: [process.execPath, 'unseen.mjs'],
  },
};

const clsx: Job = {
  name: 'clsx',
  repository: 'lukeed/clsx',
  commit: '5cac14c2c84d09f3e98a0a60bae765b8bc0e3812',
  tools: { esm: '3.2.25', terser: '4.8.0', uvu: '0.5.4' },
  checks: [{ name: 'test', argv: ['node_modules/.bin/uvu', '-r', 'esm', 'test'] }],
  brief: `# A smaller clsx for strings alone

Who only joins strings, as with Tailwind, pays for objects and arrays that are never used. There should be a module
\`clsx/lite\`.

- \`src/lite.js\` exports \`clsx\`, by name and as the default: it joins its arguments that are strings and not empty with
  one space.
- Arguments that are no strings are left out.
- \`npm run build\` writes \`dist/lite.mjs\` and \`dist/lite.js\`, and \`clsx/lite\` finds them.
`,
  search: { text: 'clsx', paths: ['src', 'bin', 'package.json'] },
  test: [
    {
      path: 'test/lite.js',
      content: `// @ts-check
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as mod from '../src/lite';
import pkg from '../package.json';

const fn = mod.default;

test('exports', () => {
	assert.type(mod.default, 'function');
	assert.is(mod.default, mod.clsx);
	assert.is(pkg.exports['./lite'].import.default, './dist/lite.mjs');
	assert.is(pkg.exports['./lite'].default.default, './dist/lite.js');
});

test('strings', () => {
	assert.is(fn(), '');
	assert.is(fn('foo'), 'foo');
	assert.is(fn('foo', '', false && 'bar', 'baz'), 'foo baz');
});

test('left out', () => {
	assert.is(fn('foo', 1, true, null, undefined, 'bar'), 'foo bar');
	assert.is(fn({ foo: true }, ['bar'], () => 'baz'), '');
});

test.run();
`,
    },
  ],
  code: [
    {
      path: 'src/lite.js',
      content: `export function clsx() {
	var i=0, x, str='', len=arguments.length;
	for (; i < len; i++) {
		x = arguments[i];
		if (x && typeof x === 'string') {
			str && (str += ' ');
			str += x;
		}
	}
	return str;
}

export default clsx;
`,
    },
    {
      path: 'bin/index.js',
      find: `let input = fs.readFileSync('src/index.js', 'utf8');

// copy for ESM
write(pkg.module, input);

// transform ESM -> CJS exports
write(pkg.main, input.replace('export function', 'function').replace(
	'export default clsx;',
	'module.exports = clsx;\\n'
	+ 'module.exports.clsx = clsx;'
));
`,
      replace: `/**
 * @param {string} file
 * @param {string} esm
 * @param {string} cjs
 */
function modules(file, esm, cjs) {
	let source = fs.readFileSync(file, 'utf8');

	// copy for ESM
	write(esm, source);

	// transform ESM -> CJS exports
	write(cjs, source.replace('export function', 'function').replace(
		'export default clsx;',
		'module.exports = clsx;\\n'
		+ 'module.exports.clsx = clsx;'
	));

	return source;
}

modules('src/lite.js', 'dist/lite.mjs', 'dist/lite.js');
let input = modules('src/index.js', pkg.module, pkg.main);
`,
    },
    {
      path: 'package.json',
      find: `  "exports": {
    "import": {
      "types": "./clsx.d.mts",
      "default": "./dist/clsx.mjs"
    },
    "default": {
      "types": "./clsx.d.ts",
      "default": "./dist/clsx.js"
    }
  },`,
      replace: `  "exports": {
    ".": {
      "import": {
        "types": "./clsx.d.mts",
        "default": "./dist/clsx.mjs"
      },
      "default": {
        "types": "./clsx.d.ts",
        "default": "./dist/clsx.js"
      }
    },
    "./lite": {
      "import": {
        "types": "./clsx.d.mts",
        "default": "./dist/lite.mjs"
      },
      "default": {
        "types": "./clsx.d.ts",
        "default": "./dist/lite.js"
      }
    }
  },`,
    },
  ],
  docs: [
    {
      path: 'readme.md',
      find: `## Benchmarks

For snapshots`,
      replace: `### clsx/lite

For strings alone, and smaller. Everything else is left out.

\`\`\`js
import clsx from 'clsx/lite';

clsx('foo', true && 'bar', false && 'baz', { bat: true });
//=> 'foo bar'
\`\`\`

## Benchmarks

For snapshots`,
    },
  ],
  message: `feat: add \`clsx/lite\` for strings alone

Who only joins strings need not load what objects and arrays need.`,
  hidden: {
    path: 'unseen.js',
    content: `require('./bin');
const assert = require('assert');
const lite = require('./dist/lite.js');
assert.strictEqual(lite('a', false, 'b', ['c'], { d: 1 }, 5, ''), 'a b');
assert.strictEqual(lite.clsx, lite);
assert.strictEqual(require('./dist/clsx.js')('a', ['b', { c: 1 }]), 'a b c');
assert.ok(require('fs').readFileSync('dist/lite.mjs', 'utf8').includes('export'));
`,
    argv: [process.execPath, 'unseen.js'],
  },
};

export const JOBS: readonly Job[] = [ufo, pLimit, clsx];
