import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { howMany } from '../../../test/support/howMany.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import type { FileEdit } from '../ports.ts';
import { driveToTheEnd } from './aPipeline.ts';
import { aWorld, file, quiet, work } from './aWorld.ts';

const CASES = howMany('DEVS_LOOP_CASES', 6);

/** What an agent may do in one attempt. The work is right when `src/a.txt` has `a=1`, and a test that was red says so. */
const TESTS = {
  right: work(file('test/a.txt', 'a=1')),
  wrong: work(file('test/a.txt', 'a=2')),
  empty: work(file('test/a.txt')),
  skipped: work(file('test/a.txt', 'skip a=1')),
  nothing: work(),
  'beside it': work(file('test/b.txt', 'a=1')),
} as const;

const CODES = {
  right: [file('src/a.txt', 'a=1')],
  wrong: [file('src/a.txt', 'a=3')],
  nothing: [],
  'for the wrong test': [file('src/a.txt', 'a=2')],
} as const;

const CHEATS: Readonly<Record<string, readonly FileEdit[]>> = {
  none: [],
  'guts the test': [file('test/a.txt')],
  'skips the test': [file('test/a.txt', 'skip a=1', 'skip a=2')],
  'deletes the test': [{ path: 'test/a.txt', content: null }],
  'turns the test': [file('test/a.txt', 'a=3')],
};

const keyOf = <T extends object>(of: T) => fc.constantFrom(...(Object.keys(of) as (keyof T)[]));

const attempt = fc.record({
  test: keyOf(TESTS),
  code: keyOf(CODES),
  cheat: keyOf(CHEATS),
  documentCheat: keyOf(CHEATS),
  saysWrong: fc.boolean(),
});

type Attempt = typeof attempt extends fc.Arbitrary<infer T> ? T : never;

const IDLE: Attempt = {
  test: 'nothing',
  code: 'nothing',
  cheat: 'none',
  documentCheat: 'none',
  saysWrong: false,
};

/** Turns that leave one tree after which the loop gives up. */
const EQUAL_TURNS = 3;

/** What the loop has to decide, told without trees: the attempt whose work is right, or `null`. */
function firstRight(attempts: readonly Attempt[]): number | null {
  const files = new Map<string, string>();
  const own = new Set<string>();
  const left = new Map<string, number>();
  const put = (edits: readonly FileEdit[], isAllowed: (path: string) => boolean): void => {
    for (const { path, content } of edits) {
      if (!isAllowed(path)) continue;
      if (content === null) files.delete(path);
      else files.set(path, content);
    }
  };
  const asked = (isCounted: (path: string) => boolean): readonly string[] =>
    [...files]
      .filter(([path]) => path.startsWith('test/') && isCounted(path))
      .flatMap(([, text]) => text.split('\n').filter((line) => line !== '' && !line.startsWith('skip ')));
  const isRight = ({ test, code, cheat, documentCheat, saysWrong }: Attempt): boolean => {
    for (const { path, content } of TESTS[test].files) if (files.get(path) !== content) own.add(path);
    put(TESTS[test].files, () => true);
    if (asked((path) => own.has(path)).length === 0) return false; // nothing is red without the code
    const isFree = (path: string): boolean => !own.has(path);
    put([...CODES[code], ...(CHEATS[cheat] ?? [])], isFree);
    if (saysWrong) return false;
    put(CHEATS[documentCheat] ?? [], isFree);
    return asked(() => true).every((line) => files.get('src/a.txt') === `${line}\n`);
  };
  for (const [index, attempt] of [...attempts, IDLE].entries()) {
    if (isRight(attempt)) return index + 1;
    const tree = JSON.stringify([...files].sort());
    left.set(tree, (left.get(tree) ?? 0) + 1);
    if (left.get(tree) === EQUAL_TURNS) return null;
  }
  return null;
}

describe('the loop over a task', () => {
  test('commits if and only if what was red without the code is green with it, whatever agents try', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(attempt, { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        async (attempts, tellsCases) => {
          const db = createDatabase({ dbPath: ':memory:' });
          const at = (n: number): Attempt | undefined => attempts[n - 1];
          const world = await aWorld(db, {
            tellsCases,
            config: { hitlEntropyThreshold: 1 },
            agents: {
              ...quiet,
              writeTest: async ({ attempt: n }) => TESTS[at(n)?.test ?? 'nothing'],
              implement: async ({ attempt: n }) => {
                const { code = 'nothing', cheat = 'none', saysWrong = false } = at(n) ?? {};
                const done = work(...CODES[code], ...(CHEATS[cheat] ?? []));
                return saysWrong ? { ...done, wrongTest: 'It is.' } : done;
              },
              document: async ({ attempt: n }) => work(...(CHEATS[at(n)?.documentCheat ?? 'none'] ?? [])),
            },
          });
          const { values } = await driveToTheEnd(world, ({ kind }) =>
            kind.endsWith('approval') ? { approved: true } : { action: 'abort' },
          );
          const right = firstRight(attempts);
          expect(await world.run.log()).toHaveLength(right === null ? 0 : 1);
          if (right !== null) expect(values?.taskAttempts).toBe(right);
          expect(world.runs.length).toBeLessThanOrEqual(2 * (values?.taskAttempts ?? 0));
          db.close();
        },
      ),
      { numRuns: CASES },
    );
  });
});
