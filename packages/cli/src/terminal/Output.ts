import { maskSensitiveData } from '@devs/core';
import { maskInTurns, maskView } from '@devs/core/internal';
import { splitByWidth } from './displayWidth.ts';
import type { Io, Sink } from './Io.ts';
import { type Line, lineText, type Styled } from './Line.ts';
import { isLong, type Pager } from './pager.ts';
import { paint } from './paint/paint.ts';
import { visibleJson, visibleText } from './visible.ts';

const ERASE_LINE = '\r\u001b[2K';

/** Of a terminal that does not say. */
const DEFAULT_COLUMNS = 80;

export interface OutputOptions {
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** One JSON document on stdout and nothing else. */
  readonly json: boolean;
  readonly color: boolean;
  /** For what is longer than the screen. @defaultValue none */
  readonly pager?: Pager | null;
}

/** Some members of a list. */
export interface ListPart {
  readonly documents: readonly unknown[];
  /** For people. */
  readonly lines: readonly Line[];
}

/** Everything the command says. Text is masked and made visible here, once. */
export class Output {
  readonly json: boolean;
  readonly #stdout: Sink;
  readonly #stderr: Sink;
  readonly #color: boolean;
  readonly #pager: Pager | null;
  #live: string | null = null;
  #lastAt = performance.now();

  constructor({ stdout, stderr, json, color, pager = null }: OutputOptions) {
    this.json = json;
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.#color = color;
    this.#pager = pager;
  }

  /** Whether there is a terminal on which a line can be drawn again. */
  get isLive(): boolean {
    return !this.json && this.#stdout.isTTY === true;
  }

  /** When something was printed last, on the clock of `performance.now()`. */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** For people; nothing under `--json`. */
  print(...lines: readonly Line[]): void {
    if (this.json) return;
    this.#aboveLive(() => this.#stdout.write(this.#text(lines)));
  }

  /** A line that stays below what is printed, until it is replaced or, with `null`, removed. On a terminal only. */
  live(text: string | null): void {
    if (!this.isLive) return;
    this.#erase();
    this.#live = text;
    this.#draw();
  }

  /** A question to the person at the terminal; the answer is typed behind it. */
  ask(text: string): void {
    if (!this.json) this.#stdout.write(this.#rendered(text));
  }

  /** Beside the result, for people; nothing under `--json`. */
  note(text: string): void {
    if (!this.json) this.#aboveLive(() => this.#stderr.write(`${this.#rendered(text)}\n`));
  }

  /** What the command was asked for: a document for programs or lines for people. */
  result(document: unknown, lines: readonly Line[]): void {
    if (this.json) this.#stdout.write(`${maskedJson(document, 2)}\n`);
    else this.print(...lines);
  }

  /** One of many results, as it comes: a document in a line of its own, or lines for people. */
  item(document: unknown, lines: readonly Line[]): void {
    if (this.json) this.#stdout.write(`${maskedJson(document)}\n`);
    else this.print(...lines);
  }

  /** As {@link result}, for what may be long: on a terminal in the user's pager. */
  async pages(document: unknown, lines: readonly Line[]): Promise<void> {
    if (this.json) {
      this.#stdout.write(`${await maskedJsonInTurns(document, 2)}\n`);
      return;
    }
    // Once: masking a long text takes time.
    const text = await this.#textInTurns(lines);
    if (this.#pager !== null && isLong(text, this.#stdout) && (await this.#pager(text))) return;
    this.#aboveLive(() => this.#stdout.write(text));
  }

  /** Whether what is long is read in a pager: it is then given as one. */
  get isPaged(): boolean {
    return !this.json && this.#pager !== null;
  }

  /** As {@link result}, for a list of which only a part is in memory at a time. @param none - Where nothing was told. */
  async list(parts: AsyncIterable<ListPart>, none: readonly Line[]): Promise<void> {
    let isEmpty = true;
    for await (const { documents, lines } of parts) {
      if (this.json) this.#stdout.write(await jsonMembers(documents, isEmpty));
      else if (lines.length > 0) {
        const text = await this.#textInTurns(lines);
        this.#aboveLive(() => this.#stdout.write(text));
      }
      isEmpty &&= (this.json ? documents : lines).length === 0;
    }
    if (this.json) this.#stdout.write(isEmpty ? '[]\n' : '\n]\n');
    else if (isEmpty) this.print(...none);
  }

  #text(lines: readonly Line[]): string {
    return lines.map((line) => `${this.#rendered(line)}\n`).join('');
  }

