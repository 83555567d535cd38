import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { tried } from '../../../../core/test/support/tried.ts';
import type { GitRunWorkspace } from '../GitRunWorkspace.ts';
import { GitWorkspace } from '../GitWorkspace.ts';

// Each of these lets a repository name a program that git then runs. Whoever packed the user's repository may have
// written all of it, so none may run, whatever the engine does with it.

/** `$T` is the program: it leaves a mark of the vector's name. `$R`: the repository; `$E`: the run's git dir. */
interface Vector {
  readonly config?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly hooks?: readonly string[];
}

const HOOKS = [
  'applypatch-msg',
  'commit-msg',
  'fsmonitor-watchman',
  'post-applypatch',
  'post-checkout',
  'post-commit',
  'post-index-change',
  'post-merge',
  'post-receive',
  'post-rewrite',
  'post-update',
  'pre-applypatch',
  'pre-auto-gc',
  'pre-commit',
  'pre-merge-commit',
  'pre-push',
  'pre-rebase',
  'pre-receive',
  'prepare-commit-msg',
  'proc-receive',
  'push-to-checkout',
  'reference-transaction',
  'sendemail-validate',
  'update',
] as const;

/** They leave each other alone: all are planted at once. */
const TOGETHER: Readonly<Record<string, Vector>> = {
  'alternate-refs': {
    config: '[core]\n\talternateRefsCommand = $T\n',
    files: {
      '.git/objects/info/alternates': '$R/.git/more/objects\n',
      '.git/more/objects/info/packs': '\n',
      '.git/more/refs/none': '',
    },
  },
  monitor: { config: '[core]\n\tfsmonitor = $T\n' },
  hooks: { hooks: HOOKS },
  'hooks-path': { config: '[core]\n\thooksPath = .git/hooks\n' },
  ssh: { config: '[core]\n\tsshCommand = $T\n[ssh]\n\tvariant = ssh\n' },
  proxy: { config: '[core]\n\tgitProxy = $T\n' },
  'ask-pass': { config: '[core]\n\taskPass = $T\n[credential]\n\thelper = !$T\n' },
  pager: {
    config:
      '[core]\n\tpager = $T\n[pager]\n\tfetch = $T\n\tls-tree = $T\n\trev-parse = $T\n\tvar = $T\n\tworktree = $T\n\tconfig = $T\n\tls-files = $T\n',
  },
  editor: { config: '[core]\n\teditor = $T\n[sequence]\n\teditor = $T\n' },
  'external-diff': { config: '[diff]\n\texternal = $T\n[interactive]\n\tdiffFilter = $T\n' },
  'diff-driver': {
    config: '[diff "x"]\n\tcommand = $T\n\ttextconv = $T\n\tcachetextconv = true\n',
    files: {
      '.git/info/attributes': '* diff=x merge=x filter=x\n',
      '.gitattributes': '* diff=x merge=x filter=x\n',
    },
  },
  filter: { config: '[filter "x"]\n\tclean = $T\n\tsmudge = $T\n\trequired = true\n' },
  'filter-process': { config: '[filter "y"]\n\tprocess = $T\n' },
  merge: { config: '[merge]\n\tdefault = x\n[merge "x"]\n\tdriver = $T %A\n\trecursive = binary\n' },
  signature: {
    config:
      '[log]\n\tshowSignature = true\n[commit]\n\tgpgSign = true\n[tag]\n\tgpgSign = true\n[gpg]\n\tprogram = $T\n[gpg "ssh"]\n\tprogram = $T\n\tdefaultKeyCommand = $T\n',
  },
  'pack-objects': { config: '[uploadpack]\n\tpackObjectsHook = $T\n' },
  alias: {
    config:
      '[alias]\n\tfetch = !$T\n\tupdate-ref = !$T\n\tworktree = !$T\n\tls-files = !$T\n\tmaintenance = !$T\n',
  },
  maintenance: {
    config:
      '[gc]\n\tauto = 1\n\tautoDetach = false\n\trecentObjectsHook = $T\n[maintenance]\n\tauto = true\n',
  },
  trailer: {
    config: '[trailer]\n\tifmissing = add\n[trailer "x"]\n\tkey = X\n\tcommand = $T\n\tcmd = $T\n',
  },
  submodule: {
    config:
      '[submodule]\n\trecurse = true\n[submodule "x"]\n\tactive = true\n\turl = ext::$T\n\tupdate = !$T\n',
  },
  included: {
    config: '[include]\n\tpath = more-config\n[includeIf "gitdir:/"]\n\tpath = $R/.git/more-config\n',
    files: { '.git/more-config': '[core]\n\tfsmonitor = $T\n\talternateRefsCommand = $T\n' },
  },
  remote: {
    config:
      '[remote "$E"]\n\turl = $E\n\tuploadpack = $T; git-upload-pack\n\treceivepack = $T\n\tvcs = ext\n',
    files: { '.git/remotes/origin': 'URL: ext::$T\n', '.git/branches/x': 'ext::$T\n' },
  },
  'work-tree': { config: '[core]\n\tworktree = /\n' },
  'of-a-worktree': {
    config: '[extensions]\n\tworktreeConfig = true\n',
    files: {
      '.git/config.worktree':
        '[core]\n\tfsmonitor = $T\n\talternateRefsCommand = $T\n\thooksPath = .git/hooks\n',
    },
  },
};

