import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { pullRequestPlace, pushPlace, standingOf } from '../src/github/pullRequest.ts';
import { callMain } from './support/callMain.ts';
import { FakeGitHub } from './support/FakeGitHub.ts';
import { RUN_SUM } from './support/fixtures.ts';
import { GitServer } from './support/GitServer.ts';
import { startBin } from './support/startBin.ts';

const home = mkdtempSync(join(tmpdir(), 'devs-pr-'));
const made = join(home, 'made');
let [dir, remote] = ['', ''];
let github: FakeGitHub;

const BRANCH = 'devs/sum';
const REQUEST = { number: 7, url: 'https://github.com/acme/app/pull/7', state: 'OPEN' };
const REPOSITORY = {
  nameWithOwner: 'acme/app',
  isArchived: false,
  isFork: false,
  parent: null,
  defaultBranchRef: { name: 'main' },
  viewerPermission: 'WRITE',
};

const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: 'pipe',
  });

/** A repository of a user with a run that has ended; made once and copied. */
beforeAll(async () => {
  mkdirSync(made);
  git(made, 'init', '-q', '-b', 'main');
  writeFileSync(join(made, 'notes.txt'), 'mine\n');
  git(made, 'add', '.');
  git(made, 'commit', '-q', '-m', 'First');
  const { exitCode, stderr } = await callMain(made, [...RUN_SUM, '--yes', '--metadata', 'issue=acme/app#12']);
  if (exitCode !== 0) throw new Error(stderr);
});
afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }));

beforeEach(() => {
  const place = mkdtempSync(join(home, 'test-'));
  [dir, remote] = [join(place, 'app'), join(place, 'remote.git')];
  cpSync(made, dir, { recursive: true, verbatimSymlinks: true });
  git(place, 'init', '-q', '--bare', remote);
  git(dir, 'remote', 'add', 'origin', '../remote.git');
  github = new FakeGitHub(join(place, 'github'));
  github.answers('repo-view', REPOSITORY);
  github.answers('pr-list', []);
  github.listsAfter('pr-create', [REQUEST]);
  github.answers('pr-create', REQUEST.url);
  github.answers('api', {});
});

const pr = (...flags: readonly string[]) =>
  callMain(dir, ['pr', 'sum', '--repo', 'acme/app', ...flags], { env: github.env });
const pushed = (): string => git(remote, 'for-each-ref', '--format=%(refname)').trim();
const tip = (): string => git(dir, 'rev-parse', BRANCH).trim();
const verbs = (): readonly string[] => github.calls.map(([first, second]) => `${first} ${second}`);
const changes = (): readonly string[] => verbs().filter((verb) => /create|api/.test(verb));

