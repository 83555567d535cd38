import { tape } from '../dialects.ts';
import { functionFeature } from '../functionFeature.ts';
import type { Repository } from '../Repository.ts';

// Packages whose tarballs carry the tests of their authors. Their package.json is put down to what a checkout needs to
// run those tests: coverage, linters and release tools are left out, whose configurations are not in the tarballs.

const TAPE = { tape: '5.9.0' } as const;

const manifest = (name: string, version: string, script: string, more: object = {}): string =>
  `${JSON.stringify({ name, version, license: 'MIT', scripts: { test: script }, devDependencies: TAPE, ...more }, null, 2)}\n`;

const stableStringify: Repository = {
  name: 'fast-json-stable-stringify',
  what: 'fast-json-stable-stringify 2.1.0, tape, its own tests',
  tarball: {
    name: 'fast-json-stable-stringify',
    version: '2.1.0',
    integrity:
      'sha512-lhd/wF+Lk98HZoTCtlVraHtfh5XYijIjalXck7saUtuanSDyLMxnHhSXEDJqHxD7msR8D0uCmqlkwjCV8xvwHw==',
  },
  files: {
    'package.json': manifest('fast-json-stable-stringify', '2.1.0', 'tape test/*.js', { main: 'index.js' }),
  },
  tools: TAPE,
  script: 'tape test/*.js',
  dialect: tape,
  ownTest: 'test/str.js',
  moreTests: (name) => `test/${name}.js`,
  readme: 'README.md',
  feature: functionFeature({
    title: 'Tell whether two values have the same stable text',
    brief:
      '`stringify.same(a, b)` tells whether two values have the same stable text: the order of keys does not count, at ' +
      'any depth; the order of items does.',
    code: 'index.js',
    test: 'test/same.js',
    call: 'stringify.same',
    module: 'property',
    params: 'a, b',
    right: 'return module.exports(a) === module.exports(b);',
    wrong: 'return JSON.stringify(a) === JSON.stringify(b);',
    cases: [
      { args: '{ a: 1, b: 2 }, { b: 2, a: 1 }', expected: 'true' },
      { args: '{ a: 1 }, { a: 2 }', expected: 'false' },
    ],
    hidden: [
      { args: '{ x: { c: 1, d: [2] } }, { x: { d: [2], c: 1 } }', expected: 'true' },
      { args: '[1, 2], [2, 1]', expected: 'false' },
    ],
  }),
  local: {
    links: ['tape'],
    check: ['sh', '-c', 'node node_modules/tape/bin/tape ./test/*.js'],
  },
};

const reusify: Repository = {
  name: 'reusify',
  what: 'reusify 1.1.0, tape, its own tests',
  tarball: {
    name: 'reusify',
    version: '1.1.0',
    integrity:
      'sha512-g6QUff04oZpHs0eG5p83rFLhHeV00ug/Yf9nZM6fLeUrPguBTkTQOdpAWWspMh55TZfVQDPaN3NQJfbVRAxdIw==',
  },
  files: {
    'package.json': manifest('reusify', '1.1.0', 'tape test.js test-*.js', { main: 'reusify.js' }),
    'test-exports.js':
      "'use strict'\nvar test = require('tape')\n\ntest('is a function', function (t) {\n  t.equal(typeof require('./'), 'function')\n  t.end()\n})\n",
  },
  tools: TAPE,
  script: 'tape test.js test-*.js',
  dialect: tape,
  ownTest: 'test.js',
  moreTests: (name) => `test-${name}.js`,
  readme: 'README.md',
  feature: functionFeature({
    title: 'Name a pool in logs',
    brief:
      '`reusify.label(name, size)` is how a pool is named in logs: its name and how many objects it holds, such as ' +
      '`queue (3 objects)`. One is `1 object`; a pool without a name is `pool`.',
    code: 'reusify.js',
    test: 'test-label.js',
    call: 'reusify.label',
    module: 'property',
    params: 'name, size',
    right: "return (name || 'pool') + ' (' + size + (size === 1 ? ' object)' : ' objects)');",
    wrong: "return name + ' ' + size;",
    cases: [
      { args: "'queue', 3", expected: "'queue (3 objects)'" },
      { args: "'queue', 1", expected: "'queue (1 object)'" },
    ],
    hidden: [
      { args: "'', 0", expected: "'pool (0 objects)'" },
      { args: "'a', 12", expected: "'a (12 objects)'" },
    ],
  }),
};

