import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { ChatRequest, Reply } from '../../../../core/test/support/ChatServer.ts';
import { detectProject } from '../../../src/init/detectProject.ts';
import { certifiedRegistry } from './certifiedRegistry.ts';
import type { Found, Situation } from './Situation.ts';

const manifest = (more: object): string =>
  `${JSON.stringify({ name: 'words', version: '1.0.0', private: true, type: 'module', scripts: { test: 'node --test' }, ...more }, null, 2)}\n`;

/** A test of the repository that asks for something of its surroundings. */
const testThat = (name: string, lines: readonly string[]): Readonly<Record<string, string>> => ({
  [`test/${name}.test.js`]: [
    "import assert from 'node:assert/strict';",
    "import { readFileSync } from 'node:fs';",
    "import { test } from 'node:test';",
    '',
    ...lines,
    '',
  ].join('\n'),
});

const TOOL = 'trial-tool';

const caRegistry: Situation = {
  name: 'ca-registry',
  what: 'packages come from a registry that only the certificate in ~/.npmrc makes trusted',
  transport: 'http',
  files: {
    'package.json': manifest({ dependencies: { [TOOL]: '1.0.0' } }),
    ...testThat('tool', [
      `const { default: tool } = await import('${TOOL}');`,
      "test('uses what was installed', () => assert.equal(tool, 'fetched'));",
      'void readFileSync;',
    ]),
  },
  arrange: async ({ dir, home }) => {
    const own = join(dir, 'registry');
    mkdirSync(own);
    const registry = await certifiedRegistry(own, { name: TOOL, source: "module.exports = 'fetched';\n" });
    writeFileSync(join(home, '.npmrc'), `registry=${registry.url}\ncafile=${registry.ca}\n`);
    return {
      config: { setup: ['npm', 'install', '--no-audit', '--no-fund'] },
      judged: { HOME: home },
      broken: () => (registry.fetched() > 0 ? [] : ['the registry was not asked']),
      stop: registry.stop,
    };
  },
};

const SECRET = 'a-word-that-nobody-records';
const DATABASE = `postgres://trial:${SECRET}@127.0.0.1/trial`;

const dotEnv: Situation = {
  name: 'dot-env',
  what: 'the checks need a variable of a .env that git ignores',
  transport: 'http',
  ignored: ['.env'],
  files: testThat('database', [
    `test('knows its database', () => assert.equal(process.env.DATABASE_URL?.length, ${DATABASE.length}));`,
    'void readFileSync;',
  ]),
  arrange: ({ user }) => {
    user.write('.env', `DATABASE_URL=${DATABASE}\n`);
    return { check: { envFile: '.env' }, judged: { DATABASE_URL: DATABASE }, broken: recordedIn };
  },
};

/** Where a value of the environment stands that has no business there. */
function recordedIn({ root, typed, git, branch }: Found): readonly string[] {
  const devs = join(root, '.devs');
  const files = readdirSync(devs).filter((name) => name.startsWith('state.sqlite'));
  const said = typed.filter(({ stdout, stderr }) => `${stdout}${stderr}`.includes(SECRET));
  return [
    ...files
      .filter((name) => readFileSync(join(devs, name)).includes(SECRET))
      .map((name) => `${name} has a value of .env`),
    ...said.map(({ words }) => `devs ${words[0]} prints a value of .env`),
    ...(git('log', '-p', branch).includes(SECRET) ? ['a commit has a value of .env'] : []),
  ];
}

const windows = (content: string): string => content.replaceAll(/\r?\n/g, '\r\n');
const CODE = 'src/words.js';

const crlf: Situation = {
  name: 'crlf',
  what: 'files have Windows line ends; the agent replaces passages of several lines',
  transport: 'http',
  save: windows,
  arrange: () => ({
    hosting: { replacesPassages: true },
    broken: ({ git, branch }) => {
      const text = git('show', `${branch}:${CODE}`);
      const [, deleted = ''] = git('diff', '--numstat', 'main', branch, '--', CODE).split('\t');
      return [
        ...(/(?<!\r)\n./.test(text) ? [`${CODE} has lost its line ends`] : []),
        ...(deleted === '0' ? [] : [`${CODE} has ${deleted} lines fewer`]),
      ];
    },
  }),
};

const ASSET = 'assets/logo.bin';
const CONTENT = 'the content of the logo\n';
const OID = createHash('sha256').update(CONTENT).digest('hex');
const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${OID}\nsize ${CONTENT.length}\n`;

const lfs: Situation = {
  name: 'lfs',
  what: 'a test reads a file of Git LFS, of which git stores a pointer; setup puts the content in its place',
  transport: 'http',
  stored: { [ASSET]: POINTER },
  files: {
    '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
    ...testThat('logo', [
      `test('has a logo', () => assert.equal(readFileSync('${ASSET}', 'utf8'), ${JSON.stringify(CONTENT)}));`,
    ]),
  },
  // In the place of git-lfs: a filter that stores the pointer.
  beforeCommit: (user, dir) => {
    writeFileSync(join(dir, 'clean.sh'), `cat > /dev/null\ncat '${join(dir, 'pointer')}'\n`);
    writeFileSync(join(dir, 'pointer'), POINTER);
    user.git('config', 'filter.lfs.clean', `sh '${join(dir, 'clean.sh')}'`);
    user.write(ASSET, CONTENT);
  },
  arrange: ({ dir }) => {
    const script = join(dir, 'fetch.sh');
    writeFileSync(join(dir, 'logo'), CONTENT);
    writeFileSync(script, `mkdir -p node_modules\ncp '${join(dir, 'logo')}' ${ASSET}\n`);
    return {
      config: { setup: ['sh', script] },
      broken: ({ git, branch }) =>
        git('show', `${branch}:${ASSET}`) === POINTER.trim() ? [] : [`${ASSET} is committed as its content`],
    };
  },
};

const BUN = `#!/bin/sh
case "$1" in
  install) mkdir -p node_modules; echo "$@" > node_modules/.installed ;;
  run) grep -q frozen node_modules/.installed && exec node --test ;;
  *) exit 9 ;;
