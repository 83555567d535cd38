import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findNetworkSettings, hideFromStatus } from '@devs/agents/internal';
import type { Command } from 'commander';
import { configPath } from '../config/configFile.ts';
import { configSchemaText, type ProjectConfigInput } from '../config/ProjectConfig.ts';
import { sha256Of } from '../config/readConfig.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { quoteWord } from '../flags/commandWords.ts';
import { type DetectedProject, detectProject } from '../init/detectProject.ts';
import { projectHints } from '../init/projectHints.ts';
import { rememberOrSay } from '../project/acceptedConfig.ts';
import { examples, type Session, type Start } from '../project/Session.ts';
import type { Line } from '../terminal/Line.ts';
import { oneLine } from '../terminal/visible.ts';
import { usageError } from '../usageError.ts';

interface InitOptions {
  readonly agents?: string;
  readonly force?: boolean;
  /** False for runs that begin empty. */
  readonly repository?: boolean;
}

export function addInit(program: Command, start: Start): void {
  program
    .command('init')
    .description('inspect the project and write .devs/config.json: checks, setup, agents')
    .option('--agents <agents>', 'the agents, as in devs run --agents')
    .option('--no-repository', 'runs start with an empty folder, also in a folder inside a repository')
    .option('--force', 'replace an existing configuration')
    .addHelpText('after', examples('devs init', 'devs init --agents openai:gpt-5.2', 'devs init --json'))
    .action((options: InitOptions, command: Command) => start(command, (session) => init(options, session)));
}

async function init(
  { agents, force = false, repository = true }: InitOptions,
  session: Session,
): Promise<ExitCode> {
  const file = configPath(session.dir);
  if (existsSync(file) && !force) throw alreadyThere(file);
  const found = await detectProject(session.dir);
  if (repository) assertUsable(found, session);
  const config: ProjectConfigInput = {
    ...(agents !== undefined && { agents }),
    ...(!repository && { repository }),
    ...found.config,
  };
  const text = `${JSON.stringify({ $schema: './config.schema.json', ...config }, null, 2)}\n`;
  await writeConfig(file, text, force);
  await rememberOrSay({ sha256: sha256Of(text) }, session);
  const hints = [...found.hints, ...(await projectHints(session.dir, found.git))];
  const network = await findNetworkSettings(session.io.env);
  session.out.result({ file, ...found, hints, network, config }, [
    ...initSummary(file, found, config, session),
    ...networkLines(config, network),
    ...hints.map((hint): Line => ({ style: 'bold', text: `note:     ${oneLine(hint)}` })),
    `next:     ${session.devs('run', 'brief.md', ...(agents === undefined ? ['--agents', 'openai:MODEL'] : []))}`,
  ]);
  return EXIT.ok;
}

/** Before anything is written, reports a fault that would stop every run. */
function assertUsable({ git }: Pick<DetectedProject, 'git'>, { dir }: Session): void {
  if (git.inRepository !== null) {
    throw usageError(
      `${dir} is inside the repository ${git.inRepository}, and a run needs the whole repository.`,
      `Use its top folder, where each package of a workspace gets its own check: devs init --dir ${quoteWord(git.inRepository)}. ` +
        'With --no-repository, runs start with an empty folder.',
    );
  }
  if (!git.hasDevsBranch) return;
  throw usageError(
    'The repository has a branch named devs, which is in the way of the branches of runs: devs/RUN.',
    'Rename it, for example with git branch -m devs devs-old.',
  );
}

const alreadyThere = (file: string) =>
  usageError(`${file} already exists.`, 'Edit the file, or replace it with devs init --force.');

async function writeConfig(file: string, text: string, force: boolean): Promise<void> {
  const folder = path.dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await hideFromStatus(folder);
  await writeWhole(path.join(folder, 'config.schema.json'), configSchemaText(), rename);
  const isLink = (await lstat(file).catch(() => null))?.isSymbolicLink() ?? false;
  await writeWhole(file, text, force || isLink ? rename : link).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? alreadyThere(file) : error;
  });
}

/**
 * The file is there as a whole or not at all. A link that stands in its place, from an author of the repository, is replaced
 * and not followed.
 *
 * @param put - `link` lets one of several win that write it at once.
 */
async function writeWhole(file: string, text: string, put: typeof rename): Promise<void> {
  const anew = path.join(path.dirname(file), `.${randomUUID()}`);
  try {
    await writeFile(anew, text, { flag: 'wx', mode: 0o600 });
    await put(anew, file);
  } finally {
    await rm(anew, { force: true });
  }
}

function initSummary(
  file: string,
  { packageManager, packages, git }: DetectedProject,
  { checks = [], setup, repository }: ProjectConfigInput,
  { io }: Session,
): readonly Line[] {
  return [
    { style: 'bold', text: `wrote ${path.relative(io.cwd, file)}` },
    `git:      ${repository === false ? 'not used: runs start with an empty folder' : gitFound(git)}`,
    `packages: ${packages.length === 0 ? 'one' : packages.join(', ')}${packageManager === null ? '' : ` (${packageManager})`}`,
    `setup:    ${(Array.isArray(setup) ? setup : setup?.argv)?.join(' ') ?? 'nothing to install'}`,
    ...(checks.length === 0
      ? ['checks:   none found; add your test command under "checks", or use devs run --check']
      : checks.map(({ name, argv }) => `check:    ${name}: ${argv.join(' ')}`)),
  ];
}

function gitFound({ isRepository, hasCommit }: DetectedProject['git']): string {
  if (!isRepository) return 'no: runs start with an empty folder';
  return hasCommit
    ? 'yes: runs start from the checked-out commit'
    : 'yes, without a commit: runs start with an empty folder until you commit (git add --all && git commit)';
}

/** Names, without values, that setup gets by default. */
function networkLines(
  { setup }: ProjectConfigInput,
  { variables, files }: Awaited<ReturnType<typeof findNetworkSettings>>,
): readonly string[] {
  if (setup === undefined) return [];
  const named = [...variables, ...files.map((file) => `~/${file}`)];
  return [
    `network:  setup gets your proxy, certificate and registry settings: ${named.length === 0 ? 'none are set' : named.join(', ')}`,
    'kept:     downloads of setup, in .devs/downloads, for all runs of this project',
  ];
}