describe('devs pr', () => {
  test('pushes the branch and opens a request with the review, only when asked, and then updates it', async () => {
    const plan = await pr('--dry-run', '--draft', '--base', 'next');
    expect(plan, plan.stderr).toMatchObject({ exitCode: 0, stderr: '' });
    expect(plan.stdout).toContain('Passed');
    expect(plan.stdout).toMatch(/^git push file:\/\/\S+remote\.git [0-9a-f]{40}:refs\/heads\/devs\/sum$/m);
    expect(plan.stdout).toMatch(
      /^gh pr create --repo acme\/app --head devs\/sum --base next --title Sum .*--draft$/m,
    );
    expect([pushed(), changes()]).toEqual(['', []]);

    const opened = await pr('--draft', '--json');
    expect(opened, opened.stderr).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(opened.stdout)).toEqual({
      ...{ id: 'sum', run: 'sum', repository: 'acme/app', branch: BRANCH, commit: tip(), base: 'main' },
      pullRequest: { number: 7, url: REQUEST.url, state: 'opened' },
    });
    expect(git(remote, 'rev-parse', BRANCH).trim()).toBe(tip());
    expect(github.calls.at(-1)).toEqual([
      ...['pr', 'create', '--repo', 'acme/app', '--head', BRANCH, '--base', 'main'],
      ...['--title', 'Sum', '--body-file', '-', '--draft'],
    ]);
    const body = github.stdin('pr-create');
    expect(body).toMatch(/^<!-- devs run sum -->\nMade by the devs run `sum`, which is \*\*completed\*\*/);
    expect(body).toContain('\nCloses acme/app#12\n');
    expect(body).toContain('**T1 Add two numbers** (completed, ');
    expect(body).toContain('- sum(2, 3) is 5: ');
    expect(body).toContain('gate approved: design, by policy:');

    const theirs = { ...REQUEST, body: `Please read.\r\n\r\n${body}\r\nThanks.` };
    github.answers('pr-list', [theirs]);
    const again = await pr('--draft');
    expect(again).toMatchObject({ exitCode: 0, stdout: `pull request updated: ${REQUEST.url}\n` });
    expect(again.stderr).toContain('--draft was ignored');
    expect(github.calls.at(-1)).toEqual([
      'api',
      '--method',
      'PATCH',
      'repos/acme/app/pulls/7',
      '--field',
      'body=@-',
    ]);
    expect(github.stdin('api')).toBe(theirs.body);
    expect(changes()).toEqual(['pr create', 'api --method']);
  });

  test('makes one request although it was killed between push and request', async () => {
    github.kills('pr-create');
    const killed = startBin(dir, ['pr', 'sum', '--repo', 'acme/app'], github.env);
    expect(await killed.ended).toMatchObject({ exitCode: null, stdout: '' });
    expect(pushed()).toBe(`refs/heads/${BRANCH}`);
    expect((await pr()).stdout).toContain('opened');
    expect((await pr()).stdout).toContain('updated');
    expect(changes()).toEqual(['pr create', 'pr create', 'api --method']);
  });

  test('finds the request of a process that was faster', async () => {
    github.fails('pr-create', 'a pull request for branch "devs/sum" into branch "main" already exists');
    expect(await pr()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('updated') });
  });

  const cases: readonly (readonly [string, () => void, number, RegExp])[] = [
    ['without a login', () => github.fails('repo-view', 'please run: gh auth login', 4), 1, /not logged in/],
    [
      'without the right to push',
      () => github.answers('repo-view', { ...REPOSITORY, viewerPermission: 'READ' }),
      ...([1, /may not push to acme\/app.*\n.*gh repo fork/] as const),
    ],
    ['to an archive', () => github.answers('repo-view', { ...REPOSITORY, isArchived: true }), 1, /archived/],
    [
      'without a remote',
      () => void git(dir, 'remote', 'remove', 'origin'),
      2,
      /no remote "origin".*\n.*git remote add/,
    ],
    [
      'when a person closed the request',
      () => github.answers('pr-list', [{ ...REQUEST, state: 'CLOSED' }]),
      ...([1, /was closed.*\n.*gh pr reopen 7 --repo acme\/app/] as const),
    ],
    [
      'over commits of somebody else',
      () => {
        git(dir, 'push', '-q', 'origin', `main:refs/heads/${BRANCH}`);
        git(remote, 'update-ref', `refs/heads/${BRANCH}`, foreignCommit());
      },
      ...([1, /has commits that are not those of the run/] as const),
    ],
  ];
  const foreignCommit = (): string =>
    git(remote, 'commit-tree', '-m', 'Theirs', git(remote, 'mktree', '--missing').trim()).trim();

  test.each(cases)('%s pushes nothing and says what helps', async (_what, arrange, exitCode, said) => {
    arrange();
    const before = git(remote, 'for-each-ref');
    expect(await pr()).toMatchObject({ exitCode, stdout: '', stderr: expect.stringMatching(said) });
    expect(git(remote, 'for-each-ref')).toBe(before);
    expect(changes()).toEqual([]);
  });

  test('without gh, without a name of the repository, or without such a run pushes nothing', async () => {
    const without = await callMain(dir, ['pr', 'sum', '--repo', 'acme/app'], { env: { PATH: '/nowhere' } });
    expect(without).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('gh, is not installed') });
    const unnamed = await callMain(dir, ['pr', 'sum'], { env: github.env });
    expect(unnamed).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--repo owner/repo') });
    const unknown = await callMain(dir, ['pr', 'nothing'], { env: github.env });
    expect(unknown).toMatchObject({ exitCode: 4 });
    for (const wrong of ['-x/y', 'acme', 'a/b/c/d'])
      expect(await pr('--repo', wrong)).toMatchObject({ exitCode: 2 });
    expect([pushed(), github.calls]).toEqual(['', []]);
  });

  test('leaves a merged request as it is, and opens another one for newer commits', async () => {
    github.answers('pr-list', [{ ...REQUEST, state: 'MERGED', headRefOid: tip() }]);
    expect((await pr()).stdout).toContain('already merged, nothing was pushed');
    expect([pushed(), changes()]).toEqual(['', []]);
    github.answers('pr-list', [{ ...REQUEST, state: 'MERGED', headRefOid: 'f'.repeat(40) }]);
    expect((await pr()).stdout).toContain('opened');
  });

  test('is opened from a fork at its parent, and knows the branch of another fork by its owner', async () => {
    const parent = { name: 'app', owner: { login: 'acme' } };
    github.answers('repo-view-mona-app', { ...REPOSITORY, nameWithOwner: 'mona/app', isFork: true, parent });
    const session = { io: { env: github.env, cwd: dir } };
    const push = pushPlace(new Map([['fork', 'git@github.com:mona/app.git']]), undefined);
    const place = await pullRequestPlace(push, BRANCH, {}, session);
    expect(place).toEqual({
      repository: 'acme/app',
      base: 'main',
      headOwner: 'mona',
      head: `mona:${BRANCH}`,
    });
    github.answers('pr-list', [{ ...REQUEST, headRepositoryOwner: { login: 'hubot' } }]);
    expect(await standingOf(place, { branch: BRANCH, commit: 'c' }, session)).toEqual({ is: 'none' });
    github.answers('pr-list', [{ ...REQUEST, headRepositoryOwner: { login: 'Mona' } }]);
    expect(await standingOf(place, { branch: BRANCH, commit: 'c' }, session)).toMatchObject({ is: 'open' });
    const own = await pullRequestPlace(push, BRANCH, { repo: 'mona/app', base: 'next' }, session);
    expect(own).toMatchObject({ repository: 'mona/app', base: 'next', head: BRANCH });
  });
});

