/**
 * @typedef {object} SlugOptions
 * @property {string} [separator] one of `-`, `.`, `_` and `~`; default `-`
 * @property {number} [maxLength] of the slug, in characters; default no limit
 * @property {boolean} [lowercase] default true
 * @property {Record<string, string>} [replacements] texts to replace before anything else; default none
 */

/** The unreserved characters of RFC 3986 that are neither letters nor digits. */
const SEPARATORS = ['-', '.', '_', '~'];

const NAMES = ['separator', 'maxLength', 'lowercase', 'replacements'];

/**
 * Fills in the defaults and refuses what makes no sense.
 *
 * @param {SlugOptions} options
 * @returns {Required<SlugOptions>}
 * @throws {TypeError | RangeError} naming the option and its value
 */
export function readOptions(options) {
  requireObject('options', options);
  const unknown = Object.keys(options).find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw new TypeError(`Unknown option ${unknown}. Known: ${NAMES.join(', ')}.`);
  const { separator = '-', maxLength = Infinity, lowercase = true, replacements = {} } = options;
  if (!SEPARATORS.includes(separator)) {
    throw new RangeError(`Expected separator to be one of ${SEPARATORS.join(' ')}, got ${separator}.`);
  }
  if (maxLength !== Infinity && !(Number.isInteger(maxLength) && maxLength > 0)) {
    throw new RangeError(`Expected maxLength to be a positive integer, got ${maxLength}.`);
  }
  if (typeof lowercase !== 'boolean') {
    throw new TypeError(`Expected lowercase to be a boolean, got ${lowercase}.`);
  }
  requireReplacements(replacements);
  return { separator, maxLength, lowercase, replacements };
}

/** @param {Record<string, string>} replacements */
function requireReplacements(replacements) {
  requireObject('replacements', replacements);
  for (const [text, replacement] of Object.entries(replacements)) {
    if (text === '') throw new RangeError('Expected replacements to have no empty key.');
    if (typeof replacement !== 'string') {
      throw new TypeError(`Expected replacements.${text} to be a string, got ${replacement}.`);
    }
  }
}

/**
 * @param {string} name
 * @param {unknown} value
 */
function requireObject(name, value) {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw new TypeError(`Expected ${name} to be an object, got ${value}.`);
}