  /** {@link #text} of what may be long. */
  async #textInTurns(lines: readonly Line[]): Promise<string> {
    const texts: string[] = [];
    for (const line of lines) {
      const masked = isAtGate(line) ? lineText(line) : await maskInTurns(lineText(line));
      texts.push(`${this.#styled(line, masked)}\n`);
    }
    return texts.join('');
  }

  #aboveLive(write: () => void): void {
    this.#lastAt = performance.now();
    this.#erase();
    write();
    this.#draw();
  }

  #erase(): void {
    if (this.#live !== null) this.#stdout.write(ERASE_LINE);
  }

  /** Never as wide as the terminal: a line that wraps cannot be erased as one. */
  #draw(): void {
    if (this.#live === null) return;
    const text = visibleText(maskSensitiveData(this.#live));
    const [fits = ''] = splitByWidth(text, this.columns - 1);
    this.#stdout.write(this.#painted({ style: 'dim', text: fits }));
  }

  /** Styled after it was masked and made visible: no text can bring codes of its own. */
  #rendered(line: Line): string {
    return this.#styled(line, isAtGate(line) ? lineText(line) : maskSensitiveData(lineText(line)));
  }

  #styled(line: Line, masked: string): string {
    const text = visibleText(masked);
    return typeof line === 'string' ? text : this.#painted({ ...line, text });
  }

  #painted(styled: Styled): string {
    return this.#color ? paint(styled, this.columns) : styled.text;
  }

  /** Of the terminal. */
  get columns(): number {
    return this.#stdout.columns ?? DEFAULT_COLUMNS;
  }
}

const isAtGate = (line: Line): boolean => typeof line !== 'string' && line.isAtGate === true;

/** The text that `JSON.stringify` has for them in their list. */
async function jsonMembers(documents: readonly unknown[], isFirst: boolean): Promise<string> {
  const texts: string[] = [];
  for (const document of documents) {
    const text = (await maskedJsonInTurns(document, 2)).replaceAll('\n', '\n  ');
    texts.push(`${isFirst && texts.length === 0 ? '[' : ','}\n  ${text}`);
  }
  return texts.join('');
}

/**
 * Whether the output has colours: on a terminal that is not `dumb`, and with `FORCE_COLOR` elsewhere, too. `--no-color` and
 * `NO_COLOR` win, as they do in the help.
 */
export function wantsColor({ stdout, env }: Pick<Io, 'stdout' | 'env'>, isAllowed: boolean): boolean {
  const { NO_COLOR: no = '', FORCE_COLOR: force = '', TERM: term } = env;
  if (!isAllowed || no !== '' || force === '0' || force === 'false') return false;
  return force !== '' || (stdout.isTTY === true && term !== 'dumb');
}

/**
 * JSON whose strings passed the broad masking rules, with the names of their fields; masking the finished text could break its
 * quotes. What gates show has passed theirs and stays as it is. What cannot be seen is escaped, which leaves it the same JSON.
 */
export const maskedJson = (value: unknown, indent = 0): string => jsonText(maskView(value), indent);

/** {@link maskedJson} of what may be long. */
const maskedJsonInTurns = async (value: unknown, indent = 0): Promise<string> =>
  jsonText(await maskInTurns(value), indent);

const jsonText = (masked: unknown, indent: number): string =>
  visibleJson(JSON.stringify(masked, undefined, indent));
