import type { DraftDocument } from '../ports.ts';

// A design that names a file nobody has seen was written from memory. Only what can hardly be anything else counts: a
// whole code span that is spelled like a path of a source file, in a repository that has sources, and nowhere announced
// as new. A false alarm costs a paid call; a miss costs what it always did.

const CODE = new Set(
  'js mjs cjs jsx ts mts cts tsx vue svelte py rb go rs java kt scala swift c h cc cpp hpp cs php lua ex exs dart sh sql proto'.split(
    ' ',
  ),
);

/** Also the name of data a program reads or writes: counts only below a folder. */
const TEXT = new Set('json jsonc yml yaml toml md mdx css scss html xml graphql'.split(' '));

const PATH = /^(?:\.\/)?([\w.+-]+(?:\/[\w.+-]+)*\.([a-z]+))(?::\d+(?:[-:]\d+)?|#L\d+(?:-L?\d+)?)?$/i;

/** Made by builds and tools, or a placeholder: no repository has them. */
const NEVER_THERE =
  /^(?:\.git|\.cache|node_modules|dist|build|out|output|coverage|target|tmp|temp|vendor|path\/to)\/|(?:^|\/)(?:foo|bar|baz|example|my-?\w+)\.\w+$/i;

/** `Node.js`: a name, with a capital and no folder. */
const PRODUCT = /^[A-Z]\w*\.(?:js|ts)$/;

/** Right before a path: `create`, `a new module`, `add tests in`; but not `add an option to`. */
const ANNOUNCED_BEFORE =
  /\b(?:new(?:ly)?|creat(?:e[sd]?|ing)|add(?:s|ed|ing)?(?!.*\bto\b)|introduc(?:e[sd]?|ing)|generat(?:e[sd]?|ing)|(?:extract|split|mov|renam|cop)\w*\b.*\b(?:to|into|as)|writes?)\b[^.;]*$/i;

/** Right after it: `(new)`, `is created`, `: a new module`. */
const ANNOUNCED_AFTER =
  /^[\s(:,—–-]*(?:(?:is|are|will|be|to|a|an|the|gets?|which|has|entirely|brand)[\s-]+)*(?:new|created|added|introduced|generated|written)\b/i;

/** Of a heading, a lead-in or the head of a table: all below it is new. */
const ANNOUNCES_BELOW =
  /\b(?:new|creat(?:e[sd]?|ing)|add(?:s|ed|ing|itions)?|introduc(?:e[sd]?|ing))\b.*\b(?:files?|modules?|tests?|folders?)\b|\b(?:files?|modules?|tests?|folders?)\b.*\b(?:new|creat(?:e[sd]?)|add(?:ed)?|introduced?)\b/i;

/** Says itself that it is not there, or that it is only an example. */
const DISOWNS =
  /\b(?:no(?:t| longer)?|none|missing|without|instead of|never|example|for instance|e\.g\.|such as|like|hypothetical)\b|n't\b/i;

const TABLE = /^\s*\|/;
const BELOW_LEAD_IN = /^\s*(?:[-*+]|\d+[.)])\s|^\s{2,}/;
const FENCE = /^\s*(?:```|~~~)/;
const SPAN = /(?<!`)`([^`\n]{1,300})`(?!`)/g;

/** Characters before and after a path that are about it; also what keeps the expressions linear. */
const AROUND = 200;
/** Characters of a line that announces something. */
const MAX_LINE = 1_000;

/**
 * Paths that documents name, that are not among the files, and that no document announces as new. Sorted.
 *
 * @param files - Of the repository, relative. Without a source file among them the project begins here, and nothing counts.
 */
export function unknownFilesIn(
  documents: readonly Pick<DraftDocument, 'content'>[],
  files: readonly string[],
): readonly string[] {
  if (!files.some((file) => CODE.has(extensionOf(file)))) return [];
  const mentions = documents.flatMap(({ content }) => mentionsIn(content));
  const explained = mentions.filter(({ isExplained }) => isExplained).map(({ path }) => path);
  const isExplained = (path: string): boolean =>
    explained.some((known) => known === path || (known.endsWith('/') && path.startsWith(known)));
  const tree = new Tree(files);
  const unknown = mentions
    .map(({ path }) => path)
    .filter((path) => isFileName(path) && !isExplained(path) && !tree.has(path));
  return [...new Set(unknown)].sort();
}

