import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../../../scripts/public-docs.mjs', import.meta.url));

interface Doc {
  readonly owner: string;
  readonly member: string | null;
  readonly file: string;
  readonly text: string | null;
}

interface PublicName {
  readonly name: string;
  readonly kind: string;
  readonly entries: readonly string[];
  readonly docs: readonly Doc[];
}

let names: readonly PublicName[];

beforeAll(() => {
  const json = execFileSync(process.execPath, [script, '--json'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  names = JSON.parse(json) as readonly PublicName[];
});

const named = (name: string) => names.find((each) => each.name === name);
const members = (name: string) =>
  named(name)?.docs.map(({ owner, member }) => `${owner}.${member ?? ''}`) ?? [];

describe('scripts/public-docs.mjs', () => {
  test('finds a function through every re-export, with its entries and its comment', () => {
    const durable = named('durable');
    expect(durable?.kind).toBe('function');
    expect(durable?.entries).toContain('@devs/core/langgraph');
    expect(durable?.docs[0]?.file).toBe('packages/core/src/engine/app/durable.ts');
    expect(durable?.docs[0]?.text).toMatch(/^\/\*\*[\s\S]*@example[\s\S]*\*\/$/);
  });

  test('lists members, those of extended types too, and no private ones', () => {
    expect(members('DurableApp')).toEqual(expect.arrayContaining(['DurableApp.run', 'DurableApp.fork']));
    expect(members('DurableOptions')).toEqual(
      expect.arrayContaining(['DurableOptions.file', 'AppOptions.gates']),
    );
    expect(names.flatMap(({ docs }) => docs).filter(({ member }) => member?.startsWith('#'))).toEqual([]);
  });

  test('leaves out entries that promise nothing', () => {
    const entries = new Set(names.flatMap((each) => each.entries));
    expect([...entries].filter((entry) => /internal|dist/.test(entry))).toEqual([]);
  });

  test('rejects an unknown option', () => {
    const { status, stderr } = spawnSync(process.execPath, [script, '--all'], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([2, 'unknown option --all; --help lists the options\n']);
  });
});
