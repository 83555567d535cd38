import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { BUNDLES as BUNDLES_OF_TESTS } from '../support/bundlePrograms.ts';
import { UserCheckout } from '../support/UserCheckout.ts';

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

interface SourceCopy {
  readonly BUNDLES: string;
  whileMutated<T>(
    given: {
      readonly copy: string;
      readonly mutation: Mutation & { readonly file: string };
      readonly env: Record<string, string>;
      readonly onChange: (path: string) => void;
    },
    work: () => T,
  ): Promise<T>;
}

interface Changes {
  readonly head: string;
  readonly base: string;
  readonly files: readonly string[];
  readonly mutations: Readonly<Record<string, unknown>>;
}

interface Row {
  readonly entry: { readonly id: string; readonly file: string; readonly testFile?: string };
  readonly mutation: { readonly file: string };
}

interface Choice {
  readonly touched: readonly string[];
  readonly drawn: readonly string[];
  readonly left: readonly string[];
}

interface MutationChoice {
  changesOf(given: string, folder: string): Changes;
  chooseRows(
    rows: readonly Row[],
    changes: Changes,
    numbers: { readonly draw: number; readonly atMost: number },
  ): Choice;
}

const { readLedger } = await importScript<{ readLedger(): unknown }>('ledger.mjs');
const { mutate, readMutations } = await importScript<Mutations>('mutations.mjs');
const { verdictOf } = await importScript<Verdicts>('mutationVerdict.mjs');
const { BUNDLES, whileMutated } = await importScript<SourceCopy>('sourceCopy.mjs');
const { changesOf, chooseRows } = await importScript<MutationChoice>('mutationChoice.mjs');

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'devs-mutated-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// What `pnpm verify:spec --mutate` applies, each in a few seconds; here only that each can be applied.

