import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { slugify } from '../src/slugify.js';

describe('separator', () => {
  it('joins the words', () => {
    assert.equal(slugify('One two, three', { separator: '_' }), 'one_two_three');
    assert.equal(slugify('One two', { separator: '~' }), 'one~two');
  });

  it('is one of the characters that are safe in a URL', () => {
    for (const separator of ['', '/', '--', ' ', '%', 'a', null]) {
      assert.throws(() => slugify('a b', { separator }), /^(Range|Type)Error: Expected separator to be /);
    }
  });
});

describe('maxLength', () => {
  it('cuts at whole words and leaves no separator at the end', () => {
    assert.equal(slugify('one two three', { maxLength: 13 }), 'one-two-three');
    assert.equal(slugify('one two three', { maxLength: 12 }), 'one-two');
    assert.equal(slugify('one two three', { maxLength: 7 }), 'one-two');
    assert.equal(slugify('one two three', { maxLength: 6 }), 'one');
  });

  it('cuts a first word that is too long by itself', () => {
    assert.equal(slugify('Donaudampfschifffahrt heute', { maxLength: 5 }), 'donau');
  });

  it('is a positive integer', () => {
    for (const maxLength of [0, -1, 1.5, Number.NaN, '10', null]) {
      assert.throws(() => slugify('a', { maxLength }), {
        name: 'RangeError',
        message: `Expected maxLength to be a positive integer, got ${maxLength}.`,
      });
    }
  });
});

describe('lowercase', () => {
  it('can be switched off', () => {
    assert.equal(slugify('Straße nach Ærø', { lowercase: false }), 'Strasse-nach-Aero');
  });

  it('is a boolean', () => {
    assert.throws(() => slugify('a', { lowercase: 'no' }), /Expected lowercase to be a boolean, got no\./);
  });
});

describe('replacements', () => {
  it('come before everything else, the longest first', () => {
    const replacements = { C: 'see', 'C++': 'cpp', '&': 'und', ä: 'ae' };
    assert.equal(slugify('C++ & C für Mädchen', { replacements }), 'cpp-und-see-fur-maedchen');
  });

  it('take text, not patterns', () => {
    assert.equal(slugify('a.b axb', { replacements: { 'a.b': 'dot' } }), 'dot-axb');
    assert.equal(slugify('5$', { replacements: { $: ' $& dollars' } }), '5-and-dollars');
  });

  it('are strings', () => {
    assert.throws(
      () => slugify('a', { replacements: { a: 1 } }),
      /Expected replacements\.a to be a string, got 1\./,
    );
    assert.throws(
      () => slugify('a', { replacements: { '': 'x' } }),
      /Expected replacements to have no empty key/,
    );
    assert.throws(() => slugify('a', { replacements: [] }), /Expected replacements to be an object/);
  });
});

describe('options', () => {
  it('may be left out, one by one or all', () => {
    assert.equal(slugify('A b', undefined), 'a-b');
    assert.equal(slugify('A b', {}), 'a-b');
    assert.equal(slugify('A b', { separator: undefined }), 'a-b');
  });

  it('refuse a name that is not known', () => {
    assert.throws(() => slugify('a', { seperator: '_' }), /^TypeError: Unknown option seperator\./);
  });

  it('refuse what is not an object', () => {
    for (const wrong of [null, '_', 5])
      assert.throws(() => slugify('a', wrong), /Expected options to be an object/);
  });
});
