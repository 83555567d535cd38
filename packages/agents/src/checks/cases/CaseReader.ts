import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { maskSensitiveData, type TestCase } from '@devs/core';
import { type CaseFormat, CaseList, isSource, nestedName } from './CaseFormat.ts';
import { JestFormat } from './JestFormat.ts';
import { NodeSpecFormat } from './NodeSpecFormat.ts';
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

/** The cases of a report in JUnit's XML, or the JSON of Vitest and Jest; `null` for anything else. */
export function readReport(text: string): readonly TestCase[] | null {
  return text.trimStart().startsWith('<') ? readJunit(text) : readJsonReport(text);
}

const CASE = /<testcase\b((?:[^>"']|"[^"]*"|'[^']*')*?)(\/>|>([\s\S]*?)<\/testcase>)/g;

function readJunit(text: string): readonly TestCase[] | null {
  const list = new CaseList();
  for (const [, attributes = '', , body = ''] of text.matchAll(CASE)) {
    const state = /<skipped\b/.test(body)
      ? 'skipped'
      : /<(?:failure|error)\b/.test(body)
        ? 'failed'
        : 'passed';
    const [suite, name] = [attribute(attributes, 'classname'), attribute(attributes, 'name')];
    const isFile = suite === name || isSource(name) || name.endsWith('Test suite failed to run');
    const isWhole = isFile || /<error\b/.test(body); // of what is no test: pytest tells a file so
    list.add(nestedName(suite, name), state, state === 'failed' && isWhole);
  }
  return list.toCases();
}

function attribute(attributes: string, name: string): string {
  const value = new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(attributes)?.[1] ?? '';
  return value.replaceAll(/&(lt|gt|quot|apos|amp|#x?[\da-f]+);/gi, (_, entity: string) =>
    decodeEntity(entity),
  );
}

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function decodeEntity(entity: string): string {
  if (!entity.startsWith('#')) return NAMED[entity.toLowerCase()] ?? '';
  const code = /^#x/i.test(entity) ? Number.parseInt(entity.slice(2), 16) : Number(entity.slice(1));
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : '';
}

interface JsonFile {
  readonly name?: string;
  readonly status?: string;
  readonly assertionResults?: readonly {
    readonly ancestorTitles?: readonly string[];
    readonly title?: string;
    readonly status?: string;
  }[];
}

function readJsonReport(text: string): readonly TestCase[] | null {
  const list = new CaseList();
  try {
    const { testResults = [] } = JSON.parse(text) as { readonly testResults?: readonly JsonFile[] };
    for (const file of testResults) addFile(list, file);
  } catch {
    return null;
  }
  return list.toCases();
}

function addFile(list: CaseList, { name = '', status, assertionResults = [] }: JsonFile): void {
  for (const { ancestorTitles = [], title = '', status: state } of assertionResults) {
    list.add(nestedName(name, ...ancestorTitles, title), STATES[state ?? ''] ?? 'skipped');
  }
  if (assertionResults.length === 0 && status === 'failed') list.add(name, 'failed', true);
}

const STATES: Readonly<Record<string, TestCase['state']>> = { passed: 'passed', failed: 'failed' };