describe('devs pr over HTTPS', () => {
  const TOKEN = 'gho_9fKq2LmZx7Rw4TbVn8YcPd3HsJ6aEu5gW1iQ';

  /** Every file below a folder, in one text. */
  const textOf = (folder: string): string =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
      .join('\n');

  /** A bare repository behind a server that wants the token. */
  async function overHttps(): Promise<GitServer> {
    const place = join(dir, '..');
    mkdirSync(join(place, 'https', 'acme'), { recursive: true });
    mkdirSync(join(place, 'certificate'));
    remote = join(place, 'https', 'acme', 'app.git');
    git(place, 'init', '-q', '--bare', remote);
    const server = await GitServer.start(join(place, 'certificate'), join(place, 'https'), TOKEN);
    onTestFinished(() => server.stop());
    git(dir, 'remote', 'set-url', 'origin', `${server.url}/acme/app.git`);
    return server;
  }

  const push = (server: GitServer) =>
    startBin(dir, ['pr', 'sum', '--json'], { ...github.env, GIT_SSL_CAINFO: server.ca }).ended;

  test('pushes with the login of gh, which is nowhere afterwards', async () => {
    const server = await overHttps();
    github.loggedInWith(TOKEN);
    github.recordGit();
    const { exitCode, stdout, stderr } = await push(server);
    expect(exitCode, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      repository: 'localhost/acme/app',
      pullRequest: { state: 'opened' },
    });
    expect(git(remote, 'rev-parse', BRANCH).trim()).toBe(tip());
    expect(verbs()).toContain('auth git-credential');
    expect(server.authorizations.at(-1)).toMatch(/^Basic /);
    const log = await callMain(dir, ['log', 'sum', '--json']);
    const commands = JSON.stringify([github.calls, github.gitCalls]);
    expect(commands).toMatch(/"push",.*https:\/\/localhost:/);
    const said = [stdout, stderr, log.stdout, commands, github.stdin('pr-create'), textOf(dir)];
    for (const secret of [TOKEN, Buffer.from(`x-access-token:${TOKEN}`).toString('base64')])
      expect(said.filter((text) => text.includes(secret))).toEqual([]);
  });

  test.each([
    ['that the server refuses', () => github.loggedInWith('gho_anotherToken')],
    ['for another host alone', () => github.fails('auth', 'not logged in to localhost')],
  ])('with a login %s pushes nothing and says what helps', async (_what, arrange) => {
    const server = await overHttps();
    arrange();
    const { exitCode, stdout, stderr } = await push(server);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'GITHUB_FAILED', remedy: expect.stringContaining('gh auth login --hostname localhost') },
    });
    expect(stderr).not.toContain('gho_anotherToken');
    expect([pushed(), changes()]).toEqual(['', []]);
  });
});