interface Mention {
  /** As it stands, without `./` and line numbers; a folder ends with a slash. */
  readonly path: string;
  /** Its place says that it is new, gone or an example. */
  readonly isExplained: boolean;
}

/** Code spans outside of fenced blocks that may be paths, with what stands around them. */
function mentionsIn(markdown: string): readonly Mention[] {
  const place = new DocumentPosition();
  return markdown.split('\n').flatMap((line) => (place.enter(line) ? mentionsOn(line, place.announces) : []));
}

function mentionsOn(line: string, isBelowNews: boolean): readonly Mention[] {
  const disowned = DISOWNS.test(withoutCodeSpans(line));
  return [...line.matchAll(SPAN)].flatMap((match) => {
    const [span, text = ''] = match;
    const path = pathIn(text.trim());
    if (path === null) return [];
    const before = withoutCodeSpans(line.slice(Math.max(0, match.index - AROUND), match.index));
    const end = match.index + span.length;
    const after = withoutCodeSpans(line.slice(end, end + AROUND));
    const isNew = ANNOUNCED_BEFORE.test(before) || ANNOUNCED_AFTER.test(after);
    return [{ path, isExplained: isBelowNews || disowned || isNew }];
  });
}

/** A file's own name announces nothing: `new-user.js`. */
const withoutCodeSpans = (line: string): string => line.replaceAll(SPAN, ' ');

/** Where in a document a line stands. */
class DocumentPosition {
  readonly #headings: { readonly level: number; readonly text: string }[] = [];
  #leadIn = '';
  #tableHead = '';
  #isFenced = false;
  #line = '';

  /** Whether what stands above a line says that what it names is new. */
  get announces(): boolean {
    const above = this.#headings.map(({ text }) => text);
    if (BELOW_LEAD_IN.test(this.#line)) above.push(this.#leadIn);
    if (TABLE.test(this.#line)) above.push(this.#tableHead);
    return above.some((text) => ANNOUNCES_BELOW.test(withoutCodeSpans(text.slice(0, MAX_LINE))));
  }

  /** @returns false for a line that is no prose. */
  enter(line: string): boolean {
    if (FENCE.test(line)) this.#isFenced = !this.#isFenced;
    if (this.#isFenced) return false;
    if (TABLE.test(line) && !TABLE.test(this.#line)) this.#tableHead = line;
    this.#line = line;
    this.#enterProse(line);
    return true;
  }

  #enterProse(line: string): void {
    const level = /^(#{1,6})\s/.exec(line)?.[1]?.length;
    if (level !== undefined) {
      while ((this.#headings.at(-1)?.level ?? 0) >= level) this.#headings.pop();
      this.#headings.push({ level, text: line });
      this.#leadIn = '';
    } else if (/^\S/.test(line) && !BELOW_LEAD_IN.test(line)) {
      this.#leadIn = line.trimEnd().endsWith(':') ? line : '';
    }
  }
}

function pathIn(span: string): string | null {
  if (/^(?:\.\/)?[\w.+-]+(?:\/[\w.+-]+)*\/$/.test(span)) return span.replace(/^\.\//, '');
  return PATH.exec(span)?.[1] ?? null;
}

function isFileName(path: string): boolean {
  if (path.endsWith('/') || path.includes('..') || NEVER_THERE.test(path) || PRODUCT.test(path)) return false;
  const extension = extensionOf(path);
  return CODE.has(extension) || (path.includes('/') && TEXT.has(extension));
}

const extensionOf = (path: string): string => /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';

/** The files a path may mean: itself, one below a package, or the source of a compiled name (`a.js` for `a.ts`). */
class Tree {
  /** Every ending of every path, without an extension that a compiler changes. */
  readonly #endings = new Set<string>();

  constructor(files: readonly string[]) {
    for (const file of files) {
      const parts = compiled(file).split('/');
      for (let from = 0; from < parts.length; from += 1) this.#endings.add(parts.slice(from).join('/'));
    }
  }

  has(path: string): boolean {
    return this.#endings.has(compiled(path));
  }
}

const compiled = (path: string): string => path.replace(/\.(?:[mc]?[jt]s|[jt]sx)$/i, '.js');
