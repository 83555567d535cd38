import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { maskSensitiveData, type TestCase } from '@devs/core';
import type { CaseFormat } from './CaseFormat.ts';
import { JestFormat } from './JestFormat.ts';
import { NodeSpecFormat } from './NodeSpecFormat.ts';
import { readReport } from './readReport.ts';
import { TapFormat } from './TapFormat.ts';
import { TreeFormat } from './TreeFormat.ts';
import { VitestFormat } from './VitestFormat.ts';

/** Characters of one line that are read: the JSON of a runner is one. */
const MAX_LINE = 4 * 1024 * 1024;

/** Reads the names of test cases out of everything a command prints, however long it is. */
export class CaseReader {
  readonly #streams = { stdout: new LineSplitter(), stderr: new LineSplitter() };
  /** The first that knows the output is believed: an output may contain another as text. */
  readonly #formats: readonly CaseFormat[] = [
    new VitestFormat(),
    new JestFormat(),
    new NodeSpecFormat(),
    new TapFormat(),
    new TreeFormat(),
  ];
  #report: readonly TestCase[] | null = null;

  push(chunk: Buffer, stream: 'stdout' | 'stderr' = 'stdout'): void {
    for (const line of this.#streams[stream].push(chunk)) this.#read(line);
  }

  /** @param root - Taken off the names: where the workspace lies says nothing about a case. */
  cases(root: string): readonly TestCase[] | null {
    for (const lines of Object.values(this.#streams)) this.#read(lines.rest());
    const found =
      this.#report ?? this.#formats.map((format) => format.cases()).find((cases) => cases !== null);
    return found == null ? null : inWorkspace(found, root);
  }

  #read(line: string): void {
    const text = stripVTControlCharacters(line).trimEnd();
    if (/^\{"num(?:Total|Failed)Test/.test(text)) this.#report = readReport(text);
    else for (const format of this.#formats) format.line(text);
  }
}

/** One stream in whole lines. Of a line that is too long nothing is kept. */
class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  #line = '';
  #isTooLong = false;

  push(chunk: Buffer): readonly string[] {
    const [first = '', ...more] = this.#decoder.write(chunk).split('\n');
    this.#line = this.#isTooLong ? '' : this.#line + first;
    if (more.length === 0) {
      this.#isTooLong ||= this.#line.length > MAX_LINE;
      if (this.#isTooLong) this.#line = '';
      return [];
    }
    const whole = [this.#line, ...more.slice(0, -1)];
    this.#line = more.at(-1) ?? '';
    this.#isTooLong = false;
    return whole;
  }

  rest(): string {
    const line = this.#line;
    this.#line = '';
    return line;
  }
}

/** Names without the folder of the workspace, masked. */
export function inWorkspace(cases: readonly TestCase[], root: string): readonly TestCase[] {
  return cases.map((found) => ({
    ...found,
    name: maskSensitiveData(found.name.replaceAll(`${root}/`, '')),
  }));
}
