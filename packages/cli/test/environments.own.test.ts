import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { ProjectConfigInput } from '../src/config/ProjectConfig.ts';
import { callMain } from './support/callMain.ts';
import { AGENTS, BRIEF, test } from './support/fixtures.ts';
import { trusting, writeConfig } from './support/writeConfig.ts';

const SAYS =
  'echo "setting=$SETTING port=$PORT database=$DATABASE_URL token=$REGISTRY_TOKEN other=$OTHER"; exit 1';

const project = (environment: object, more: object = {}): ProjectConfigInput => ({
  agents: AGENTS,
  sandbox: 'none',
  checks: [{ name: 'env', argv: ['sh', '-c', SAYS], retries: 0, ...environment }],
  ...more,
});

const RUN = ['run', BRIEF, '--id', 'sum'];
const MINE = {
  DATABASE_URL: 'postgres://app:planted-pass-9@localhost/app',
  REGISTRY_TOKEN: 'planted-token-7f3a91',
  OTHER: 'planted-and-not-named',
  PORT: '4000',
};

/** A repository with something to check. */
function repository(dir: string): void {
  writeFileSync(join(dir, 'a.txt'), 'a\n');
  const git = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
  for (const words of [
    ['init', '-q'],
    ['add', 'a.txt'],
    ['commit', '-q', '-m', 'First'],
  ])
    execFileSync('git', [...git, ...words], { cwd: dir });
}

/** All that is kept of the runs of a folder. */
const recorded = (dir: string): string =>
  readdirSync(join(dir, '.devs'))
    .filter((name) => name.startsWith('state.sqlite'))
    .map((name) => readFileSync(join(dir, '.devs', name), 'latin1'))
    .join('');

