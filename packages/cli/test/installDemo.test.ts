import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

const ROOT = new URL('../../../', import.meta.url);
const textOf = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');

interface Script {
  lockfileOf(importer: string, lockfile: string, without: string): string;
}
const { lockfileOf } = (await import(new URL('scripts/installDemo.mjs', ROOT).href)) as Script;

interface Lockfile {
  readonly importers: Readonly<Record<string, { readonly dependencies: Readonly<Record<string, unknown>> }>>;
}
const lockfile = textOf('pnpm-lock.yaml');
const whole = parse(lockfile) as Lockfile;

describe('the lockfile of the demo', () => {
  test("has one package, in the workspace's versions, and all else as it is", () => {
    const { importers, ...rest } = parse(lockfileOf('tools/demo', lockfile, 'better-sqlite3-13')) as Lockfile;
    const { importers: all, ...others } = whole;
    expect(rest).toEqual(others);
    const { 'better-sqlite3-13': other, ...used } = all['tools/demo']?.dependencies ?? {};
    expect(other).toBeDefined();
    expect(importers).toEqual({ '.': { dependencies: used } });
  });

  test('leaves out the driver that is named, not the one whose name begins so', () => {
    const { importers } = parse(lockfileOf('tools/demo', lockfile, 'better-sqlite3')) as Lockfile;
    const names = Object.keys(importers['.']?.dependencies ?? {});
    expect(names).toContain('better-sqlite3-13');
    expect(names).not.toContain('better-sqlite3');
  });

  test('cannot be made of a package that is not there', () => {
    expect(() => lockfileOf('tools/none', lockfile, '')).toThrow('pnpm-lock.yaml has no importer tools/none');
  });
});
