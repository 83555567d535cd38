import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Job, rightWork, testOf } from './Job.ts';
import { ranIn } from './ranIn.ts';
import type { TrialCheckout } from './TrialCheckout.ts';

/** What a branch is worth, found out without anything that the run says of itself. */
export interface Verdict {
  readonly commits: number;
  /** Why it is wrong; empty: right, where there is a commit. */
  readonly wrong: readonly string[];
}

/**
 * Judges a branch in a fresh clone: cases that no agent has seen, the tests that were there before, and whether anything
 * was taken from them.
 */
export async function judge(
  job: Job,
  checkout: TrialCheckout,
  { branch, dir }: { branch: string; dir: string },
): Promise<Verdict> {
  const { root } = checkout.user;
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const isThere = git('branch', '--list', branch) !== '';
  const commits = isThere ? Number(git('rev-list', '--count', `main..${branch}`)) : 0;
  if (commits === 0) return { commits, wrong: [] };
  const clone = join(dir, 'judged');
  rmSync(clone, { recursive: true, force: true });
  const ready = async (argv: readonly string[], cwd: string): Promise<void> => {
    const { status, output } = await ranIn(cwd, argv, checkout.judged);
    if (status !== 0) throw new Error(`${argv[0]} failed: ${output}`);
  };
  await ready(['git', 'clone', '-q', '-b', branch, root, clone], dir);
  // As it is committed: setup may put contents in the place of pointers.
  const gone = lost(job, checkout, clone);
  const right = rightWork(job);
  const base = Object.entries(checkout.base).filter(
    ([path, content]) => !(path in right) && textOf(clone, path) !== content,
  );
  await ready(checkout.setup, clone);
  const wrong = [...gone, ...(await unmet(job, clone, dir))];
  return {
    commits,
    wrong: [...wrong, ...(await red({ ...checkout, base: Object.fromEntries(base) }, clone))],
  };
}

const textOf = (clone: string, path: string): string | null =>
  existsSync(join(clone, path)) ? readFileSync(join(clone, path), 'utf8') : null;

/** What the tests, or what judges them, has lost: none of the agents has a reason to touch any of it. */
function lost(job: Job, { base, ignored }: TrialCheckout, clone: string): readonly string[] {
  const { repository } = job;
  const right = rightWork(job);
  const now = (path: string): string | null => textOf(clone, path);
  const kept = Object.keys(base).filter((path) => !(path in right) && !ignored.includes(path));
  const changed = kept.filter((path) => now(path) !== base[path]).map((path) => `${path} was changed`);
  if (job.isChore) return changed;
  const test =
    now(repository.feature.test) === testOf(job) ? [] : [`${repository.feature.test} is not the right test`];
  return [...changed, ...test];
}

/** Cases of the brief that the code does not meet. */
async function unmet(job: Job, clone: string, dir: string): Promise<readonly string[]> {
  const { repository, isChore, base } = job;
  if (isChore) {
    const text = readFileSync(join(clone, repository.readme), 'utf8');
    return text.includes('Node.js 20') && text.startsWith((base[repository.readme] ?? '').trimEnd())
      ? []
      : ['the readme does not say it'];
  }
  const { feature } = repository;
  const name = feature.call.split('.')[0] ?? feature.call;
  const cases = [...feature.cases, ...feature.hidden].map(
    ({ args, of = '', expected }) =>
      `[${JSON.stringify(args)}, () => ${feature.call}(${args})${of}, ${expected}],`,
  );
  const script = join(dir, 'acceptance.mjs');
  writeFileSync(
    script,
    `import { isDeepStrictEqual } from 'node:util';
const module = await import(${JSON.stringify(join(clone, feature.code))});
const ${name} = module[${JSON.stringify(name)}] ?? module.default?.[${JSON.stringify(name)}] ?? module.default;
const said = (call) => { try { return call(); } catch (error) { return error; } };
for (const [args, call, expected] of [${cases.join('\n')}])
  if (!isDeepStrictEqual(said(call), expected)) console.log(args);
console.log('judged');
`,
  );
  const { stdout } = await ranIn(clone, [process.execPath, script]);
  const lines = stdout.trim().split('\n');
  if (lines.at(-1) !== 'judged') return [`${feature.code} cannot be loaded`];
  return lines.slice(0, -1).map((args) => `${feature.call}(${args}) is wrong`);
}

/** The tests of the repository as they were before, with the manifest that was there before. @param base - What differs. */
async function red(
  { base, ignored, check, judged }: TrialCheckout,
  clone: string,
): Promise<readonly string[]> {
  for (const [path, content] of Object.entries(base)) writeFileSync(join(clone, path), content);
  for (const path of ignored) rmSync(join(clone, path));
  const { status, output } = await ranIn(clone, check, judged);
  return status === 0 ? [] : [`the tests of the repository fail: ${output.slice(-300)}`];
}
