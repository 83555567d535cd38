import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { sha256Of } from '../../src/config/readConfig.ts';
import type { Typed } from '../../test/trial/Person.ts';
import type { Job } from './Job.ts';
import type { Programs } from './Programs.ts';

/** How a brief becomes a commit. */
export type Way = 'bare' | 'devs' | 'model';

export const WAYS: readonly (readonly [Way, string])[] = [
  ['bare', 'the coding CLI alone, called once in the checkout'],
  ['devs', 'the same CLI through devs run --quick'],
  ['model', 'the same model through devs run --quick, in the loop of devs'],
];

export interface Workplace {
  readonly job: Job;
  /** The checkout. */
  readonly root: string;
  readonly home: string;
  /** The folder that becomes `node_modules`. */
  readonly modules: string;
  /** The folder of the CLI's programs. */
  readonly clis: string;
  /** The command, one file. */
  readonly bin: string;
  /** What leads to the model. */
  readonly env: Readonly<Record<string, string>>;
  readonly programs: Programs;
}

/** Does the work. @returns the branch it lies on */
export async function workThrough(way: Way, place: Workplace): Promise<string> {
  return way === 'bare' ? alone(place) : throughDevs(way, place);
}

const environmentOf = ({ home, clis, env }: Workplace): Readonly<Record<string, string>> => ({
  ...env,
  HOME: home,
  XDG_STATE_HOME: home,
  NO_COLOR: '1',
  PATH: `${clis}${delimiter}${process.env['PATH']}`,
});

async function alone(place: Workplace): Promise<string> {
  const { job, root, modules, clis, programs } = place;
  symlinkSync(modules, join(root, 'node_modules'));
  const checks = job.checks.map(({ argv }) => `\`${argv.join(' ')}\``).join(' and ');
  const prompt = `${job.brief}
Do this in the repository you are in. Write a test first and see it fail, then the code; bring the documentation up to
date. ${checks} must pass in the end. Then commit the work, in the style of the commits that are there.`;
  await programs.done(
    [claudeOf(clis), '-p', prompt, '--permission-mode', 'acceptEdits', '--allowedTools', 'Bash'],
    { cwd: root, env: environmentOf(place) },
  );
  return 'main';
}

/** The program that the adapter starts. */
function claudeOf(clis: string): string {
  const folder = join(dirname(clis), '@anthropic-ai');
  const programs = readdirSync(folder).map((name) => join(folder, name, 'claude'));
  const found = programs.find((program) => existsSync(program));
  if (found === undefined) throw new Error(`No program claude below ${folder}.`);
  return found;
}

const RUN = 'bench';
const RESUMABLE = 75;
/** Commands after which a person gives up. */
const PATIENCE = 8;

async function throughDevs(way: 'devs' | 'model', place: Workplace): Promise<string> {
  const { job, root, modules, bin, programs } = place;
  const config = join(root, '.devs', 'config.json');
  mkdirSync(dirname(config));
  writeFileSync(join(root, '.devs', '.gitignore'), '*\n');
  writeFileSync(join(root, '.devs', 'brief.md'), job.brief);
  writeFileSync(
    config,
    JSON.stringify({
      agents: way === 'devs' ? 'claude' : 'anthropic:bench',
      setup: ['ln', '-s', modules, 'node_modules'],
      checks: job.checks,
      sandbox: 'none',
    }),
  );
  const trust = ['--trust', sha256Of(readFileSync(config))];
  const devs = async (...words: readonly string[]): Promise<Typed> => ({
    words,
    ...(await programs.run([process.execPath, bin, ...words], {
      cwd: root,
      env: environmentOf(place),
    })),
  });
  let now = await devs('run', '.devs/brief.md', '--quick', '--id', RUN, '--no-sandbox', ...trust);
  for (let typed = 0; now.exitCode === RESUMABLE && typed < PATIENCE; typed += 1) {
    const [, line = ''] = /^(?:accept|approve|continue): +devs (.+)$/m.exec(now.stdout) ?? [];
    const words = line.split(' ').filter((word) => word !== '');
    if (words.length === 0) break;
    now = await devs(...words, ...(words.includes('--go') ? trust : []));
    if (now.exitCode === 0 && !words.includes('--go')) now = await devs('resume', RUN, ...trust);
  }
  if (now.exitCode === 0) return `devs/${RUN}`;
  throw new Error(
    `devs ${now.words.join(' ')} ended with ${now.exitCode}: ${(now.stderr + now.stdout).slice(-3_000)}`,
  );
}
