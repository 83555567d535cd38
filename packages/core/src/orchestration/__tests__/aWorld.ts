import type { Database } from 'better-sqlite3';
import type { MemoryWorkspace } from '../../testing/index.ts';
import type { CheckResult, Checks, FileEdit, RunWorkspace, StageAgents, TestCase } from '../ports.ts';
import { aPipeline, type PipelineOptions } from './aPipeline.ts';

/** A file of a line: in `src/` a value (`a=1`), in `test/` what is expected (`a=1`), or that nothing is (`skip a=1`). */
export const file = (path: string, ...lines: readonly string[]): FileEdit => ({
  path,
  content: lines.map((line) => `${line}\n`).join(''),
});

export const work = (...files: readonly FileEdit[]) => ({ summary: 'Done.', files });

/** Every line of a test is a case, which passes if a source has that line. */
async function casesIn(run: RunWorkspace): Promise<readonly TestCase[]> {
  const linesUnder = async (folder: string): Promise<readonly string[]> => {
    const paths = (await run.list()).filter((path) => path.startsWith(folder));
    const texts = await Promise.all(paths.map((path) => run.read(path)));
    return texts.flatMap((text) => text.split('\n').filter((line) => line !== ''));
  };
  const sources = new Set(await linesUnder('src/'));
  return (await linesUnder('test/')).map((line) => {
    if (line.startsWith('skip ')) return { name: line.slice(5), state: 'skipped' };
    return { name: line, state: sources.has(line) ? 'passed' : 'failed' };
  });
}

export interface WorldOptions extends Omit<PipelineOptions, 'checks'> {
  /** Cases are told by name. @defaultValue true */
  readonly tellsCases?: boolean;
  /** Changes what a check says. @param number - Of the run, from 1. */
  readonly says?: (result: CheckResult, number: number) => CheckResult;
  /** Whether a command of a task, or a hook, passes. @defaultValue if its first argument names a file */
  readonly runs?: (argv: readonly string[], run: RunWorkspace) => Promise<boolean>;
}

/** The pipeline in a world where code is lines, tests are lines, and the checks are told by nothing else. */
export async function aWorld(
  db: Database,
  { tellsCases = true, says, runs: passes, ...options }: WorldOptions,
) {
  const runs: string[] = [];
  let workspace: MemoryWorkspace | null = null;
  const checks: Checks = {
    run: async () => {
      const cases = await casesIn(await (workspace as MemoryWorkspace).open('shop'));
      const failed = cases.filter(({ state }) => state === 'failed').map(({ name }) => name);
      const passed = failed.length === 0;
      const output = passed ? 'ok' : `not ok: ${failed.join(', ')}`;
      const exitCode = passed ? 0 : 1;
      const result = {
        passed,
        exitCode,
        timedOut: false,
        output,
        command: 'lines',
        ...(tellsCases && { cases }),
      };
      runs.push(output);
      return says?.(result, runs.length) ?? result;
    },
    runCommand: async (argv) => {
      const run = await (workspace as MemoryWorkspace).open('shop');
      const isThere = (): Promise<boolean> =>
        run.read(argv[1] ?? '').then(
          () => true,
          () => false,
        );
      const passed = await (passes?.(argv, run) ?? isThere());
      runs.push(`command ${argv.join(' ')}`);
      const exitCode = passed ? 0 : 1;
      return { passed, exitCode, timedOut: false, output: `${passed}`, command: argv.join(' ') };
    },
  };
  const pipeline = await aPipeline(db, { tasks: 1, ...options, checks });
  ({ workspace } = pipeline);
  const run = await workspace.open('shop');
  const begun = await run.integrated();
  /** What the newest commit has, by path. */
  const committed = async (): Promise<Readonly<Record<string, string | null>>> => {
    const tree = await run.integrated();
    const { files } = await run.compare(begun, tree, 0);
    return Object.fromEntries(
      await Promise.all(files.map(async ({ path }) => [path, await run.readAt(tree, path)] as const)),
    );
  };
  return { ...pipeline, runs, run, committed };
}

/** Agents that document nothing and approve all. */
export const quiet: Partial<StageAgents> = {
  document: async () => work(),
  review: async () => ({ approved: true, comments: 'Fine.' }),
};
