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
    `review:   ${review === 'none' ? 'the code is shown to nobody' : `the code of every ${review} is shown`}`,
    `sandbox:  ${sandboxWords(sandbox)}`,
    `setup:    ${setup === undefined ? 'nothing' : setupWords(setup)}`,
    ...(checks.length === 0 ? ['check:    npm test'] : checks.map(checkWords)),
    ...triedWords(agentChecks),
    ...(caches.length === 0 ? [] : [`kept:     from one check to the next, ${argvWords(caches)}`]),
    `agents:   ${[agents ?? 'those of --agents', ...perStage].join('; ')}`,
    `begins:   ${beginsWords(repository)}`,
    ...credentialsWords(git),
    `research: ${research ? 'before the design' : 'none'}`,
    `secrets:  ${secretsWords(secrets?.mask)}`,
    `budget:   ${budget === undefined ? 'none' : JSON.stringify(budget)}`,
    ...(limits === undefined ? [] : [`limits:   ${JSON.stringify(limits)}`]),
  ];
}

function beginsWords(repository: ProjectConfig['repository']): string {
  if (typeof repository === 'string')
    return `at the newest commit of ${repository}, and its branch is pushed there`;
  return repository ? 'at the commit that is checked out, where this is a repository' : 'empty';
}

const credentialsWords = (git: ProjectConfig['git']): readonly string[] =>
  git?.credentials === true ? ['git:      starts your credential helpers, askpass and ssh command'] : [];

const secretsWords = (mask: 'precise' | 'broad' = 'precise'): string =>
  `masked in the state by their own form${mask === 'broad' ? ', and by a name beside them' : ''}`;

const whoIs = (gate: 'human' | 'auto'): string =>
  gate === 'human' ? 'asks a human' : 'is approved by policy, nobody is asked';

function sandboxWords(sandbox: ProjectConfig['sandbox']): string {
  if (sandbox === 'none') return 'none, commands can read and write what you can';
  return typeof sandbox === 'string' ? sandbox : `a program of its own: ${argvWords(sandbox)}`;
}

function setupWords(setup: NonNullable<ProjectConfig['setup']>): string {
  if (Array.isArray(setup)) return argvWords(setup);
  return `${argvWords(setup.argv)}, again when these change: ${argvWords(setup.inputs)}`;
}

function checkWords({ name, dir, argv, timeoutMs }: ProjectConfig['checks'][number]): string {
  const where = dir === '.' ? '' : ` in ${JSON.stringify(dir)}`;
  return `check:    ${JSON.stringify(name)}${where}, up to ${timeoutMs / 1000} s: ${argvWords(argv)}`;
}

function triedWords(most: number | undefined): readonly string[] {
  if (most === undefined) return [];
  const times = most === 1 ? 'at most once in a call' : `at most ${most} times in a call`;
  return [`tried:    by models on their edits, ${most === 0 ? 'never' : times}`];
}

/** Every word apart, and on one line: what looks like two words, or like a line of ours, must not be one word. */
function argvWords(argv: readonly string[]): string {
  return argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(' ');
}
