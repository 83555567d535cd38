/** Combining marks: what decomposition leaves of an accent. */
const MARKS = /\p{M}+/gu;

/** Both shapes of the apostrophe: it belongs to its word. */
const APOSTROPHES = /['’]/g;

/** Everything else separates words. */
const BREAKS = /[^a-z0-9]+/;

/**
 * Turns a text into the readable part of a URL.
 *
 * @example
 * slugify('Crème Brûlée, the Easy Way!'); // 'creme-brulee-the-easy-way'
 *
 * @param {string} text
 * @returns {string} empty when the text has no Latin letter and no digit
 * @throws {TypeError} when `text` is not a string
 */
export function slugify(text) {
  if (typeof text !== 'string') throw new TypeError(`Expected text to be a string, got ${typeof text}.`);
  return plainLetters(text).toLowerCase().split(BREAKS).filter(Boolean).join('-');
}

/** @param {string} text */
function plainLetters(text) {
  return text.normalize('NFKD').replace(MARKS, '').replace(APOSTROPHES, '');
}
