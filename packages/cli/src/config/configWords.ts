import type { ProjectConfig } from './ProjectConfig.ts';

/** What a configuration makes `devs` do on this machine, a line each; defaults are said like everything else. */
export function configWords(config: ProjectConfig): readonly string[] {
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
    `sandbox:  ${sandboxWords(sandbox)}`,
    `setup:    ${setup === undefined ? 'nothing' : setupWords(setup)}`,
    ...(checks.length === 0 ? ['check:    npm test'] : checks.map(checkWords)),
    ...triedWords(agentChecks),
    ...(caches.length === 0 ? [] : [`kept:     between checks, ${argvWords(caches)}`]),
    `agents:   ${[agents ?? 'from --agents', ...perStage].join('; ')}`,
    `starts:   ${beginsWords(repository)}`,
    ...credentialsWords(git),
    `research: ${research ? 'before the design' : 'none'}`,
    `secrets:  ${secretsWords(secrets?.mask)}`,
    `budget:   ${budget === undefined ? 'none' : JSON.stringify(budget)}`,
    ...(limits === undefined ? [] : [`limits:   ${JSON.stringify(limits)}`]),
  ];
}

function beginsWords(repository: ProjectConfig['repository']): string {
  if (typeof repository === 'string')
    return `from the newest commit of ${repository}; its branch is pushed there`;
  return repository ? 'from the checked-out commit, if this is a repository' : 'with an empty folder';
}

const credentialsWords = (git: ProjectConfig['git']): readonly string[] =>
  git?.credentials === true ? ['git:      uses your credential helpers, askpass and ssh command'] : [];

const secretsWords = (mask: 'precise' | 'broad' = 'precise'): string =>
  `masked in the state by their format${mask === 'broad' ? ' and by the name next to them' : ''}`;

const whoIs = (gate: 'human' | 'auto'): string =>
  gate === 'human' ? 'asks a person' : 'is approved by policy without asking';

function sandboxWords(sandbox: ProjectConfig['sandbox']): string {
  if (sandbox === 'none') return 'none, commands have your full access';
  return typeof sandbox === 'string' ? sandbox : `your own program: ${argvWords(sandbox)}`;
}

function setupWords(setup: NonNullable<ProjectConfig['setup']>): string {
  if (Array.isArray(setup)) return argvWords(setup);
  return `${argvWords(setup.argv)}, repeated when these change: ${argvWords(setup.inputs)}`;
}

function checkWords({ name, dir, argv, timeoutMs }: ProjectConfig['checks'][number]): string {
  const where = dir === '.' ? '' : ` in ${JSON.stringify(dir)}`;
  return `check:    ${JSON.stringify(name)}${where}, up to ${timeoutMs / 1000} s: ${argvWords(argv)}`;
}

function triedWords(most: number | undefined): readonly string[] {
  if (most === undefined) return [];
  const times = most === 1 ? 'at most once per call' : `at most ${most} times per call`;
  return [most === 0 ? 'edits:    not checked by models' : `edits:    checked by models ${times}`];
}

/** Every word apart, and on one line: what looks like two words, or like a line of ours, must not be one word. */
function argvWords(argv: readonly string[]): string {
  return argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(' ');
}