/** As if all of them were allowed. */
const EXT =
  '[protocol]\n\tallow = always\n[protocol "ext"]\n\tallow = always\n[protocol "file"]\n\tallow = always\n';

/** The engine may say no to these. */
const REDIRECTED: Vector = { config: `${EXT}[url "ext::$T "]\n\tinsteadOf = /\n` };
const PROMISED: Vector = {
  config: `${EXT}[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\turl = $R\n\tpromisor = true\n\tuploadpack = $T\n`,
};

let base: string;
let root: string;

const ran = (): readonly string[] => readdirSync(join(base, 'ran'));

const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
    cwd: root,
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();

/** A repository of two commits, the first of which is checked out; the other one's id. */
function aRepository(): string {
  git('init', '-q', '-b', 'main');
  writeFileSync(join(root, 'a.txt'), 'a\n');
  git('add', '.');
  git('commit', '-q', '-m', 'First');
  const first = git('rev-parse', 'HEAD');
  writeFileSync(join(root, 'b.txt'), 'b\n');
  git('add', '.');
  git('commit', '-q', '-m', 'Second');
  const second = git('rev-parse', 'HEAD');
  git('reset', '-q', '--hard', first);
  return second;
}

/** By hand: git itself would start what is planted. */
function plant(name: string, { config = '', files = {}, hooks = [] }: Vector): void {
  const program = join(base, name.replaceAll(/[^\w-]/g, '-'));
  const text = `#!/bin/sh\ntouch "${join(base, 'ran')}/$(basename "$0")"\nexit 0\n`;
  writeFileSync(program, text.replace('$(basename "$0")', name.replaceAll(/[^\w-]/g, '-')), { mode: 0o755 });
  const filled = (given: string): string =>
    given
      .replaceAll('$T', program)
      .replaceAll('$R', root)
      .replaceAll('$E', join(root, '.devs', 'git', 'run-1.git'));
  appendFileSync(join(root, '.git', 'config'), filled(config));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), filled(content));
  }
  for (const hook of hooks) {
    writeFileSync(join(root, '.git', 'hooks', hook), `#!/bin/sh\nexec '${program}'\n`, { mode: 0o755 });
  }
}

const moveHead = (commit: string): void => writeFileSync(join(root, '.git/refs/heads/main'), `${commit}\n`);

/** All that the engine does with a user's repository. */
async function useAll(second: string): Promise<void> {
  const workspace = new GitWorkspace({ dir: root, repository: root });
  await workspace.assertUsable();
  const run = (await workspace.open('run-1')) as GitRunWorkspace;
  const from = (await run.log()).at(-1)?.sha ?? null;
  await run.apply([{ path: 'c.txt', content: 'c\n' }]);
  const sha = await run.commit({ tree: await run.snapshot(), message: 'Third', stepKey: 'T1/1' });
  await run.deliver();
  await run.changes(from);
  moveHead(second);
  await run.sync([sha]);
  await run.deliver();
  const [last] = (await run.log()).toReversed();
  await workspace.diff('run-1', { from: second, to: last?.sha ?? second });
  const move = await run.withdraw({
    id: 'r1',
    commits: [last?.sha ?? sha],
    begun: [],
    unfinished: false,
    message: 'Back',
  });
  await run.follow(move);
  await run.follow(await run.reinstate({ id: 'r2', move, message: 'And again' }));
  await run.deliver();
  await run.list();
}

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'devs-vectors-')));
  root = join(base, 'repository');
  mkdirSync(join(base, 'ran'));
  mkdirSync(root);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(base, { recursive: true, force: true, maxRetries: 3 });
});

