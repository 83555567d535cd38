import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Part } from './developer.ts';
import type { Job } from './Job.ts';
import type { Counted, ModelOffice } from './ModelOffice.ts';
import type { Programs } from './Programs.ts';
import type { Sources } from './Sources.ts';
import { type Way, workThrough } from './ways.ts';

/** What one brief took in one way. */
export interface Row {
  readonly repository: string;
  readonly way: Way;
  readonly requests: number;
  readonly tokensIn: number;
  /** Of {@link tokensIn}, behind the beginning that an earlier request had: what a provider's cache does not have. */
  readonly tokensNew: number;
  readonly tokensOut: number;
  readonly minutes: number;
  /** Requests and tokens of each part. */
  readonly parts: Readonly<
    Partial<
      Record<
        Part,
        {
          readonly requests: number;
          readonly tokensIn: number;
          readonly tokensNew: readonly number[];
          readonly tools: readonly string[];
        }
      >
    >
  >;
  /** Of the files of the last commit: the same for the same work. */
  readonly tree: string;
}

export interface Setting {
  readonly office: ModelOffice;
  readonly sources: Sources;
  readonly programs: Programs;
  readonly clis: string;
  readonly bin: string;
  /** Told the folder, which then stays. @defaultValue it is removed */
  readonly onKept: ((dir: string) => void) | undefined;
}

/** @throws Error where the work does not come to a right commit. */
export async function measure(job: Job, way: Way, setting: Setting): Promise<Row> {
  const { office, sources, programs, clis, bin } = setting;
  const dir = mkdtempSync(join(tmpdir(), 'devs-bench-agents-'));
  try {
    const root = join(dir, job.name);
    const home = join(dir, 'home');
    mkdirSync(home);
    await sources.checkout(job, root);
    const modules = await sources.modules(job);
    office.begin(job);
    const started = performance.now();
    const place = { job, root, home, modules, clis, bin, env: office.env, programs };
    const branch = await workThrough(way, place).catch((error: unknown) => {
      throw office.fault ?? error;
    });
    const minutes = (performance.now() - started) / 60_000;
    const tree = await judged(job, { root, branch, modules, dir, programs });
    return { repository: job.name, way, ...sumsOf(office.counted), minutes, tree };
  } finally {
    if (setting.onKept === undefined) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    else setting.onKept(dir);
  }
}

interface Work {
  readonly root: string;
  readonly branch: string;
  readonly modules: string;
  readonly dir: string;
  readonly programs: Programs;
}

/** One commit, whose checks pass in a fresh clone, and a test that nobody has seen. @returns its tree */
async function judged(job: Job, { root, branch, modules, dir, programs }: Work): Promise<string> {
  const clone = join(dir, 'judged');
  await programs.done(['git', 'clone', '--quiet', '--branch', branch, root, clone]);
  const git = (...args: readonly string[]): Promise<string> =>
    programs.done(['git', ...args], { cwd: clone });
  const commits = await git('rev-list', '--count', `${job.commit}..HEAD`);
  if (commits !== '1') throw new Error(`${job.name}: ${commits} commits on ${branch}, not one`);
  symlinkSync(modules, join(clone, 'node_modules'));
  writeFileSync(join(clone, job.hidden.path), job.hidden.content);
  await programs.done(job.hidden.argv, { cwd: clone });
  rmSync(join(clone, job.hidden.path));
  for (const { argv } of job.checks) await programs.done(argv, { cwd: clone });
  return git('rev-parse', 'HEAD^{tree}');
}

function sumsOf(
  counted: readonly Counted[],
): Pick<Row, 'requests' | 'tokensIn' | 'tokensNew' | 'tokensOut' | 'parts'> {
  const sum = (each: (one: Counted) => number, of = counted): number =>
    of.reduce((total, one) => total + each(one), 0);
  const parts = [...new Set(counted.map(({ part }) => part))].map((part) => {
    const of = counted.filter((one) => one.part === part);
    return [
      part,
      {
        requests: of.length,
        tokensIn: sum(({ input }) => input, of),
        tokensNew: of.map(({ input, cached }) => input - cached),
        tools: of.map(({ tools }) => tools.join('+') || 'words'),
      },
    ] as const;
  });
  return {
    requests: counted.length,
    tokensIn: sum(({ input }) => input),
    tokensNew: sum(({ input, cached }) => input - cached),
    tokensOut: sum(({ output }) => output),
    parts: Object.fromEntries(parts),
  };
}
