import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';

const REFERENCE = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
const [, TABLE = ''] = REFERENCE.split('\n## Every option\n');

async function helpOf(dir: string, ...verbs: readonly string[]): Promise<string> {
  return (await callMain(dir, [...verbs, '--help'])).stdout;
}

/** The verbs or options that a section of a help text lists. */
function listed(help: string, section: 'Commands' | 'Options', item: RegExp): readonly string[] {
  const [, text = ''] = help.split(`\n${section}:\n`);
  const [lines = ''] = text.split(/\n\n(?! )/);
  return [...lines.matchAll(item)].flatMap(([, name]) => name ?? []).filter((name) => !/help$/.test(name));
}

const VERB = /^ {2}([a-z][a-z-]+)\b/gm;
const OPTION = /^ {2}(?:-\w, )?(--[a-z][a-z-]+)/gm;

/** By verb that has any: the options its help lists, in their order. */
async function optionsOfVerbs(dir: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const verbs = listed(await helpOf(dir), 'Commands', VERB).filter((verb) => verb !== 'admin');
  const admin = listed(await helpOf(dir, 'admin'), 'Commands', VERB);
  const entries = await Promise.all(
    [...verbs, ...admin].map(
      async (verb) => [verb, listed(await helpOf(dir, verb), 'Options', OPTION)] as const,
    ),
  );
  return Object.fromEntries(entries.filter(([, options]) => options.length > 0));
}

/** By verb: the options the page lists. */
function optionsOnPage(): Readonly<Record<string, readonly string[]>> {
  const rows = [...TABLE.matchAll(/^\| `([a-z-]+)` \| (.*) \|$/gm)];
  return Object.fromEntries(
    rows.map(([, verb = '', cell = '']) => [
      verb,
      [...cell.matchAll(/`(--[a-z-]+)`/g)].map(([, name]) => name),
    ]),
  ) as Readonly<Record<string, readonly string[]>>;
}

describe('docs/cli.md', () => {
  test('lists every option of every verb, and no other', async ({ dir }) => {
    expect(optionsOnPage()).toEqual(await optionsOfVerbs(dir));
  });

  test('says of no option that is not there', async ({ dir }) => {
    const known = new Set(['--help', ...Object.values(await optionsOfVerbs(dir)).flat()]);
    for (const name of listed(await helpOf(dir), 'Options', OPTION)) known.add(name);
    const said = [...REFERENCE.matchAll(/`(?:devs [^`]*?)?(--[a-z][a-z-]+)/g)].flatMap(
      ([, name]) => name ?? [],
    );
    // `--raise-…` stands for several.
    expect(said.filter((name) => !known.has(name) && !name.endsWith('-'))).toEqual([]);
  });
});

describe('help', () => {
  test('lists of verbs that it has not loaded what they say of themselves', async ({ dir }) => {
    for (const around of [[], ['admin']]) {
      const help = await helpOf(dir, ...around);
      // Whatever is named on the line is loaded; the first word is no verb, so that it is help for all of them.
      const loaded = await helpOf(dir, ...around, 'all', ...listed(help, 'Commands', VERB));
      expect(loaded).toBe(help);
    }
  });
});