esac
`;

const bun: Situation = {
  name: 'bun',
  what: 'a repository of Bun, configured as devs init finds it',
  transport: 'http',
  files: {
    'package.json': manifest({ scripts: { test: 'bun test' }, devDependencies: { 'bun-types': '1.2.0' } }),
    'bun.lock': '{ "lockfileVersion": 1 }\n',
  },
  // In the place of bun, which may not be installed: it installs what a lockfile says and runs scripts.
  arrange: async ({ dir, user }) => {
    const programs = join(dir, 'bun');
    mkdirSync(programs);
    writeFileSync(join(programs, 'bun'), BUN);
    chmodSync(join(programs, 'bun'), 0o755);
    const PATH = `${programs}${delimiter}${process.env['PATH']}`;
    const { config } = await detectProject(user.root);
    const { setup, checks = [] } = config;
    const found = JSON.stringify([setup, checks.map(({ argv }) => argv)]);
    const wanted = JSON.stringify([['bun', 'install', '--frozen-lockfile'], [['bun', 'run', 'test']]]);
    return {
      ...{ config: { ...(setup !== undefined && { setup }) }, checks, env: { PATH }, judged: { PATH } },
      broken: () => (found === wanted ? [] : [`devs init finds ${found}`]),
    };
  },
};

const slowSuite: Situation = {
  name: 'slow-suite',
  what: 'the tests take 150 s, more than a check may by default',
  transport: 'http',
  files: testThat('slow', [
    "test('takes its time', () => new Promise((resolve) => setTimeout(resolve, Number(process.env.SUITE_MS))));",
    'void assert;',
    'void readFileSync;',
  ]),
  arrange: ({ suiteMs }) => ({
    check: { env: { SUITE_MS: `${suiteMs}` }, timeoutMs: 60_000 + 2 * suiteMs },
    judged: { SUITE_MS: `${suiteMs}` },
  }),
};

/** As grep and JavaScript read it. */
const CONVENTIONAL = '^(feat|fix|docs|chore|test|refactor|perf)([(][a-z-]+[)])?!?: .';

const strictHooks: Situation = {
  name: 'strict-hooks',
  what: 'a commit-msg hook refuses messages that are not conventional',
  transport: 'http',
  message: 'chore: what there is',
  files: {
    '.husky/commit-msg': `grep -Eq '${CONVENTIONAL}' "$1" || { echo 'not conventional' >&2; exit 1; }\n`,
    '.commitlintrc.json': '{ "extends": ["@commitlint/config-conventional"] }\n',
  },
  arrange: () => ({
    config: { git: { hooks: true } },
    broken: ({ git, branch }) =>
      git('log', '--format=%s', `main..${branch}`)
        .split('\n')
        .filter((subject) => !new RegExp(CONVENTIONAL).test(subject))
        .map((subject) => `"${subject}" is not conventional`),
  }),
};

/** Of so many requests in a row, the first two are refused. */
const STORM = 6;
const REFUSED: Reply = { kind: 'status', status: 429, message: 'Too many requests.' };

const rateLimits: Situation = {
  name: 'rate-limits',
  what: 'the provider refuses two of six requests with 429, and names no time',
  transport: 'http',
  arrange: () => {
    let asked = 0;
    return { hosting: { refuses: () => (asked++ % STORM < 2 ? REFUSED : null) } };
  },
};

/** Characters that the model takes. */
const CONTEXT = 40_000;
const LARGE = 'src/table.js';
const row = (_: unknown, at: number): string => `export const row${at} = '${'x'.repeat(40)}';`;

const smallContext: Situation = {
  name: 'small-context',
  what: 'a file that the agent reads does not fit into the context of its model',
  transport: 'http',
  files: { [LARGE]: `${Array.from({ length: 800 }, row).join('\n')}\n` },
  reads: LARGE,
  arrange: () => {
    let overflows = 0;
    return {
      hosting: {
        refuses: ({ messages }: ChatRequest) => {
          if (JSON.stringify(messages).length <= CONTEXT) return null;
          overflows += 1;
          return {
            kind: 'status',
            status: 400,
            message: `This model's maximum context length is ${CONTEXT} characters.`,
          };
        },
      },
      broken: () => (overflows > 0 ? [] : ['the context was never too small']),
    };
  },
};

const silentCli: Situation = {
  name: 'silent-cli',
  what: 'a coding CLI that reports neither tokens nor cost, first with a limit of tokens',
  transport: 'command',
  refused: {
    flags: ['--budget-tokens', '1000'],
    words: /CONFIG_INVALID: The limit in tokens would never be reached: .* does not report its tokens/,
  },
  arrange: () => ({
    broken: ({ status }) => [
      ...(/ unknown$/m.test(status) ? [] : ['status does not say that the cost is unknown']),
      ...(status.includes('$0.00') ? ['status says $0.00'] : []),
    ],
  }),
};

/** What is tried beside agents with vices, each in one repository. */
export const SITUATIONS: readonly Situation[] = [
  caRegistry,
  dotEnv,
  crlf,
  lfs,
  bun,
  slowSuite,
  strictHooks,
  rateLimits,
  smallContext,
  silentCli,
];

export const situationOf = (name: string): Situation | undefined =>
  SITUATIONS.find((situation) => situation.name === name);
