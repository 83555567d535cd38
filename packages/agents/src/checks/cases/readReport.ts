import type { TestCase } from '@devs/core';
import { CaseList, isSource, nestedName } from './CaseList.ts';

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
