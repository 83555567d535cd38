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
    readonly complaints: readonly { readonly id: string; readonly text: string }[];
  };
}

interface RunTest {
  readonly titles: readonly string[];
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly errors?: readonly { readonly name: string; readonly message: string }[];
}

interface Verdicts {
  verdictOf(
    row: { readonly test?: string; readonly count?: number },
    modules: readonly { readonly errors: readonly string[]; readonly tests: readonly RunTest[] }[],
  ): { readonly outcome: 'killed' | 'survived' | 'broken'; readonly why: string };
}

const { readLedger } = await importScript<{ readLedger(): unknown }>('ledger.mjs');
const { mutate, readMutations } = await importScript<Mutations>('mutations.mjs');
const { verdictOf } = await importScript<Verdicts>('mutationVerdict.mjs');

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

describe('what a run on the mutated source shows', () => {
  const passed: RunTest = { titles: ['holds', 'a group'], state: 'passed' };
  const failedBy = (name: string, message = 'No.'): RunTest => ({
    titles: ['holds', 'a group'],
    state: 'failed',
    errors: [{ name, message }],
  });
  const other: RunTest = {
    titles: ['another'],
    state: 'failed',
    errors: [{ name: 'AssertionError', message: '' }],
  };
  const outcome = (tests: readonly RunTest[], row = {}, errors: readonly string[] = []): string =>
    verdictOf({ test: 'holds', ...row }, [{ errors, tests }]).outcome;

  test('a test that asserts, or is thrown at, kills the mutation', () => {
    expect(outcome([failedBy('AssertionError')])).toBe('killed');
    expect(outcome([failedBy('DevsError')])).toBe('killed');
    expect(outcome([passed, failedBy('AssertionError')], { test: 'a group' })).toBe('killed');
    expect(outcome([passed], { test: 'a group', count: 2 })).toBe('killed');
  });

  test('a test that passes lets it survive, whatever the others do', () => {
    expect(outcome([passed, other])).toBe('survived');
    expect(outcome([passed, passed], { test: 'a group', count: 2 })).toBe('survived');
  });

  test.for([
    ['a file that does not load', [failedBy('AssertionError')], ['Unexpected token']],
    ['a test that did not run', [other, { ...passed, state: 'skipped' }], []],
    ['code that is none', [failedBy('ReferenceError')], []],
    ['a call of what is gone', [failedBy('TypeError', 'x is not a function')], []],
    ['a test that waited for ever', [failedBy('Error', 'Test timed out in 60000ms.')], []],
  ] as const)('%s shows nothing', ([_what, tests, errors]) => {
    expect(outcome(tests, {}, errors)).toBe('broken');
  });
});
