// Prose out of Markdown and out of comments, and how plain it is.
import jsTokens from 'js-tokens';

/** Words that make a sentence hard to search and to read, or easy (`you`, `verbs`): how often each occurs is counted. */
const WORDS = {
  what: new Set(['what', 'whatever']),
  told: new Set(['told', 'tell', 'tells', 'say', 'says', 'said']),
  who: new Set(['who', 'whoever', 'whose']),
  none: new Set(['nobody', 'none', 'nothing', 'no', 'never']),
  you: new Set(['you', 'your']),
  verbs: new Set(['use', 'run', 'create', 'add', 'call', 'return', 'set']),
};

/** After one of these, `run`, `call`, `use` or `set` is a noun. */
const BEFORE_NOUN = new Set(
  `a an the this that these each every any no one its their your our whose another other same new first next last whole
   child parent code of per waiting recorded own single`.split(/\s+/),
);

/** A sentence of more words is long. */
export const LONG = 25;

const FENCE = /^\s*(`{3,}|~{3,})/;
const NO_PROSE = /^\s*(#{1,6}\s|\||<\/?[a-z]|(?:[-*_]\s*){3,}$|$)/i;
const ITEM = /^\s*(?:[-*+]|\d+[.)])\s+/;

const plain = (text) =>
  text
    .replace(/(`+)[\s\S]*?\1/g, ' CODE ')
    .replace(/!\[[^\]]*\]\([^)]*\)/g, ' ')
    .replace(/\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, '$1')
    .replace(/https?:\/\/\S+/g, ' CODE ')
    .replace(/<[^>\s][^>]*>|[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

/** Paragraphs and list items of a Markdown text, without code, tables, headings and HTML. */
export function markdownProse(text) {
  const blocks = [[]];
  let fence = '';
  for (const line of text.replace(/<!--[\s\S]*?-->/g, '\n').split('\n')) {
    const mark = FENCE.exec(line)?.[1] ?? '';
    if (fence !== '') {
      if (mark.startsWith(fence)) fence = '';
    } else if (mark !== '') {
      fence = mark;
      blocks.push([]);
    } else if (NO_PROSE.test(line)) blocks.push([]);
    else if (ITEM.test(line)) blocks.push([line.replace(ITEM, '')]);
    else blocks.at(-1).push(line.replace(/^\s*>\s?/, '').trim());
  }
  return blocks.map((lines) => plain(lines.join(' '))).filter((block) => block !== '');
}

const DIRECTIVE = /^\s*(biome-|oxlint|eslint|@ts-|v8 |#region|#endregion|\/\s*<reference)/;

/** The prose of one comment: without examples, tags and the names of parameters. */
export function commentProse(comment) {
  const lines = comment
    .replace(/^\/\*+|\*+\/$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*(?:\*+|\/\/+) ?/, ''))
    .filter((line) => !DIRECTIVE.test(line));
  const parts = lines.join('\n').split(/^(?=@\w)/m);
  return parts
    .filter((part) => !/^@(example|see|internal|module)\b/.test(part))
    .map((part) => part.replace(/^@(param|typeParam|template)\s+\S+\s*-?\s*|^@\w+\s*/, ''))
    .map((part) => part.replace(/\{@\w+\s+[^}]*\}/g, '`link`'))
    .flatMap(markdownProse);
}

/** The comments of a source; neighbouring `//` lines are one. */
export function sourceComments(text, name) {
  const comments = [];
  let lines = Infinity;
  for (const { type, value } of jsTokens(text, { jsx: name.endsWith('x') })) {
    if (type === 'MultiLineComment') comments.push(value);
    if (type === 'SingleLineComment') comments.push(lines === 1 ? `${comments.pop()}\n${value}` : value);
    if (type === 'SingleLineComment') lines = 0;
    else if (type === 'LineTerminatorSequence') lines += 1;
    else if (type !== 'WhiteSpace') lines = Infinity;
  }
  return comments;
}

const sentencesOf = (block) => block.split(/(?<=[.!?]["'”’)\]]?)(?<!\b(?:e\.g|i\.e|etc|vs|cf)\.)\s+/);
const wordsOf = (text) => text.toLowerCase().match(/[a-z0-9$](?:[a-z0-9$'’.-]*[a-z0-9$])?/g) ?? [];
const stem = (word) => word.replace(/['’](s|re|ll|ve|d)$/, '');

/** Counts of blocks of prose; two counts are added by `sum`. */
export function countProse(blocks) {
  const counts = Object.fromEntries(Object.keys(WORDS).map((name) => [name, 0]));
  const lengths = [];
  let words = 0;
  for (const sentence of blocks.flatMap(sentencesOf)) {
    const found = wordsOf(sentence).map(stem);
    words += found.length;
    if (found.length > 2) lengths.push(found.length);
    found.forEach((word, at) => {
      for (const [name, group] of Object.entries(WORDS)) {
        if (!group.has(word)) continue;
        if (name !== 'verbs' || !BEFORE_NOUN.has(found[at - 1])) counts[name] += 1;
      }
    });
  }
  return { words, lengths, counts };
}

export function sum(counted) {
  const counts = Object.fromEntries(
    Object.keys(WORDS).map((name) => [name, counted.reduce((total, one) => total + one.counts[name], 0)]),
  );
  const words = counted.reduce((total, one) => total + one.words, 0);
  return { words, lengths: counted.flatMap(({ lengths }) => lengths), counts };
}

/** Words per 1,000 words, and the median and the 90th percentile of words in a sentence. */
export function rates({ words, lengths, counts }) {
  const sorted = lengths.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  const perThousand = ([name, times]) => [name, words === 0 ? 0 : Math.round((10_000 * times) / words) / 10];
  return {
    words,
    ...Object.fromEntries(Object.entries(counts).map(perThousand)),
    median: at(0.5),
    p90: at(0.9),
  };
}

/** What only ever becomes less: the hard words and the long sentences, in numbers. */
export function debt({ lengths, counts }) {
  const long = lengths.filter((length) => length > LONG).length;
  return { what: counts.what, told: counts.told, who: counts.who, none: counts.none, long };
}
