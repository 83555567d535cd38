import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { type CheckResult, type Checks, DevsError, type OnActivity } from '@devs/core';
import { SetupCopy } from './SetupCopy.ts';
import type { WorkFolder } from './WorkFolder.ts';

/** What installing goes by, wherever it lies in the tree. */
const MANIFESTS = [
  ...['package.json', 'package-lock.json', 'npm-shrinkwrap.json', '.npmrc'],
  ...[
    'pnpm-lock.yaml',
    'pnpm-workspace.yaml',
    '.pnpmfile.cjs',
    'yarn.lock',
    '.yarnrc.yml',
    'bun.lock',
    'bun.lockb',
  ],
  ...['pyproject.toml', 'requirements*.txt', 'poetry.lock', 'uv.lock', 'Pipfile', 'Pipfile.lock', 'setup.py'],
  ...[
    'Cargo.toml',
    'Cargo.lock',
    'go.mod',
    'go.sum',
    'Gemfile',
    'Gemfile.lock',
    'composer.json',
    'composer.lock',
  ],
].map((name) => `**/${name}`);

/** What installing writes by the way, in whichever folder. */
const LOCKFILES: ReadonlySet<string> = new Set([
  ...['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb'],
  ...['poetry.lock', 'uv.lock', 'Pipfile.lock', 'Cargo.lock', 'go.sum', 'Gemfile.lock', 'composer.lock'],
]);

export interface PreparedFolderOptions {
  readonly folder: WorkFolder;
  readonly dir: string;
  /** What the engine keeps of the folder, outside of it. */
  readonly kept: string;
  /** `null`: nothing has to be prepared, and nothing outside of the tree is part of it. */
  readonly setup: Checks | null;
  /** Patterns of further files it reads, from the top of the tree. */
  readonly inputs: readonly string[];
  readonly caches: readonly string[];
  /** Told what setup prints. */
  readonly onActivity?: OnActivity;
}

/**
 * What lies in the folder of a run and not in its trees: as the setup command leaves it for the tree, and nothing else.
 * So a check says what it would say in a fresh checkout after setup.
 */
export class PreparedFolder {
  readonly #folder: WorkFolder;
  readonly #dir: string;
  readonly #setup: Checks | null;
  readonly #inputs: readonly string[];
  readonly #copy: SetupCopy;
  readonly #onActivity: OnActivity | undefined;

  constructor({ folder, dir, kept, setup, inputs, caches, onActivity }: PreparedFolderOptions) {
    this.#folder = folder;
    this.#dir = dir;
    this.#setup = setup;
    this.#inputs = inputs;
    this.#onActivity = onActivity;
    this.#copy = new SetupCopy({ store: join(kept, 'setup'), caches });
  }

  /**
   * Runs the setup command in a folder that it never ran in. What it makes that git does not ignore counts as part of
   * the work, as if it had been there; but for lockfiles, which are put back: no task has asked for them.
   *
   * @throws DevsError `WORKSPACE_FAILED` with the end of its output when it fails; not where the work in the folder is
   *   to blame, which its checks will say.
   */
  async begin(signal: AbortSignal): Promise<void> {
    if (this.#setup === null || !(await this.#copy.isEmpty())) return;
    const before = await this.#folder.changes();
    const isUntouched = before === null;
    const tree = before?.found ?? (await this.#folder.left());
    const result = await this.#runSetup(this.#setup, signal);
    if (!result.passed) return this.#refuseUnlessChanged(result);
    await this.#folder.putBack(tree, (path) => LOCKFILES.has(basename(path)));
    if (isUntouched) await this.#folder.snapshot();
    await this.#capture();
  }

  /**
   * Makes everything that the tree in the folder does not hold as setup leaves it for that tree. Setup runs when it has
   * not been run for what the tree has of its inputs.
   *
   * @param tree - What was restored last.
   * @returns What setup said if it failed on inputs that the work has changed; `null` when all is ready.
   * @throws DevsError `WORKSPACE_FAILED` when it failed on inputs that the branch has.
   */
  async ready(tree: string, signal: AbortSignal): Promise<CheckResult | null> {
    const key = this.#setup === null ? null : await this.#key();
    const folder = { dir: this.#dir, held: await this.#folder.held() };
    if (await this.#copy.restore(key, folder)) return null;
    await this.#copy.restore(null, folder);
    const result = this.#setup === null ? undefined : await this.#runSetup(this.#setup, signal);
    await this.#folder.discard(tree);
    if (result?.passed === false) {
      await this.#refuseUnlessChanged(result);
      return result;
    }
    await this.#capture();
    return null;
  }

  #runSetup(setup: Checks, signal: AbortSignal): Promise<CheckResult> {
    const onActivity = this.#onActivity;
    onActivity?.({ kind: 'doing', what: 'setup' });
    return setup.run({ dir: this.#dir, signal, ...(onActivity && { onActivity }) });
  }

  async #capture(): Promise<void> {
    const folder = { dir: this.#dir, held: await this.#folder.held() };
    await this.#copy.capture(await this.#key(), folder);
  }

  async #refuseUnlessChanged({ command, output }: CheckResult): Promise<void> {
    const committed = await this.#folder.committedEntries(this.#patterns);
    if (hashOf(committed) !== (await this.#key())) return;
    throw new DevsError(`The setup command failed: ${command}\n${output}`, {
      code: 'WORKSPACE_FAILED',
      remedy: `Repair it (try it in ${this.#dir}), then resume the run.`,
      context: { command },
    });
  }

  async #key(): Promise<string> {
    return hashOf(await this.#folder.leftEntries(this.#patterns));
  }

  get #patterns(): readonly string[] {
    return [...MANIFESTS, ...this.#inputs].map((pattern) => `:(glob)${pattern}`);
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
