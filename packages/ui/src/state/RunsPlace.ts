import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import {
  DevsError,
  type Gate,
  isDevsError,
  Orchestrator,
  type OrchestratorOptions,
  type Run,
  type Runs,
} from '@devs/core';
import { endingWith, STATE_FILE } from '@devs/core/internal';

/** A run without what drives or decides it. */
export type ReadableRun = Pick<
  Run,
  | 'id'
  | 'status'
  | 'gates'
  | 'closedGates'
  | 'log'
  | 'state'
  | 'steps'
  | 'graph'
  | 'checkpoints'
  | 'valuesAt'
  | 'quotableSections'
  | 'lastComments'
  | 'lastViewed'
  | 'exchanges'
  | 'draft'
>;

/** What a view may read. */
export interface Reader extends Pick<Orchestrator, 'list' | 'gates' | 'openGates' | 'news' | 'dataVersion'> {
  view<T>(id: string, read: (run: ReadableRun) => Promise<T>): Promise<T>;
}

export interface RunsPlaceOptions {
  /** Folder of a state file. Set this or `runs`. */
  readonly dir?: string;
  /** Storage with one file per run, such as a cluster. The caller closes it. */
  readonly runs?: Runs;
  /** Name of the state file. @defaultValue `state.sqlite` */
  readonly file?: string;
  /** Key of an encrypted file. @defaultValue `DEVS_ENCRYPTION_KEY` of the environment */
  readonly encryptionKey?: NonNullable<OrchestratorOptions['encryptionKey']>;
  /** Reads the code that comments on a review quote. @defaultValue comments on code are unavailable */
  readonly code?: NonNullable<OrchestratorOptions['code']>;
  /** Sizes of answers. @defaultValue as of `Orchestrator.open` */
  readonly limits?: NonNullable<OrchestratorOptions['limits']>;
}

/** The runs' agents, with workspace and checks. */
export type Asking = Required<Pick<OrchestratorOptions, 'agents' | 'workspace' | 'checks'>>;

/** The same for every run, or those that a run was started with. */
export type AskingOf = Asking | ((run: string) => Promise<Asking>);

/** @throws Errors of making them, such as a missing key. */
export const askingFor = async (asking: AskingOf, run: string): Promise<Asking> =>
  typeof asking === 'function' ? asking(run) : asking;

/**
 * The runs behind the page. A state file is open for reading as long as somebody reads, and for writing only for what a person
 * does. Reading creates and migrates nothing.
 */
export class RunsPlace {
  readonly #at: Pick<OrchestratorOptions, 'dir' | 'file' | 'encryptionKey' | 'runs' | 'code' | 'limits'>;
  readonly #reader: SharedReader;

  /** @throws TypeError unless there is either a folder or `runs`. */
  constructor(at: RunsPlaceOptions) {
    if ((at.dir === undefined) === (at.runs === undefined))
      throw new TypeError('Expected either `dir` or `runs`.');
    this.#at = at;
    this.#reader = new SharedReader(async () => {
      this.#assertPresent();
      return Orchestrator.open({ ...this.#at, readOnly: true });
    });
  }

  /** @throws DevsError `STATE_…`, `SCHEMA_TOO_NEW`, … where there is no state file, or none that can be read. */
  async read<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    return this.#reader.use(work);
  }

  /**
   * The name of the project: of the folder around `.devs`, or of a state file of one's own. `null` without a folder.
   */
  get project(): string | null {
    const { dir, file = STATE_FILE } = this.#at;
    if (dir === undefined) return null;
    if (file !== STATE_FILE) return file;
    const folder = resolve(dir);
    return basename(basename(folder) === '.devs' ? dirname(folder) : folder);
  }

  /** A file that is not there is not made. @throws DevsError as {@link read}. */
  async write<T>(work: (devs: Orchestrator) => Promise<T>): Promise<T> {
    this.#assertPresent();
    return useRuns(await Orchestrator.open(this.#at), work);
  }

  /** For a question to an agent. @throws DevsError as {@link read}. */
  async ask<T>(asking: Asking, work: (devs: Orchestrator) => Promise<T>): Promise<T> {
    this.#assertPresent();
    return useRuns(await Orchestrator.open({ ...this.#at, ...asking }), work);
  }

  /** Whether an agent could be asked about a gate. @throws DevsError as {@link read}. */
  async canAsk(asking: Asking, run: string, gate: Pick<Gate, 'sessionId'>): Promise<boolean> {
    this.#assertPresent();
    const devs = await Orchestrator.open({ ...this.#at, ...asking, readOnly: true });
    return useRuns(devs, async () => (await (await devs.run(run)).askUnavailableReason(gate)) === null);
  }

  #assertPresent(): void {
    const { dir, file = STATE_FILE } = this.#at;
    const path = dir === undefined ? null : join(dir, file);
    if (path === null || existsSync(path)) return;
    throw new DevsError(`There is no state file at ${path}.`, {
      code: 'STATE_IO',
      remedy: 'Start a run with devs run, or name the file that your program uses. Then reload this page.',
      context: { path },
    });
  }
}

const useRuns = <T>(devs: Orchestrator, work: (devs: Orchestrator) => Promise<T>): Promise<T> =>
  endingWith(
    () => devs.close(),
    () => work(devs),
  );

/** How long an open file is kept for who reads next, ms. */
const KEPT_MS = 10_000;

interface Held {
  readonly opening: Promise<Orchestrator>;
  users: number;
  /** Lent to nobody else; closed by its last user. */
  isRetired: boolean;
}

/**
 * One open state file for everybody who reads, and for some seconds after the last: opening verifies every decision. A file
 * that was deleted, replaced or damaged meanwhile is opened anew by who reads next.
 */
export class SharedReader {
  readonly #open: () => Promise<Orchestrator>;
  #held: Held | null = null;
  #idle: NodeJS.Timeout | undefined;

  constructor(open: () => Promise<Orchestrator>) {
    this.#open = open;
  }

  /** @throws What opening throws, and what `work` does. */
  async use<T>(work: (devs: Orchestrator) => Promise<T>): Promise<T> {
    if (this.#held !== null) await this.#lent((devs) => devs.dataVersion()).catch(() => undefined);
    return this.#lent(work);
  }

  async #lent<T>(work: (devs: Orchestrator) => Promise<T>): Promise<T> {
    clearTimeout(this.#idle);
    this.#held ??= { opening: this.#open(), users: 0, isRetired: false };
    const held = this.#held;
    held.users += 1;
    try {
      const devs = await held.opening.catch((error: unknown) => {
        this.#retire(held);
        throw error;
      });
      return await work(devs);
    } catch (error) {
      if (isDevsError(error) && error.code.startsWith('STATE_')) this.#retire(held);
      throw error;
    } finally {
      held.users -= 1;
      if (held.users === 0) this.#rest(held);
    }
  }

  #rest(held: Held): void {
    if (held.isRetired) {
      close(held);
      return;
    }
    this.#idle = setTimeout(() => {
      this.#retire(held);
      close(held);
    }, KEPT_MS).unref();
  }

  #retire(held: Held): void {
    held.isRetired = true;
    if (this.#held === held) this.#held = null;
  }
}

/** One that could not be opened has nothing to close. */
function close({ opening }: Held): void {
  opening.then(
    (devs) => devs.close(),
    () => undefined,
  );
}