const minimist: Repository = {
  name: 'minimist',
  what: 'minimist 1.2.8, tape, its own tests',
  tarball: {
    name: 'minimist',
    version: '1.2.8',
    integrity:
      'sha512-2yyAR8qBkN3YuheJanUpWC5U3bb5osDywNB8RzDVlDwDHbocAJveqqj1u8+SVD7jkWT4yvsHCpWqqWqAxb0zCA==',
  },
  files: { 'package.json': manifest('minimist', '1.2.8', 'tape test/*.js', { main: 'index.js' }) },
  tools: TAPE,
  script: 'tape test/*.js',
  dialect: tape,
  ownTest: 'test/bool.js',
  moreTests: (name) => `test/${name}.js`,
  readme: 'README.md',
  feature: functionFeature({
    title: 'List the names of the options that were given',
    brief: '`parse.names(args)` lists the names of the options in `args`, sorted, each once, without dashes.',
    code: 'index.js',
    test: 'test/names.js',
    call: 'parse.names',
    module: 'property',
    params: 'args',
    right: "return Object.keys(module.exports(args)).filter(function (key) { return key !== '_'; }).sort();",
    wrong: "return args.filter(function (arg) { return arg[0] === '-'; });",
    cases: [
      { args: "['--beta', '--alpha', 'x']", expected: "['alpha', 'beta']" },
      { args: '[]', expected: '[]' },
    ],
    hidden: [
      { args: "['-xy', 'rest']", expected: "['x', 'y']" },
      { args: "['--a=1', '--a=2']", expected: "['a']" },
    ],
  }),
};

const sideChannel: Repository = {
  name: 'side-channel',
  what: 'side-channel 1.1.0, tape, dependencies, its own tests',
  tarball: {
    name: 'side-channel',
    version: '1.1.0',
    integrity:
      'sha512-ZX99e6tRweoUXqR+VBrslhda51Nh5MTQwou5tnUDgbtyM0dBgmhEDtWGP/xbKn6hqfPRHujUNwz5fy/wbbhnpw==',
  },
  files: {
    'package.json': manifest('side-channel', '1.1.0', 'tape test/*.js', {
      main: 'index.js',
      dependencies: {
        'es-errors': '1.3.0',
        'object-inspect': '1.13.4',
        'side-channel-list': '1.0.0',
        'side-channel-map': '1.0.1',
        'side-channel-weakmap': '1.0.2',
      },
    }),
  },
  tools: {
    ...TAPE,
    'es-errors': '1.3.0',
    'object-inspect': '1.13.4',
    'side-channel-list': '1.0.0',
    'side-channel-map': '1.0.1',
    'side-channel-weakmap': '1.0.2',
  },
  script: 'tape test/*.js',
  dialect: tape,
  ownTest: 'test/index.js',
  moreTests: (name) => `test/${name}.js`,
  readme: 'README.md',
  feature: functionFeature({
    title: 'Tell how a key is held',
    brief:
      "`getSideChannel.held(key)` is `'weak'` for keys that can be garbage collected (objects, functions), and " +
      "`'strong'` for all else.",
    code: 'index.js',
    test: 'test/held.js',
    call: 'getSideChannel.held',
    module: 'property',
    params: 'key',
    right:
      "return key !== null && (typeof key === 'object' || typeof key === 'function') ? 'weak' : 'strong';",
    wrong: "return typeof key === 'object' ? 'weak' : 'strong';",
    cases: [
      { args: '{}', expected: "'weak'" },
      { args: 'null', expected: "'strong'" },
    ],
    hidden: [
      { args: 'function () {}', expected: "'weak'" },
      { args: "'text'", expected: "'strong'" },
    ],
  }),
};

export const TARBALLS: readonly Repository[] = [stableStringify, reusify, minimist, sideChannel];
