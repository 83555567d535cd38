import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '@devs/core/state';
import { afterAll, describe, expect, test } from 'vitest';
import { programFile } from '../../../core/test/support/programFile.ts';

const dirs: string[] = [];
const program = new URL('frozen.child.ts', import.meta.url);

function freshDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'devs-frozen-'));
  dirs.push(dir);
  return dir;
}

afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
});

/** A driver in a process of its own. */
class FrozenDriver {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #said = '';
  #frozen!: () => void;
  readonly frozen = new Promise<void>((resolve) => {
    this.#frozen = resolve;
  });

  constructor(dir: string, label: string, point: string) {
    this.#child = spawn(process.execPath, [programFile(program), dir, label, point], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#said += text;
      if (this.#said.includes('frozen\n')) this.#frozen();
    });
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async end(): Promise<unknown> {
    this.#child.kill('SIGCONT');
    await this.#ended;
    return JSON.parse(this.#said.trimEnd().split('\n').at(-1) ?? '');
  }
}

/** What the time limit of a lease does after ten seconds of silence. */
function expireLease(dir: string): void {
  const db = createDatabase({ dbPath: join(dir, '.devs', 'state.sqlite') });
  db.prepare('UPDATE threads SET lease_expires_mono = 0').run();
  db.close();
}

const gitOf =
  (dir: string) =>
  (...args: string[]): string =>
    execFileSync('git', args, { cwd: join(dir, '.devs-work', 'r'), encoding: 'utf8' }).trim();

interface Step {
  readonly name: string;
  readonly result: string;
}

/** What is finished in the state file. */
function stepsIn(dir: string): readonly Step[] {
  const db = createDatabase({ dbPath: join(dir, '.devs', 'state.sqlite') });
  const steps = db.prepare("SELECT name, result_json AS result FROM agent_steps WHERE state = 'done'").all();
  db.close();
  return steps as Step[];
}

const foldersIn = (dir: string): readonly string[] =>
  readdirSync(join(dir, '.devs-work')).filter((name) => name.startsWith('r.'));

describe('a driver that was frozen while another one has taken over', () => {
  test.concurrent.for([
    ['agent', 'snapshot', 'second'],
    ['check', 'snapshot', 'second'],
    ['commit', 'commit', 'first'],
  ] as const)(
    'changes nothing: frozen before its %s, the other before its %s',
    { timeout: 60_000 },
    async ([point, pointOfSecond, text]) => {
      const dir = freshDir();
      const first = new FrozenDriver(dir, 'first', point);
      await first.frozen;
      expireLease(dir);
      const second = new FrozenDriver(dir, 'second', pointOfSecond);
      await second.frozen;

      expect(await first.end()).toEqual({ status: null, code: 'LEASE_LOST' });
      expect(await second.end()).toEqual({ status: 'completed', code: null });

      const git = gitOf(dir);
      expect(git('log', '--format=%s', 'devs/r')).toBe('Task 1');
      expect(git('show', 'devs/r:implement/1.txt')).toBe(text);
      expect(git('ls-tree', '-r', '--name-only', 'devs/r').split('\n')).toEqual(
        ['document', 'implement', 'test'].map((name) => `${name}/1.txt`),
      );
      expect(git('status', '--porcelain')).toBe('');
      const steps = stepsIn(dir);
      expect(steps.filter(({ name }) => name === 'implement')).toHaveLength(1);
      expect(steps.map(({ result }) => result).join()).toContain(git('rev-parse', 'devs/r^{tree}'));
      expect(readFileSync(join(dir, '.devs-work', 'r', 'implement', '1.txt'), 'utf8')).toBe(`${text}\n`);
    },
  );

  test.concurrent('loses its folder once it is gone, and what lay in it is kept', {
    timeout: 60_000,
  }, async ({ expect }) => {
    const dir = freshDir();
    const first = new FrozenDriver(dir, 'first', 'snapshot');
    await first.frozen;
    const folder = realpathSync(join(dir, '.devs-work', 'r'));
    expireLease(dir);
    const second = new FrozenDriver(dir, 'second', 'snapshot');
    await second.frozen;
    expect(foldersIn(dir)).toHaveLength(2);
    await first.end();
    writeFileSync(join(folder, 'by-hand.txt'), 'mine\n');
    await second.end();
    expect(foldersIn(dir)).toHaveLength(1);
    expect(gitOf(dir)('show', 'refs/devs/rescued/1:by-hand.txt')).toBe('mine');
  });

  test.concurrent('is killed instead: its folder is gone on in', { timeout: 60_000 }, async ({ expect }) => {
    const dir = freshDir();
    const first = new FrozenDriver(dir, 'first', 'snapshot');
    await first.frozen;
    const folder = realpathSync(join(dir, '.devs-work', 'r'));
    first.kill();
    const second = new FrozenDriver(dir, 'second', 'none');
    expect(await second.end()).toEqual({ status: 'completed', code: null });
    expect(realpathSync(join(dir, '.devs-work', 'r'))).toBe(folder);
    expect(foldersIn(dir)).toHaveLength(1);
  });
});
