import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { type AgentCall, type CheckResult, type Checks, DevsError } from '@devs/core';
import { makeFolder } from './engineFiles.ts';
import { SetupCopy } from './SetupCopy.ts';
import type { SharedSetup } from './SharedSetup.ts';
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

/** How package managers report that they did not reach a registry, or were not let in. */
const NO_WAY =
  /\bCERT_|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|certificate|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|\bE40[13]\b|\b407\b|ould not resolve host|name resolution/;

const NETWORK_REMEDY =
  'It looks as if a registry was not reached or did not let setup in: setup gets your proxy, certificate and registry settings ' +
  '(such as HTTPS_PROXY, NODE_EXTRA_CA_CERTS, ~/.npmrc), so set there what is missing. ';

/** What belongs to the folder of a run and not to its trees. */
export interface Preparation {
  /** `null`: nothing has to be prepared, and nothing outside of the tree is part of it. */
  readonly setup: Checks | null;
  /** Patterns of further files it reads, from the top of the tree. */
  readonly inputs: readonly string[];
  readonly caches: readonly string[];
  /** Where what setup left is kept for other runs; `null`: each has its own. */
  readonly shared: SharedSetup | null;
  /** Where package managers of setup keep their downloads for other runs; `null`: nowhere. */
  readonly downloads: string | null;
  /** Told what setup prints. */
  readonly onActivity?: NonNullable<AgentCall['onActivity']>;
}

export interface PreparedFolderOptions extends Preparation {
  readonly folder: WorkFolder;
  readonly dir: string;
  /** What the engine keeps of the folder, outside of it. */
  readonly kept: string;
  /** The tree of the person's commit: what setup left for another one is not given to other runs. */
  readonly givenTree: () => Promise<string | null>;
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
  readonly #shared: SharedSetup | null;
  readonly #givenTree: PreparedFolderOptions['givenTree'];
  readonly #downloads: string | null;
  readonly #onActivity: NonNullable<AgentCall['onActivity']> | undefined;

  constructor({ folder, dir, kept, setup, inputs, caches, ...options }: PreparedFolderOptions) {
    this.#folder = folder;
    this.#dir = dir;
    this.#setup = setup;
    this.#inputs = inputs;
    this.#shared = options.shared;
    this.#givenTree = options.givenTree;
    this.#downloads = options.downloads;
    this.#onActivity = options.onActivity;
    this.#copy = new SetupCopy({ kept: join(kept, 'setup'), caches });
  }

  /**
   * Runs the setup command in a folder that it never ran in, unless a run before did for the same inputs. What it makes
   * that git does not ignore counts as part of the work, as if it had been there; but for lockfiles, which are put back:
   * no task has asked for them.
   *
   * @throws DevsError `WORKSPACE_FAILED` with the end of its output when it fails; not where the work in the folder is
   *   to blame, which its checks will say.
   */
  async begin(signal: AbortSignal): Promise<void> {
    if (this.#setup === null || !(await this.#copy.isEmpty())) return;
    const before = await this.#folder.changes();
    const isUntouched = before === null;
    const tree = before?.found ?? (await this.#folder.left());
    const isBare = isUntouched && (await this.#copy.outside(await this.#walked())).length === 0;
    if (isBare && (await this.#takeShared())) {
      this.#onActivity?.({ kind: 'doing', what: 'setup: as it was for these lockfiles' });
      return;
    }
    const result = await this.#runSetup(this.#setup, tree, signal);
    if (!result.passed) return this.#refuseUnlessChanged(result);
    await this.#folder.putBack(tree, (path) => LOCKFILES.has(basename(path)));
    if (isUntouched) await this.#folder.snapshot();
    await this.#capture({ isOfSetupAlone: isBare });
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
    const folder = await this.#walked();
    if (this.#setup === null) {
      await this.#copy.restore(null, folder);
      return null;
    }
    if ((await this.#copy.restore(await this.#key(), folder)) || (await this.#takeShared())) return null;
    await this.#copy.restore(null, folder);
    const result = await this.#runSetup(this.#setup, tree, signal);
    await this.#folder.discard(tree);
    if (!result.passed) {
      await this.#refuseUnlessChanged(result);
      return result;
    }
    await this.#capture({ isOfSetupAlone: true });
    return null;
  }

  /** Downloads are kept for files of the person's commit alone: code that agents wrote could write others in their place. */
  async #runSetup(setup: Checks, tree: string, signal: AbortSignal): Promise<CheckResult> {
    const onActivity = this.#onActivity;
    onActivity?.({ kind: 'doing', what: 'setup' });
    const downloads = tree === (await this.#givenTree()) ? this.#downloads : null;
    if (downloads !== null) await makeFolder(downloads);
    return setup.run({
      dir: this.#dir,
      signal,
      ...(onActivity && { onActivity }),
      ...(downloads !== null && { downloads }),
    });
  }

  async #capture({ isOfSetupAlone }: { readonly isOfSetupAlone: boolean }): Promise<void> {
    const folder = await this.#walked();
    if (isOfSetupAlone && (await this.#share(folder))) return;
    await this.#copy.capture(await this.#key(), folder);
  }

  /** Work that nobody has approved could have changed what setup runs: its result stays in this folder. */
  async #share(folder: Walked): Promise<boolean> {
    const tree = await this.#folder.left();
    if (this.#shared === null || tree !== (await this.#givenTree())) return false;
    const inputs = await this.#folder.leftEntries(this.#patterns);
    const place = await this.#shared.placeFor({ inputs, tree }, await this.#copy.outside(folder));
    const isShared = await this.#copy.share(place, folder);
    if (isShared) await this.#shared.forget();
    return isShared;
  }

  async #takeShared(): Promise<boolean> {
    if (this.#shared === null) return false;
    const [folder, tree] = [await this.#walked(), await this.#folder.left()];
    const inputs = await this.#folder.leftEntries(this.#patterns);
    for (const place of await this.#shared.placesOf({ inputs, tree })) {
      if (await this.#copy.take(place, folder)) return true;
    }
    return false;
  }

  async #walked(): Promise<Walked> {
    return { dir: this.#dir, held: await this.#folder.held() };
  }

  async #refuseUnlessChanged({ command, output }: CheckResult): Promise<void> {
    const committed = await this.#folder.committedEntries(this.#patterns);
    if (textHash(committed) !== (await this.#key())) return;
    throw new DevsError(`The setup command failed: ${command}\n${output}`, {
      code: 'WORKSPACE_FAILED',
      remedy: `${NO_WAY.test(output) ? NETWORK_REMEDY : ''}Fix the setup command (try it in ${this.#dir}), then resume the run.`,
      context: { command },
    });
  }

  async #key(): Promise<string> {
    return textHash(await this.#folder.leftEntries(this.#patterns));
  }

  get #patterns(): readonly string[] {
    return [...MANIFESTS, ...this.#inputs].map((pattern) => `:(glob)${pattern}`);
  }
}

interface Walked {
  readonly dir: string;
  readonly held: readonly string[];
}

const textHash = (text: string): string => createHash('sha256').update(text).digest('hex');
