import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { slugify } from '../src/slugify.js';

const EXAMPLES = [
  ['Crème Brûlée, the Easy Way!', 'creme-brulee-the-easy-way'],
  ['Hello World', 'hello-world'],
  ['  spaces   and\ttabs\n', 'spaces-and-tabs'],
  ['--already-a-slug--', 'already-a-slug'],
  ['Version 2.0 (final)', 'version-2-0-final'],
  ["Don't panic", 'dont-panic'],
  ['L’été à Noël', 'lete-a-noel'],
  ['Žižkov', 'zizkov'],
  ['ﬁne print', 'fine-print'],
  ['日本語', ''],
  ['', ''],
];

describe('slugify', () => {
  for (const [text, slug] of EXAMPLES) {
    it(`turns ${JSON.stringify(text)} into ${JSON.stringify(slug)}`, () => {
      assert.equal(slugify(text), slug);
    });
  }

  it('changes nothing the second time', () => {
    for (const [, slug] of EXAMPLES) assert.equal(slugify(slug), slug);
  });

  it('uses nothing but a-z, 0-9 and single hyphens', () => {
    for (let code = 0; code < 0x3000; code += 1) {
      assert.match(slugify(`a${String.fromCodePoint(code)}b`), /^[a-z0-9]+(-[a-z0-9]+)*$/);
    }
  });

  it('refuses what is not a string', () => {
    for (const wrong of [undefined, null, 42, {}, ['a']]) {
      assert.throws(() => slugify(wrong), {
        name: 'TypeError',
        message: /^Expected text to be a string, got /,
      });
    }
  });
});
