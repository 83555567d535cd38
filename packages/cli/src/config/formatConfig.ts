import type { ProjectConfig } from './ProjectConfig.ts';

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
    `review:   ${review === 'none' ? 'none' : `after every ${review}`}`,
    `sandbox:  ${formatSandbox(sandbox)}`,
    `setup:    ${setup === undefined ? 'nothing' : formatSetup(setup)}`,
    ...(checks.length === 0 ? ['check:    npm test'] : checks.map(formatCheck)),
    ...formatStrategies(agentChecks),
    ...(caches.length === 0 ? [] : [`kept:     between checks, ${formatArgv(caches)}`]),
    `agents:   ${[agents ?? 'from --agents', ...perStage].join('; ')}`,
    `starts:   ${formatRepository(repository)}`,
    ...formatCredentials(git),
    `research: ${research ? 'before the design' : 'none'}`,
    `secrets:  ${formatSecretsMode(secrets?.mask)}`,
    `budget:   ${budget === undefined ? 'none' : JSON.stringify(budget)}`,
    ...(limits === undefined ? [] : [`limits:   ${JSON.stringify(limits)}`]),
  ];
}

function formatRepository(repository: ProjectConfig['repository']): string {
  if (typeof repository === 'string')
    return `from the newest commit of ${repository}; its branch is pushed there`;
  return repository ? 'from the checked-out commit, if this is a repository' : 'with an empty folder';
}

const formatCredentials = (git: ProjectConfig['git']): readonly string[] =>
  git?.credentials === true ? ['git:      uses your credential helpers, askpass and ssh command'] : [];

const formatSecretsMode = (mask: 'precise' | 'broad' = 'precise'): string =>
  `masked in the state by their format${mask === 'broad' ? ' and by the name next to them' : ''}`;

const whoIs = (gate: 'human' | 'auto'): string =>
  gate === 'human' ? 'asks a person' : 'is approved by policy without asking';

function formatSandbox(sandbox: ProjectConfig['sandbox']): string {
  if (sandbox === 'none') return 'none, commands have your full access';
  return typeof sandbox === 'string' ? sandbox : `your own program: ${formatArgv(sandbox)}`;
}

function formatSetup(setup: NonNullable<ProjectConfig['setup']>): string {
  if (Array.isArray(setup)) return formatArgv(setup);
  return `${formatArgv(setup.argv)}, repeated when these change: ${formatArgv(setup.inputs)}`;
}

function formatCheck({ name, dir, argv, timeoutMs }: ProjectConfig['checks'][number]): string {
  const where = dir === '.' ? '' : ` in ${JSON.stringify(dir)}`;
  return `check:    ${JSON.stringify(name)}${where}, up to ${timeoutMs / 1000} s: ${formatArgv(argv)}`;
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
