import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { hideFromStatus } from '@devs/agents/internal';
import type { Command } from 'commander';
import { configPath } from '../config/configFile.ts';
import { configSchemaText, type ProjectConfigInput } from '../config/ProjectConfig.ts';
import { sha256Of } from '../config/readConfig.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { type DetectedProject, detectProject } from '../init/detectProject.ts';
import { rememberOrSay } from '../project/acceptedConfig.ts';
import { examples, type Session, type Start } from '../project/Session.ts';
import type { Line } from '../terminal/Line.ts';
import { usageError } from '../usageError.ts';

interface InitOptions {
  readonly agents?: string;
  readonly force?: boolean;
}

export function addInit(program: Command, start: Start): void {
  program
    .command('init')
    .description('inspect the project and write .devs/config.json: checks, setup, agents')
    .option('--agents <agents>', 'the agents, as in devs run --agents')
    .option('--force', 'replace an existing configuration')
    .addHelpText('after', examples('devs init', 'devs init --agents openai:gpt-5.2', 'devs init --json'))
    .action((options: InitOptions, command: Command) => start(command, (session) => init(options, session)));
}

async function init({ agents, force = false }: InitOptions, session: Session): Promise<ExitCode> {
  const file = configPath(session.dir);
  if (existsSync(file) && !force) {
    throw usageError(`${file} already exists.`, 'Edit the file, or replace it with devs init --force.');
  }
  const found = await detectProject(session.dir);
  const config: ProjectConfigInput = { ...(agents !== undefined && { agents }), ...found.config };
  const text = `${JSON.stringify({ $schema: './config.schema.json', ...config }, null, 2)}\n`;
  await writeConfig(file, text);
  await rememberOrSay({ sha256: sha256Of(text) }, session);
  session.out.result({ file, ...found, config }, initSummary(file, found, config, session));
  return EXIT.ok;
}

async function writeConfig(file: string, text: string): Promise<void> {
  const folder = path.dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await hideFromStatus(folder);
  await writeAnew(path.join(folder, 'config.schema.json'), configSchemaText());
  await writeAnew(file, text);
}

/** A link that stands there, from whoever wrote the repository, is replaced and not followed. */
async function writeAnew(file: string, text: string): Promise<void> {
  await rm(file, { force: true });
  await writeFile(file, text, { flag: 'wx', mode: 0o600 });
}

function initSummary(
  file: string,
  { packageManager, packages, ...git }: DetectedProject,
  { agents, checks = [], setup }: ProjectConfigInput,
  { io, devs }: Session,
): readonly Line[] {
  return [
    { style: 'bold', text: `wrote ${path.relative(io.cwd, file)}` },
    `git:      ${gitFound(git)}`,
    `packages: ${packages.length === 0 ? 'one' : packages.join(', ')}${packageManager === null ? '' : ` (${packageManager})`}`,
    `setup:    ${(Array.isArray(setup) ? setup : setup?.argv)?.join(' ') ?? 'nothing to install'}`,
    ...(checks.length === 0
      ? ['checks:   none found; add your test command under "checks", or use devs run --check']
      : checks.map(({ name, argv }) => `check:    ${name}: ${argv.join(' ')}`)),
    `next:     ${devs('run', 'brief.md', ...(agents === undefined ? ['--agents', 'openai:MODEL'] : []))}`,
  ];
}

function gitFound({
  isRepository,
  inRepository,
}: Pick<DetectedProject, 'isRepository' | 'inRepository'>): string {
  if (isRepository) return 'yes: runs start from the checked-out commit';
  if (inRepository === null) return 'no: runs start with an empty folder';
  return `this folder is inside the repository ${inRepository}: use --dir with that folder, or --no-repository to start runs with an empty folder`;
}
