import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RunWorkspace } from '@devs/core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { GitWorkspace } from '../GitWorkspace.ts';

// Each of these lets a repository name a program that git then runs. The engine's git never reads the folder's own
// repository, so none may run, whatever the engine does in the folder.

const execute = promisify(execFile);

/** Settings of a planted repository, `$T` being the program; files beside them; hooks by name. */
interface Vector {
  readonly config?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly hooks?: readonly string[];
}

const filter = (settings: string): Vector => ({
  config: `[filter "x"]\n\t${settings}\n`,
  files: { '.gitattributes': '* filter=x\n' },
});
const HOOKS = [
  'pre-commit',
  'post-commit',
  'post-checkout',
  'post-index-change',
  'reference-transaction',
] as const;

const VECTORS: Readonly<Record<string, Vector>> = {
  'a monitor of the file system': { config: '[core]\n\tfsmonitor = $T\n' },
  'hooks of the repository': { hooks: HOOKS },
  'hooks in a folder of its own': { config: '[core]\n\thooksPath = .git/hooks\n', hooks: HOOKS },
  'a filter for what is added': filter('clean = $T'),
  'a filter for what is written': filter('smudge = $T'),
  'a filter that stays running': filter('process = $T\n\trequired = true'),
  'a program that shows differences': { config: '[diff]\n\texternal = $T\n' },
  'a program that turns files into text': {
    config: '[diff "x"]\n\ttextconv = $T\n',
    files: { '.gitattributes': '* diff=x\n' },
  },
  'a program that merges': {
    config: '[merge "x"]\n\tdriver = $T %A\n',
    files: { '.gitattributes': '* merge=x\n' },
  },
  'a pager and an editor': { config: '[core]\n\tpager = $T\n\teditor = $T\n[pager]\n\tlog = $T\n' },
  'a program that signs': { config: '[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = $T\n' },
  'a transport and a proxy': {
    config: '[core]\n\tsshCommand = $T\n\tgitProxy = $T\n[remote "origin"]\n\turl = ext::$T\n',
  },
  'a submodule that updates itself': {
    config: '[submodule "x"]\n\tactive = true\n\tupdate = !$T\n',
    files: { '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = ext::$T\n\tupdate = !$T\n' },
  },
  'settings in another file': {
    config: '[include]\n\tpath = ../more\n',
    files: { more: '[core]\n\tfsmonitor = $T\n' },
  },
  'settings of a work tree': {
    config: '[extensions]\n\tworktreeConfig = true\n',
    files: { '.git/config.worktree': '[core]\n\tfsmonitor = $T\n' },
  },
};

let base: string;
let run: RunWorkspace;
let trap: string;
let program: string;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'devs-vectors-'));
  run = await new GitWorkspace({ dir: base }).open('run-1');
  [trap, program] = [join(base, 'executed'), join(base, 'trap.sh')];
  await writeExecutable(program, `#!/bin/sh\ntouch '${trap}'\n`);
});

afterEach(() => rm(base, { recursive: true, force: true, maxRetries: 3 }));

async function writeExecutable(file: string, text: string): Promise<void> {
  await writeFile(file, text);
  await chmod(file, 0o755);
}

async function plant({ config = '', files = {}, hooks = [] }: Vector): Promise<void> {
  const gitDir = join(run.dir, '.git');
  await rm(gitDir, { recursive: true, force: true });
  await execute('git', ['init', '-q'], { cwd: run.dir });
  await mkdir(join(gitDir, 'hooks'), { recursive: true });
  const filled = (text: string): string => text.replaceAll('$T', program);
  await writeFile(
    join(gitDir, 'config'),
    filled(`[core]\n\trepositoryformatversion = 1\n\tbare = false\n${config}`),
  );
  for (const [name, text] of Object.entries(files)) await writeFile(join(run.dir, name), filled(text));
  for (const hook of hooks) await writeExecutable(join(gitDir, 'hooks', hook), `#!/bin/sh\n${program}\n`);
}

it.each(Object.entries(VECTORS))('%s is never run', async (_name, vector) => {
  await plant(vector);
  await writeFile(join(run.dir, 'a.js'), 'a');
  const tree = await run.snapshot();
  await run.commit({ tree, message: 'm', stepKey: 'k' });
  await plant(vector);
  await writeFile(join(run.dir, 'a.js'), 'b');
  await run.list();
  await run.restore(tree);
  await run.log();
  expect(existsSync(trap)).toBe(false);
});

it.each(['a monitor of the file system', 'a filter for what is added', 'settings in another file'])(
  '%s would be, by git as anybody calls it',
  async (name) => {
    await plant(VECTORS[name] ?? {});
    await writeFile(join(run.dir, 'a.js'), 'a');
    await execute('git', ['add', '--all'], { cwd: run.dir }).catch(() => undefined);
    expect(existsSync(trap)).toBe(true);
  },
);
