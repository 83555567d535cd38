import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';
import { everyVerb, helpPage, listedOptions, listedVerbs } from './support/helpPage.ts';

const COMMANDS = readFileSync(new URL('../../../docs/reference/commands.md', import.meta.url), 'utf8');
const HELP = '../../../docs/reference/help.md';

async function helpOf(dir: string, ...verbs: readonly string[]): Promise<string> {
  return (await callMain(dir, [...verbs, '--help'])).stdout;
}

describe('docs/reference/help.md', () => {
  test('is the help of every command', async ({ dir }) => {
    await expect(await helpPage((...verbs) => helpOf(dir, ...verbs))).toMatchFileSnapshot(HELP);
  });
});

describe('docs/reference/commands.md', () => {
  test('has a row for every command', async ({ dir }) => {
    const verbs = await everyVerb((...names) => helpOf(dir, ...names));
    const rows = [...COMMANDS.matchAll(/^\| (`[a-z][^|]*) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([a-z][a-z-]+)/g)].map(([, name]) => name),
    );
    expect(verbs.filter((verb) => !rows.includes(verb))).toEqual([]);
  });

  test('names only options that exist', async ({ dir }) => {
    const verbs = await everyVerb((...names) => helpOf(dir, ...names));
    const helps = await Promise.all([helpOf(dir), ...verbs.map((verb) => helpOf(dir, verb))]);
    const known = new Set(['--help', ...helps.flatMap(listedOptions)]);
    const named = [...COMMANDS.matchAll(/`(?:devs [^`]*?)?(--[a-z][a-z-]+)/g)].flatMap(
      ([, name]) => name ?? [],
    );
    // `--budget-…` stands for several.
    expect(named.filter((name) => !known.has(name) && !name.endsWith('-'))).toEqual([]);
  });
});

describe('help', () => {
  test('lists of verbs that it has not loaded what they say of themselves', async ({ dir }) => {
    for (const around of [[], ['admin']]) {
      const help = await helpOf(dir, ...around);
      // Whatever is named on the line is loaded; the first word is no verb, so that it is help for all of them.
      const loaded = await helpOf(dir, ...around, 'all', ...listedVerbs(help));
      expect(loaded).toBe(help);
    }
  });
});