it('nothing that the repository of a user names is run, and all is done', async ({ task }) => {
  tried(task, { ways: Object.keys(TOGETHER).length });
  const second = aRepository();
  for (const [name, vector] of Object.entries(TOGETHER)) plant(name, vector);
  await useAll(second);
  expect(ran()).toEqual([]);
});

it('paths that lead to a program are not followed', async () => {
  const second = aRepository();
  plant('redirected', REDIRECTED);
  await expect(useAll(second)).rejects.toMatchObject({ code: 'WORKSPACE_FAILED' });
  expect(ran()).toEqual([]);
});

it('objects that a repository lacks are not fetched by a program that it names', async () => {
  const second = aRepository();
  const blob = git('rev-parse', 'HEAD:a.txt');
  rmSync(join(root, '.git', 'objects', blob.slice(0, 2), blob.slice(2)));
  plant('promised', PROMISED);
  await expect(useAll(second)).rejects.toMatchObject({ code: 'WORKSPACE_FAILED' });
  expect(ran()).toEqual([]);
});

it('what the environment of the engine says to git is not run', async ({ task }) => {
  const second = aRepository();
  plant('environment', {});
  const program = join(base, 'environment');
  const names = [
    ...['GIT_SSH', 'GIT_SSH_COMMAND', 'GIT_EXTERNAL_DIFF', 'GIT_PAGER', 'GIT_EDITOR', 'GIT_ASKPASS'],
    ...['GIT_SEQUENCE_EDITOR', 'GIT_PROXY_COMMAND', 'SSH_ASKPASS', 'PAGER', 'EDITOR'],
  ];
  for (const name of names) vi.stubEnv(name, program);
  const settings = { 'core.fsmonitor': program, 'core.alternateRefsCommand': program };
  tried(task, { ways: names.length + Object.keys(settings).length });
  vi.stubEnv('GIT_CONFIG_COUNT', '2');
  for (const [index, [key, value]] of Object.entries(settings).entries()) {
    vi.stubEnv(`GIT_CONFIG_KEY_${index}`, key);
    vi.stubEnv(`GIT_CONFIG_VALUE_${index}`, value);
  }
  await useAll(second);
  expect(ran()).toEqual([]);
});

it.each([
  ['alternate-refs', TOGETHER['alternate-refs'], ['fetch', '-q', '$E', 'main']],
  ['monitor', TOGETHER['monitor'], ['status']],
  ['hooks', TOGETHER['hooks'], ['update-ref', 'refs/heads/x', 'HEAD']],
  ['external-diff', TOGETHER['external-diff'], ['diff']],
  ['filter', TOGETHER['filter'], ['add', '--renormalize', '.']],
  ['editor', TOGETHER['editor'], ['commit', '--allow-empty']],
  ['signature', TOGETHER['signature'], ['commit', '--allow-empty', '-m', 'x']],
  ['redirected', REDIRECTED, ['fetch', '-q', '$E', 'main']],
  ['promised', PROMISED, ['cat-file', '-p', '1'.repeat(40)]],
])('%s would be, by git as anybody calls it', (name, vector = {}, args) => {
  aRepository();
  const engine = join(base, 'engine.git');
  execFileSync('git', ['clone', '-q', '--bare', root, engine]);
  writeFileSync(join(root, '.git', 'info', 'attributes'), '* filter=x\n');
  writeFileSync(join(root, 'a.txt'), 'changed\n');
  plant(name, vector);
  try {
    git(...args.map((arg) => arg.replace('$E', engine)));
  } catch {
    // What is planted answers nonsense.
  }
  expect(ran()).toEqual([name]);
});
