/** Latin letters that have no accent to drop, in lower case. */
const LETTERS = {
  æ: 'ae',
  ð: 'd',
  đ: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ø: 'o',
  œ: 'oe',
  ß: 'ss',
  þ: 'th',
  ŧ: 't',
};

/** Symbols that are read as words; the spaces keep them apart from their neighbours. */
const SYMBOLS = { '&': ' and ' };

/** @type {ReadonlyMap<string, string>} */
const TABLE = new Map([
  ...Object.entries(SYMBOLS),
  ...Object.entries(LETTERS).map(capital),
  ...Object.entries(LETTERS),
]);

/**
 * Spells out the letters and symbols of the table and keeps everything else.
 *
 * @example
 * transliterate('Ærø & Straße'); // 'Aero  and  Strasse'
 *
 * @param {string} text
 * @returns {string}
 */
export function transliterate(text) {
  return Array.from(text, (letter) => TABLE.get(letter) ?? letter).join('');
}

/** @param {[string, string]} entry */
function capital([letter, spelled]) {
  // The capital of `ß` is `SS` and that of `ı` is `I`: both are plain letters, which need no entry.
  const upper = letter.toUpperCase();
  return /^[A-Z]+$/.test(upper)
    ? /** @type {const} */ ([letter, spelled])
    : /** @type {const} */ ([upper, spelled[0].toUpperCase() + spelled.slice(1)]);
}
