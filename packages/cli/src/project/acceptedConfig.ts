import { DevsError } from '@devs/core';
import type { EnvironmentSettings } from '../config/environmentSettings.ts';
import type { ProjectConfig } from '../config/ProjectConfig.ts';
import { type ReadConfig, readConfig } from '../config/readConfig.ts';
import { shownVariable } from '../config/secretVariables.ts';
import { TrustStore } from '../config/TrustStore.ts';
import { LineReader } from '../terminal/LineReader.ts';
import { isTerminal, type Session } from './Session.ts';

export interface AcceptOptions {
  /** False where the input is something else than answers. @defaultValue true */
  readonly canAsk?: boolean;
}

/**
 * The project's configuration, once this user has accepted exactly this content: earlier, with `--trust` or `DEVS_TRUST`, or now,
 * asked at a terminal. The defaults of a project without one need no yes.
 *
 * @throws DevsError `CONFIG_NOT_TRUSTED` where it was not accepted; `CONFIG_INVALID` where it cannot be read.
 */
export async function acceptedConfig(
  session: Session,
  { canAsk = true }: AcceptOptions = {},
): Promise<ProjectConfig> {
  const read = await readConfig(session.dir);
  if (isAccepted(read, session.trusted)) return read.config;
  if (isAccepted(read, (await TrustStore.of(session.io.env)?.acceptedIn(session.dir)) ?? []))
    return read.config;
  if (!canAsk || !isTerminal(session)) session.out.note(formatAcceptedConfig(read).join('\n'));
  else if (await confirm(read, session)) {
    await rememberOrSay(read, session);
    return read.config;
  }
  throw notTrusted(read, session);
}

const isAccepted = ({ sha256 }: ReadConfig, accepted: readonly string[]): boolean =>
  sha256 === null || accepted.includes(sha256);

/** Shows what a configuration does, and asks; anything but a yes is a no. */
export async function confirm(read: ReadConfig, session: Session): Promise<boolean> {
  session.out.print(...formatAcceptedConfig(read));
  return askYes('accept this configuration (yes or no): ', session);
}

/** Asks until somebody says yes or no; the end of the input is a no. */
export async function askYes(question: string, session: Session): Promise<boolean> {
  const reader = new LineReader(session.io);
  try {
    for (;;) {
      session.out.ask(question);
      const said = (await reader.next())?.toLowerCase() ?? 'no';
      if (said === 'yes' || said === 'no') return said === 'yes';
    }
  } finally {
    reader.close();
  }
}

export const formatAcceptedConfig = ({ file, sha256, config }: ReadConfig): readonly string[] => [
  `${file} runs commands on this machine, and you have not accepted it yet:`,
  ...formatConfig(config).map((line) => `  ${line}`),
  `  sha256:   ${sha256}`,
];

/** What was accepted holds for this command also where it cannot be kept. */
export async function rememberOrSay({ sha256 }: Pick<ReadConfig, 'sha256'>, session: Session): Promise<void> {
  const store = TrustStore.of(session.io.env);
  if (sha256 === null) return;
  try {
    if (store !== null) return await store.accept(session.dir, sha256);
    session.out.note(`not stored, HOME is not set: the next command needs --trust ${sha256}`);
  } catch (error) {
    session.out.note(`not stored: ${(error as Error).message}; the next command needs --trust ${sha256}`);
  }
}

export function notTrusted({ file, sha256 }: ReadConfig, { devs }: Session): DevsError {
  return new DevsError(`${file} is not accepted: it runs commands on this machine.`, {
    code: 'CONFIG_NOT_TRUSTED',
    remedy: `Read it, then accept it with ${devs('trust', sha256 ?? '')}, or for one command with --trust ${sha256} or DEVS_TRUST=${sha256}.`,
  });
}

/** What a configuration makes `devs` do on this machine, a line each; defaults are said like everything else. */
export function formatConfig(config: ProjectConfig): readonly string[] {
  const {
    gates,
    review,
    sandbox,
    setup,
    caches = [],
    checks,
    agentChecks,
    agents,
    stages = {},
    agentEnv = {},
    agentReports,
    repository,
    git,
    research,
    secrets,
    budget,
    limits,
  } = config;
  const perStage = Object.entries(stages).map(([stage, name]) => `${stage}: ${name}`);
  return [
    `gates:    design ${whoIs(gates.design)}, plan ${whoIs(gates.dag)}, code ${whoIs(gates.review)}`,
    `review:   ${formatReview(review)}`,
    `sandbox:  ${formatSandbox(sandbox)}`,
    ...(setup === undefined ? ['setup:    nothing'] : formatSetup(setup)),
    ...(checks.length === 0 ? ['check:    npm test'] : checks.flatMap(formatCheck)),
    ...formatStrategies(agentChecks),
    ...(caches.length === 0 ? [] : [`kept:     between checks, ${formatArgv(caches)}`]),
    `agents:   ${[agents ?? 'from --agents', ...perStage].join('; ')}`,
    ...Object.entries(agentEnv).flatMap(([name, environment]) =>
      formatEnvironment(environment, `${JSON.stringify(name)} reads`),
    ),
    ...formatReports(agentReports),
    `starts:   ${formatRepository(repository)}`,
    ...formatGit(git),
    `research: ${research ? 'before the design' : 'none'}`,
    `secrets:  ${formatSecretsMode(secrets?.mask)}`,
    `budget:   ${budget === undefined ? 'none' : JSON.stringify(budget)}`,
    ...(limits === undefined ? [] : [`limits:   ${JSON.stringify(limits)}`]),
  ];
}