describe('the mutations of the specification ledger', () => {
  test('are one per row, and each changes exactly one place of the source', () => {
    const { rows, notMutable, complaints } = readMutations(readLedger());
    expect(complaints).toEqual([]);
    expect(rows.length + Object.keys(notMutable).length).toBeGreaterThanOrEqual(203);
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

describe('while a copy has a mutation', () => {
  const mutation = { file: 'a.ts', find: '1', replace: '2' };

  test('its file has it, and is as before when the work is over, or has thrown', async () => {
    const copy = newFolder();
    const path = join(copy, 'a.ts');
    writeFileSync(path, 'return 1;');
    const told: string[] = [];
    const onChange = (changed: string): void => void told.push(`${changed} ${readFileSync(path, 'utf8')}`);
    const given = { copy, mutation, env: {}, onChange };
    expect(await whileMutated(given, () => readFileSync(path, 'utf8'))).toBe('return 2;');
    const thrown = whileMutated(given, () => {
      throw new Error('No.');
    });
    await expect(thrown).rejects.toThrow('No.');
    expect(told).toEqual(['2', '1', '2', '1'].map((value) => `${path} return ${value};`));
  });

  test('programs that were bundled before it are gone, and so are those bundled with it, afterwards', async () => {
    const copy = newFolder();
    writeFileSync(join(copy, 'a.ts'), 'return 1;');
    const before = newFolder();
    writeFileSync(join(before, 'file.js'), 'return 1;');
    expect(BUNDLES).toBe(BUNDLES_OF_TESTS);
    const env = { [BUNDLES]: before };
    const folders: string[] = [];
    const onChange = (): void => void folders.push(env[BUNDLES] ?? '');
    const meanwhile = await whileMutated({ copy, mutation, env, onChange }, () => env[BUNDLES] ?? '');
    onTestFinished(() => rmSync(env[BUNDLES] ?? '', { recursive: true }));
    expect(new Set([before, meanwhile, env[BUNDLES]]).size).toBe(3);
    // Changed before anybody is told, or what runs then would find the old ones.
    expect(folders).toEqual([meanwhile, env[BUNDLES]]);
    expect([before, meanwhile, env[BUNDLES] ?? ''].map((folder) => existsSync(folder))).toEqual([
      false,
      false,
      true,
    ]);
  });
});

describe('the rows that a change touches', () => {
  const rows: readonly Row[] = Array.from({ length: 40 }, (_, n) => ({
    entry: { id: `000-${n}`, file: `src/${n}.ts`, testFile: `test/${n}.test.ts` },
    mutation: { file: n === 9 ? 'src/of9.ts' : `src/${n}.ts` },
  }));
  const unchanged: Changes = { head: 'abc', base: 'def', files: [], mutations: {} };

  test('are those of its sources, of its tests, and those whose mutation is another; some others are drawn', () => {
    const files = ['src/3.ts', 'test/5.test.ts', 'src/of9.ts', 'README.md'];
    const mutations = { '000-7': { file: 'src/old.ts' }, '000-8': { file: 'src/8.ts' } };
    const chosen = chooseRows(rows, { ...unchanged, files, mutations }, { draw: 4, atMost: 24 });
    expect([...chosen.touched].sort()).toEqual(['000-3', '000-5', '000-7', '000-9']);
    expect(new Set([...chosen.touched, ...chosen.drawn]).size).toBe(8);
    expect(chosen.left).toEqual([]);
  });

  test('are no more than are wanted with the drawn ones, and those left are named', () => {
    const files = rows.slice(0, 30).map(({ entry }) => entry.file);
    const { touched, drawn, left } = chooseRows(rows, { ...unchanged, files }, { draw: 8, atMost: 24 });
    expect([touched.length, drawn.length, left.length]).toEqual([16, 8, 14]);
    expect(new Set([...touched, ...drawn, ...left]).size).toBe(38);
  });

  test('the draw is the same for the same commit, and another for another', () => {
    const drawn = (head: string) =>
      chooseRows(rows, { ...unchanged, head }, { draw: 8, atMost: 24 }).drawn.join();
    expect(drawn('abc')).toBe(drawn('abc'));
    expect(new Set(['abc', 'abd', 'abe'].map(drawn)).size).toBe(3);
  });
});

describe('what counts as changed', () => {
  const MORNING = Date.parse('2026-01-01T08:00:00Z') / 1000;
  const HOUR = 60 * 60;

  /** A commit that many hours after the first. @returns its id */
  function commit(user: UserCheckout, path: string, hours: number): string {
    user.write(path, path);
    user.git('add', '.');
    const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.org'];
    const at = `@${MORNING + hours * HOUR} +0000`;
    vi.stubEnv('GIT_COMMITTER_DATE', at);
    user.git(...who, 'commit', '-q', '-m', path, `--date=${at}`);
    vi.unstubAllEnvs();
    return user.git('rev-parse', 'HEAD').trim();
  }

  function withCommits(...hours: readonly number[]): { user: UserCheckout; ids: readonly string[] } {
    const user = UserCheckout.create(newFolder());
    return { user, ids: hours.map((hour, n) => commit(user, `${n}.txt`, hour)) };
  }

  test('on a branch, what it has that origin/main has not, with what is not committed', () => {
    const { user, ids } = withCommits(0, 1, 2);
    user.git('update-ref', 'refs/remotes/origin/main', ids[1] ?? '');
    user.write('0.txt', 'changed');
    user.write('new.txt', 'new');
    const { head, base, files } = changesOf('', user.root);
    expect([head, base]).toEqual([ids[2], ids[1]]);
    expect([...files].sort()).toEqual(['0.txt', '2.txt', 'new.txt']);
  });

  test('on origin/main itself, the commits of its last day', () => {
    const { user, ids } = withCommits(0, 1, 20, 30);
    user.git('update-ref', 'refs/remotes/origin/main', 'HEAD');
    expect(changesOf('', user.root)).toMatchObject({ base: ids[1], files: ['2.txt', '3.txt'] });
  });

  test('where all is younger, everything but the first commit', () => {
    const { user, ids } = withCommits(0, 1, 2);
    expect(changesOf('', user.root)).toMatchObject({ base: ids[0], files: ['1.txt', '2.txt'] });
  });

  test('since the commit that is named; one that is not there is refused', () => {
    const { user, ids } = withCommits(0, 40, 41);
    expect(changesOf(ids[1] ?? '', user.root)).toMatchObject({ base: ids[1], files: ['2.txt'] });
    expect(() => changesOf('nowhere', user.root)).toThrow(/there is no commit nowhere/);
  });

  test('nothing, without git', () => {
    expect(changesOf('', newFolder())).toEqual({ head: '', base: '', files: [], mutations: {} });
  });
});
