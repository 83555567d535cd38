import { describe, expect, test } from 'vitest';

const importScript = <Names>(name: string): Promise<Names> =>
  import(new URL(`../../../../scripts/${name}`, import.meta.url).href) as Promise<Names>;

interface Mutation {
  readonly find: string;
  readonly replace: string;
}

interface Mutations {
  mutate(source: string, mutation: Mutation): string;
  readMutations(ledger: unknown): {
    readonly rows: readonly unknown[];
    readonly notMutable: Readonly<Record<string, string>>;
    readonly complaints: readonly string[];
  };
}

const { readLedger } = await importScript<{ readLedger(): unknown }>('ledger.mjs');
const { mutate, readMutations } = await importScript<Mutations>('mutations.mjs');

// What `pnpm verify:spec --mutate` applies, each in a few seconds; here only that each can be applied.

describe('the mutations of the specification ledger', () => {
  test('are one per row, and each changes exactly one place of the source', () => {
    const { rows, notMutable, complaints } = readMutations(readLedger());
    expect(complaints).toEqual([]);
    expect(rows.length).toBeGreaterThan(190);
    expect(Object.keys(notMutable).length).toBeLessThanOrEqual(5);
  });

  test.for([
    ['a text that is not there', 'gone', 'new'],
    ['a text that is there twice', 'a', 'b'],
    ['a text that stays', 'ban', 'ban'],
  ] as const)('%s is no mutation', ([_what, find, replace]) => {
    expect(() => mutate('banana', { find, replace })).toThrow(find === replace ? /changes nothing/ : /times/);
  });

  test('what a mutation puts in is taken to the letter', () => {
    expect(mutate('a + b', { find: '+', replace: "$& $' -" })).toBe("a $& $' - b");
  });
});