const formatReview = (review: ProjectConfig['review']): string =>
  review === 'none' ? 'none' : `after every ${review}`;

const formatReports = (reports: ProjectConfig['agentReports'] = {}): readonly string[] =>
  Object.entries(reports).map(
    ([name, figures]) =>
      `          ${JSON.stringify(name)} is believed to report: ${figures.join(', ') || 'nothing'}`,
  );

function formatRepository(repository: ProjectConfig['repository']): string {
  if (typeof repository === 'string')
    return `from the newest commit of ${repository}; its branch is pushed there`;
  return repository ? 'from the checked-out commit, if this is a repository' : 'with an empty folder';
}

const formatGit = (git: ProjectConfig['git']): readonly string[] => [
  ...(git?.credentials === true ? ['git:      uses your credential helpers, askpass and ssh command'] : []),
  ...(git?.sign === true ? ['git:      signs commits with the program and key of your configuration'] : []),
  ...(git?.hooks === true
    ? ['git:      runs pre-commit and commit-msg of the repository with the checks']
    : []),
];

const formatSecretsMode = (mask: 'precise' | 'broad' = 'precise'): string =>
  `masked in the state by their format${mask === 'broad' ? ' and by the name next to them' : ''}`;

const whoIs = (gate: 'human' | 'auto'): string =>
  gate === 'human' ? 'asks a person' : 'is approved by policy without asking';

function formatSandbox(sandbox: ProjectConfig['sandbox']): string {
  if (sandbox === 'none') return 'none, commands have your full access';
  return typeof sandbox === 'string' ? sandbox : `your own program: ${formatArgv(sandbox)}`;
}

function formatSetup(setup: NonNullable<ProjectConfig['setup']>): readonly string[] {
  if (Array.isArray(setup)) return [`setup:    ${formatArgv(setup)}`, NETWORK_READ, DOWNLOADS_KEPT];
  const { argv, inputs = [], network = true, ...environment } = setup;
  const again = inputs.length === 0 ? '' : `, repeated when these change: ${formatArgv(inputs)}`;
  return [
    `setup:    ${formatArgv(argv)}${again}`,
    ...(network ? [NETWORK_READ] : ['          has no network']),
    DOWNLOADS_KEPT,
    ...formatEnvironment(environment, CODE_READS),
  ];
}

function formatCheck({
  name,
  dir,
  argv,
  timeoutMs,
  network = false,
  ...environment
}: ProjectConfig['checks'][number]): readonly string[] {
  const where = dir === '.' ? '' : ` in ${JSON.stringify(dir)}`;
  return [
    `check:    ${JSON.stringify(name)}${where}, up to ${timeoutMs / 1000} s: ${formatArgv(argv)}`,
    ...(network ? [NETWORK_READ] : []),
    ...formatEnvironment(environment, CODE_READS),
  ];
}

/** The code that a command runs, of agents too, can read the whole environment of the command. */
const CODE_READS = 'code of agents reads';

const NETWORK_READ = `          ${CODE_READS}: the network; your proxy, certificate and registry settings, such as ~/.npmrc`;

const DOWNLOADS_KEPT =
  '          keeps downloads of package managers in .devs/downloads; not for files that agents have changed';

function formatEnvironment(
  { env = {}, envFile, passEnv = [] }: EnvironmentSettings,
  who: string,
): readonly string[] {
  const named = [
    ...(envFile === undefined ? [] : [`all of ${formatArgv([envFile])}`]),
    ...(passEnv.length === 0 ? [] : [`${passEnv.join(', ')} of your environment`]),
    ...Object.entries(env).map(([name, value]) => JSON.stringify(shownVariable(name, value))),
  ];
  return named.length === 0 ? [] : [`          ${who}: ${named.join('; ')}`];
}

function formatStrategies(most: number | undefined): readonly string[] {
  if (most === undefined) return [];
  const times = most === 1 ? 'at most once per call' : `at most ${most} times per call`;
  return [most === 0 ? 'edits:    not checked by models' : `edits:    checked by models ${times}`];
}

/** Every word apart, and on one line: what looks like two words, or like a line of ours, must not be one word. */
function formatArgv(argv: readonly string[]): string {
  return argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(' ');
}
