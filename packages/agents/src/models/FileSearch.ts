import { createContext, Script } from 'node:vm';
import { type FileDesk, ToolRefusal } from './FileDesk.ts';

const MAX_NAMES = 200;
const MAX_MATCHES = 100;
/** Characters of a line that are shown. */
const MAX_SHOWN = 240;
/** Characters of text one search looks through. */
const MAX_SEARCHED = 64 * 1024 * 1024;
/** Of the event loop, which a search with an expression holds. */
const MAX_MS = 500;

export interface TextSearch {
  readonly text: string;
  readonly isExpression: boolean;
  readonly ignoresCase: boolean;
  /** Only in files whose path matches; all of them for `undefined`. */
  readonly files: string | undefined;
}

/** Finds files and passages of a project as it lies on a desk, edits included. */
export class FileSearch {
  readonly #desk: FileDesk;

  constructor(desk: FileDesk) {
    this.#desk = desk;
  }

  /** Paths that match a pattern, one a line. @param pattern - A part of a path, or one with `*`, `**` and `?`. */
  async files(pattern: string): Promise<string> {
    const found = await this.#named(pattern, new MatchTime(MAX_MS));
    if (found.length === 0) return 'No file matches.';
    return formatMatches(found, MAX_NAMES);
  }

  /** Lines with a text, as `path:line: text`. Binary and very large files are left out. */
  async text(search: TextSearch): Promise<string> {
    const time = new MatchTime(MAX_MS);
    const names =
      search.files === undefined ? await this.#desk.names() : await this.#named(search.files, time);
    const expression = expressionOf(search);
    const found: string[] = [];
    let searched = 0;
    for (const path of names) {
      const content = await this.#desk.textOf(path);
      if (content === null) continue;
      searched += content.length;
      if (searched > MAX_SEARCHED) {
        throw new ToolRefusal('There is too much to look through; say in which files.');
      }
      const lines = content.split('\n');
      const most = MAX_MATCHES + 1 - found.length;
      for (const index of time.match(expression, lines, most)) {
        found.push(`${path}:${index + 1}: ${truncateLine(lines[index] ?? '')}`);
      }
      if (found.length > MAX_MATCHES) {
        return `${found.slice(0, MAX_MATCHES).join('\n')}\n… and more; search for something rarer.`;
      }
    }
    return found.length === 0 ? 'Nothing is found.' : found.join('\n');
  }

  async #named(pattern: string, time: MatchTime): Promise<readonly string[]> {
    const names = await this.#desk.names();
    return time.match(globExpression(pattern), names, names.length).map((index) => names[index] ?? '');
  }
}

function expressionOf({ text, isExpression, ignoresCase }: TextSearch): Expression {
  return { source: isExpression ? text : escapeLiteral(text), flags: ignoresCase ? 'i' : '' };
}

const escapeLiteral = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);

/** Without a wildcard it is a part of the path; with a slash it is the whole path, else the name at its end. */
function globExpression(pattern: string): Expression {
  if (!/[*?]/.test(pattern)) return { source: escapeLiteral(pattern), flags: 'i' };
  const parts = pattern.replace(/^\.\//, '').split(/(\*\*\/|\*\*|\*|\?)/);
  const body = parts.map((part) => WILDCARDS[part] ?? escapeLiteral(part)).join('');
  return { source: `${pattern.includes('/') ? '^' : '(?:^|/)'}${body}$`, flags: '' };
}

const WILDCARDS: Readonly<Record<string, string>> = {
  '**/': '(?:.*/)?',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
};

function formatMatches(lines: readonly string[], most: number): string {
  const more = lines.length - most;
  return [...lines.slice(0, most), ...(more > 0 ? [`… and ${more} more.`] : [])].join('\n');
}

function truncateLine(line: string): string {
  const text = line.trimEnd();
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}

/** Characters of a line that are looked at. */
const MAX_LINE = 10_000;

const SCRIPT = new Script(`{
  const expression = new RegExp(source, flags);
  found = [];
  for (let index = 0; index < lines.length && found.length < most; index += 1) {
    if (expression.test(lines[index])) found.push(index);
  }
}`);

/** How long expressions may take, over all that one search looks at. */
class MatchTime {
  #leftMs: number;

  constructor(ms: number) {
    this.#leftMs = ms;
  }

  /**
   * Indexes of the lines an expression of a model's matches. It may be one that never ends: it is stopped.
   *
   * @param most - Matches after which it stops.
   * @throws ToolRefusal for one that is none, or that takes too long.
   */
  match(expression: Expression, lines: readonly string[], most: number): readonly number[] {
    const begun = performance.now();
    const scope = createContext({
      ...expression,
      most,
      lines: lines.map((line) => line.slice(0, MAX_LINE)),
      found: [] as number[],
    }) as { found: number[] };
    try {
      // 1 ms is the least that can be asked for.
      SCRIPT.runInContext(scope, { timeout: Math.max(1, Math.ceil(this.#leftMs)) });
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
        throw new ToolRefusal('The expression takes too long; use a simpler one, or plain text.');
      }
      throw new ToolRefusal(message);
    } finally {
      this.#leftMs -= performance.now() - begun;
    }
    return [...scope.found];
  }
}

interface Expression {
  readonly source: string;
  readonly flags: string;
}
