import { styleText } from 'node:util';
import { maskSensitiveData } from '@devs/core';
import type { Sink } from './Io.ts';
import { maskedJson } from './maskedJson.ts';
import { visibleText } from './visibleText.ts';

/** A line of text, or lines; styled as a whole or not at all. */
export type Line = string | { readonly style: 'bold' | 'dim'; readonly text: string };

export interface OutputOptions {
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** One JSON document on stdout and nothing else. */
  readonly json: boolean;
  readonly color: boolean;
}

/** Everything the command says. Text is masked and made visible here, once. */
export class Output {
  readonly json: boolean;
  readonly #stdout: Sink;
  readonly #stderr: Sink;
  readonly #color: boolean;

  constructor({ stdout, stderr, json, color }: OutputOptions) {
    this.json = json;
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.#color = color;
  }

  /** For people; nothing under `--json`. */
  print(...lines: readonly Line[]): void {
    if (!this.json) this.#stdout.write(lines.map((line) => `${this.#rendered(line)}\n`).join(''));
  }

  /** A question to the person at the terminal; the answer is typed behind it. */
  ask(text: string): void {
    if (!this.json) this.#stdout.write(this.#rendered(text));
  }

  /** Beside the result, for people; nothing under `--json`. */
  note(text: string): void {
    if (!this.json) this.#stderr.write(`${this.#rendered(text)}\n`);
  }

  /** What the command was asked for: a document for programs or lines for people. */
  result(document: unknown, lines: readonly Line[]): void {
    if (this.json) this.#stdout.write(`${maskedJson(document, 2)}\n`);
    else this.print(...lines);
  }

  #rendered(line: Line): string {
    const text = visibleText(maskSensitiveData(typeof line === 'string' ? line : line.text));
    if (typeof line === 'string' || !this.#color) return text;
    return styleText(line.style, text, { validateStream: false });
  }
}