describe('what a check is given', () => {
  test('is what its configuration names: a file, over it your environment, over both what is set', async ({
    dir,
  }) => {
    repository(dir);
    writeFileSync(join(dir, '.env'), 'SETTING=of-the-file\nPORT=3000\nDATABASE_URL=of-the-file\n');
    const named = {
      envFile: '.env',
      passEnv: ['DATABASE_URL', 'REGISTRY_TOKEN'],
      env: { SETTING: 'of-the-config' },
    };
    writeConfig(dir, project(named));
    expect((await callMain(dir, [...RUN, ...trusting(dir)], { env: MINE })).exitCode).toBe(75);
    const { stdout } = await callMain(dir, ['show', 'sum']);
    // What is a secret by name or form is masked; a number and a word are not.
    expect(stdout).toContain('setting=of-the-config port=3000 database=[REDACTED');
    expect(stdout).toMatch(/token=\[REDACTED\S* other=\n/);
    for (const secret of ['planted-pass-9', MINE.REGISTRY_TOKEN, MINE.OTHER]) {
      expect(stdout).not.toContain(secret);
      expect(recorded(dir)).not.toContain(secret);
    }
    expect(recorded(dir)).not.toContain('of-the-file');
  });

  test('is nothing where nothing is named', async ({ dir }) => {
    repository(dir);
    writeFileSync(join(dir, '.env'), 'SETTING=of-the-file\n');
    writeConfig(dir, project({}));
    await callMain(dir, [...RUN, ...trusting(dir)], { env: MINE });
    const { stdout } = await callMain(dir, ['show', 'sum']);
    expect(stdout).toContain('setting= port= database= token= other=\n');
  });

  test('is read anew when the run goes on, from a configuration that was accepted again', async ({ dir }) => {
    repository(dir);
    writeConfig(dir, project({}));
    await callMain(dir, [...RUN, ...trusting(dir)]);
    writeConfig(dir, project({ env: { SETTING: 'added' } }));
    const again = ['answer', 'sum', '--again', '--go'];
    expect((await callMain(dir, again)).stderr).toContain('CONFIG_NOT_TRUSTED');
    await callMain(dir, [...again, ...trusting(dir)]);
    expect((await callMain(dir, ['show', 'sum'])).stdout).toContain('setting=added port=');
  });

  test('and is not there is told: a variable, a file', async ({ dir }) => {
    writeConfig(dir, project({ passEnv: ['DATABASE_URL'] }));
    const { stderr } = await callMain(dir, [...RUN, ...trusting(dir)]);
    expect(stderr).toContain('"passEnv" of check "env" names what is not set here: DATABASE_URL');
    writeConfig(dir, project({ envFile: 'config/.env' }));
    const refused = await callMain(dir, ['run', BRIEF, '--id', 'other', ...trusting(dir)]);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toMatch(/CONFIG_INVALID: Cannot read .*config\/\.env, the envFile of check "env"/);
  });

  test('comes from no other place, and cannot say how programs are loaded', async ({ dir }) => {
    const outside = join(dir, 'outside');
    writeFileSync(outside, 'SECRET=1\n');
    symlinkSync(outside, join(dir, '.env'));
    const refused = async (): Promise<string> => (await callMain(dir, [...RUN, ...trusting(dir)])).stderr;
    writeConfig(dir, project({ envFile: '.env' }));
    expect(await refused()).toContain('CONFIG_INVALID: Cannot read');
    writeFileSync(join(dir, 'plain'), 'LD_PRELOAD=./evil.so\n');
    writeConfig(dir, project({ envFile: 'plain' }));
    expect(await refused()).toContain('plain sets LD_PRELOAD, which devs sets itself');
    for (const wrong of [
      { passEnv: ['PATH'] },
      { env: { LD_PRELOAD: 'x' } },
      { envFile: '../x' },
      { passEnv: ['a=b'] },
    ]) {
      writeConfig(dir, project(wrong));
      expect(await refused()).toContain('CONFIG_INVALID');
    }
  });
});

test('what code of agents may read is shown before it is accepted, secrets hidden', async ({ dir }) => {
  const named = {
    envFile: '.env',
    passEnv: ['DATABASE_URL'],
    env: { API_KEY: MINE.REGISTRY_TOKEN, PORT: '3000' },
    network: true,
  };
  const agentEnv = { claude: { passEnv: ['GITHUB_TOKEN'] } };
  writeConfig(dir, project(named, { agentEnv, setup: { argv: ['npm', 'ci'], passEnv: ['NODE_ENV'] } }));
  const { stderr } = await callMain(dir, ['trust']);
  const reads = 'code of agents reads';
  expect(stderr).toContain(`${reads}: all of .env; DATABASE_URL of your environment; "API_KEY=`);
  expect(stderr).toContain('"PORT=3000"');
  expect(stderr).not.toContain(MINE.REGISTRY_TOKEN);
  expect(stderr).toContain(`setup:    npm ci\n`);
  expect(stderr.split(`${reads}: the network; your proxy, certificate and registry settings`)).toHaveLength(
    3,
  );
  expect(stderr).toContain(`${reads}: NODE_ENV of your environment`);
  expect(stderr).toContain('"claude" reads: GITHUB_TOKEN of your environment');
});

test('agents that are no coding CLI have no environment of their own', async ({ dir }) => {
  writeConfig(dir, project({}, { agentEnv: { 'openai:gpt-5': { passEnv: ['HOME_PAGE'] } } }));
  const { stderr, exitCode } = await callMain(dir, [...RUN, ...trusting(dir)]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('"openai:gpt-5", which is no coding CLI');
});

test('a coding CLI gets what is named for it, and setup what is named for setup', async ({ dir }) => {
  const script = (file: string): string => {
    writeFileSync(join(dir, `${file}.sh`), `printf '%s' "$WORD" > ${join(dir, file)}\necho '{}'\n`);
    return join(dir, `${file}.sh`);
  };
  const agent = `command:sh ${script('agent')}`;
  const config = {
    agents: agent,
    sandbox: 'none',
    checks: [{ name: 'env', argv: ['true'] }],
    setup: { argv: ['sh', script('setup')], env: { WORD: 'setup' } },
    agentEnv: { [agent]: { env: { WORD: 'agent' } } },
  } as const;
  writeConfig(dir, config as unknown as ProjectConfigInput);
  await callMain(dir, [...RUN, ...trusting(dir), '--until', 'design']);
  expect(readFileSync(join(dir, 'setup'), 'utf8')).toBe('setup');
  expect(readFileSync(join(dir, 'agent'), 'utf8')).toBe('agent');
});
