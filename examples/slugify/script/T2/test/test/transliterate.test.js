import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { slugify } from '../src/slugify.js';

const SLUGS = [
  ['Straße nach Ærø', 'strasse-nach-aero'],
  ['Łódź', 'lodz'],
  ['Smørrebrød på Øresund', 'smorrebrod-pa-oresund'],
  ['Œuvres complètes', 'oeuvres-completes'],
  ['Þingvellir og Reykjavík', 'thingvellir-og-reykjavik'],
  ['Đakovo', 'dakovo'],
  ['Diyarbakır', 'diyarbakir'],
  ['Salt & Pepper', 'salt-and-pepper'],
  ['R&B', 'r-and-b'],
];

describe('letters without an accent to drop', () => {
  for (const [text, slug] of SLUGS) {
    it(`turns ${JSON.stringify(text)} into ${JSON.stringify(slug)}`, () => {
      assert.equal(slugify(text), slug);
    });
  }
});

describe('transliterate', () => {
  it('keeps the case of the first letter and everything it does not know', async () => {
    const { transliterate } = await import('../src/transliterate.js');
    assert.equal(transliterate('ÆØ and æø, é, 日'), 'AeO and aeo, é, 日');
  });
});
