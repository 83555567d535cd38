import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const packages = fileURLToPath(new URL('../../..', import.meta.url));
const page = readFileSync(join(packages, '../docs/reference/platforms.md'), 'utf8');

/** What only some systems have. */
const OF_A_SYSTEM =
  /\bplatform\b|['"`]\/(?:proc|dev|etc|tmp|run|bin|usr|sys|var)\b|process\.kill\(-|FICLONE|\b(?:setsid|taskkill)\b/;

const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(?:^|\s)\/\/[^\n]*/g, '');

const sources = ['core', 'agents'].flatMap((name) =>
  readdirSync(join(packages, name, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.endsWith('.ts') && !entry.parentPath.includes('__tests__'))
    .map((entry) => join(entry.parentPath, entry.name)),
);

test('every place that leans on a system is on the page, with what happens elsewhere', () => {
  const leaning = sources.filter((path) => OF_A_SYSTEM.test(withoutComments(readFileSync(path, 'utf8'))));
  const listed = page.match(/(?<=`)(?:core|agents)\/src\/[\w/]+\.ts(?=`)/g) ?? [];
  const names = leaning.map((path) => relative(packages, path).replaceAll('\\', '/'));
  expect(names.sort()).toEqual([...listed].sort());
});
