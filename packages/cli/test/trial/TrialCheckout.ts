import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UserCheckout } from '../../../core/test/support/UserCheckout.ts';
import type { ProjectConfigInput } from '../../src/config/ProjectConfig.ts';
import { detectProject } from '../../src/init/detectProject.ts';
import type { TrialName } from './agents.ts';
import type { Repository } from './Repository.ts';
import type { Situation } from './situations/Situation.ts';
import { copyPackage, type Toolbox } from './Toolbox.ts';

/** A repository on disk, as a person has it: committed, nothing lying in it. */
export interface TrialCheckout {
  readonly user: UserCheckout;
  /** Of the commit, by path. */
  readonly base: Readonly<Record<string, string>>;
  /** Tests that say nothing about the work: one is flaky, or fails from the start. */
  readonly ignored: readonly string[];
  /** Makes `node_modules` in a folder. */
  readonly setup: readonly string[];
  readonly check: readonly string[];
  /** As `devs init` names them where {@link check} is several: `xo && ava && tsd`, or that of each package. */
  readonly checks: NonNullable<ProjectConfigInput['checks']>;
  /** Variables that the judge needs to prepare and to check a clone. */
  readonly judged?: Readonly<Record<string, string>>;
  /** Where programs of the repository lie that its owner has on the `PATH`; `null`: none. */
  readonly programs: string | null;
}

/** Where the flaky test counts its runs: outside of every tree. */
const COUNTER = 'runs-of-the-flaky-test';

export interface CheckoutOptions {
  readonly repository: Repository;
  readonly agent: TrialName;
  readonly tools: Toolbox;
  /** How long its setup says nothing, ms. @defaultValue 0 */
  readonly setupMs?: number;
  readonly situation?: Situation | undefined;
}

export async function trialCheckout(
  dir: string,
  { repository, agent, tools, setupMs = 0, situation }: CheckoutOptions,
): Promise<TrialCheckout> {
  const root = join(dir, repository.name);
  mkdirSync(root);
  if (repository.tarball !== undefined) copyPackage(await tools.unpacked(repository.tarball), root);
  const added = addedTest(repository, agent, join(dir, COUNTER));
  const ignores = ['node_modules', ...(situation?.ignored ?? []), ''].join('\n');
  const files = { ...repository.files, ...added, ...situation?.files, '.gitignore': ignores };
  const { save = (content: string) => content, message = 'What there is' } = situation ?? {};
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    const mode = path.startsWith('.husky/') ? 0o755 : 0o644;
    writeFileSync(join(root, path), path.startsWith('.') ? content : save(content), { mode });
  }
  const user = UserCheckout.create(root);
  situation?.beforeCommit?.(user, dir);
  user.git('add', '.');
  user.git('commit', '-q', '-m', message);
  const targets = await tools.links(repository);
  return {
    user,
    base: { ...contentsOf(root), ...situation?.stored },
    ignored: Object.keys(added),
    setup: setupOf(dir, targets, setupMs),
    ...(await checksOf(root, { repository, agent, tools })),
    programs: targets[''] === undefined ? null : join(targets[''], '.bin'),
  };
}

/** Makes `node_modules` of a whole folder, or of links into it. */
function setupOf(
  dir: string,
  targets: Readonly<Record<string, string>>,
  silentMs: number,
): readonly string[] {
  const program = (name: string): string => join(import.meta.dirname, name);
  const whole = targets[''];
  if (whole !== undefined) return [process.execPath, program('linkFolder.mjs'), whole, `${silentMs}`];
  const links = join(dir, 'links');
  const lines = Object.entries(targets).map(([name, target]) => `${name}\t${target}\n`);
  writeFileSync(links, lines.join(''));
  return ['/bin/sh', program('linkModules.sh'), links, `${silentMs / 1000}`];
}

/** The script alone where it is what an agent edits. */
async function checksOf(
  root: string,
  { repository, agent, tools }: CheckoutOptions,
): Promise<Pick<TrialCheckout, 'check' | 'checks'>> {
  const isScript = agent === 'edited-check';
  const check = isScript ? ['npm', 'run', '--silent', 'test'] : tools.check(repository);
  const { checks = [] } = isScript ? {} : (await detectProject(root)).config;
  return { check, checks: checks.length > 1 ? checks : [{ name: 'test', argv: [...check] }] };
}

/** One test more where the trial is about tests that fail by themselves. */
function addedTest(
  repository: Repository,
  agent: TrialName,
  counter: string,
): Readonly<Record<string, string>> {
  const { dialect, moreTests } = repository;
  if (agent !== 'flaky-check' && agent !== 'red-baseline') return {};
  const { doing = (lines, fs) => [...fs, dialect.empty, ...lines, ''].join('\n') } = dialect;
  const text = agent === 'red-baseline' ? doing([BAD], []) : doing(everyThird(counter), [dialect.fs]);
  return { [moreTests('weather')]: text };
}

const BAD = "throw new Error('the weather is bad');";

/** Every third run fails, from the second on: the first tells nothing. */
const everyThird = (counter: string): readonly string[] => [
  `const file = '${counter}';`,
  "const runs = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').length : 0;",
  "fs.appendFileSync(file, 'x');",
  '',
  'if (runs % 3 === 1) {',
  `\t${BAD}`,
  '}',
];

function contentsOf(root: string): Readonly<Record<string, string>> {
  const paths = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter(Boolean);
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}
