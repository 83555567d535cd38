import { readOptions } from './options.js';
import { transliterate } from './transliterate.js';

/** Combining marks: what decomposition leaves of an accent. */
const MARKS = /\p{M}+/gu;

/** Both shapes of the apostrophe: it belongs to its word. */
const APOSTROPHES = /['’]/g;

/** Everything else separates words. */
const BREAKS = /[^a-z0-9]+/i;

/**
 * Turns a text into the readable part of a URL.
 *
 * @example
 * slugify('Crème Brûlée, the Easy Way!'); // 'creme-brulee-the-easy-way'
 * slugify('One two three', { separator: '_', maxLength: 8 }); // 'one_two'
 *
 * @param {string} text
 * @param {import('./options.js').SlugOptions} [options]
 * @returns {string} empty when the text has no Latin letter and no digit
 * @throws {TypeError | RangeError} naming the argument that is wrong
 */
export function slugify(text, options = {}) {
  if (typeof text !== 'string') throw new TypeError(`Expected text to be a string, got ${typeof text}.`);
  const { separator, maxLength, lowercase, replacements } = readOptions(options);
  const plain = plainLetters(transliterate(replaceAll(text, replacements)));
  const words = (lowercase ? plain.toLowerCase() : plain).split(BREAKS).filter(Boolean);
  return joinUpTo(maxLength, words, separator);
}

/** @param {string} text */
function plainLetters(text) {
  return text.normalize('NFKD').replace(MARKS, '').replace(APOSTROPHES, '');
}

/**
 * Replaces in one pass, so that no replacement is replaced again.
 *
 * @param {string} text
 * @param {Record<string, string>} replacements
 */
function replaceAll(text, replacements) {
  const texts = Object.keys(replacements).sort((a, b) => b.length - a.length);
  if (texts.length === 0) return text;
  const pattern = new RegExp(texts.map(literal).join('|'), 'g');
  return text.replace(pattern, (found) => replacements[found]);
}

/** @param {string} text */
function literal(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/**
 * @param {number} maxLength
 * @param {string[]} words
 * @param {string} separator
 */
function joinUpTo(maxLength, [first = '', ...words], separator) {
  let slug = first.slice(0, maxLength);
  for (const word of words) {
    const longer = slug + separator + word;
    if (longer.length > maxLength) return slug;
    slug = longer;
  }
  return slug;
}
