import { existsSync } from 'node:fs';
import {
  DevsError,
  loadOrchestratorConfig,
  Orchestrator,
  type OrchestratorOptions,
  type Run,
  type Runs,
} from '@devs/core';
import { endingWith } from '@devs/core/internal';

/** What a tool or resource may read. */
export interface ReadContext {
  readonly devs: Pick<Orchestrator, 'list'> & {
    view<T>(id: string, read: (run: RunReader) => Promise<T>): Promise<T>;
  };
  /** Depth at which a run without progress is stopped for a human. */
  readonly maxRecursionDepth: number;
}

/** A run without what drives it or decides. */
export type RunReader = Pick<
  Run,
  'id' | 'status' | 'gates' | 'lastComments' | 'log' | 'transcript' | 'recursionDepth'
>;

export interface StateReaderOptions {
  /** Folder of the state file. Set this or `runs`. */
  readonly dir?: string;
  /** Storage with one file per run, such as a cluster. The caller closes it. */
  readonly runs?: Runs;
  /** @defaultValue the process's environment */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads the state file of an engine's folder, or runs that have a file each. A state file is opened for each read: nothing is
 * held between two, and a folder that was created or replaced meanwhile is seen as it is.
 */
export class StateReader {
  readonly #at: Pick<OrchestratorOptions, 'dir' | 'runs' | 'readOnly'>;
  readonly #config: NonNullable<OrchestratorOptions['config']>;

  /** @throws TypeError unless there is either a folder or `runs`; DevsError `CONFIG_INVALID` for a bad `DEVS_MAX_RECURSION_DEPTH`. */
  constructor({ dir, runs, env = process.env }: StateReaderOptions) {
    if ((dir === undefined) === (runs === undefined)) throw new TypeError('Expected either `dir` or `runs`.');
    this.#at = runs === undefined ? { dir: dir ?? '', readOnly: true } : { runs };
    this.#config = loadOrchestratorConfig(env);
  }

  /** @throws DevsError `STATE_…` when there is no state file, or none that can be used; `STATE_IO` for runs out of reach. */
  async read<T>(work: (context: ReadContext) => Promise<T>): Promise<T> {
    const config = this.#config;
    const { dir } = this.#at;
    if (dir !== undefined && !existsSync(dir)) throw noFolder(dir);
    const devs = await Orchestrator.open({ ...this.#at, config });
    const context = { devs, maxRecursionDepth: config.maxRecursionDepth };
    return endingWith(
      () => devs.close(),
      () => work(context),
    );
  }
}

const noFolder = (dir: string): DevsError =>
  new DevsError(`The folder ${dir} does not exist.`, {
    code: 'STATE_IO',
    remedy: 'Start a run in it first, or use the folder of your runs.',
    context: { dir },
  });
