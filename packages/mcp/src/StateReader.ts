import { existsSync } from 'node:fs';
import {
  DevsError,
  endingWith,
  loadOrchestratorConfig,
  Orchestrator,
  type OrchestratorConfig,
  type Run,
} from '@devs/core';

/** What a tool or resource may read. */
export interface ReadContext {
  readonly devs: Pick<Orchestrator, 'list'> & { run(id: string): Promise<ReadableRun> };
  /** Depth at which a run without progress is stopped for a human. */
  readonly maxRecursionDepth: number;
}

/** A run without what drives it or decides. */
export type ReadableRun = Pick<
  Run,
  'id' | 'status' | 'gates' | 'lastComments' | 'log' | 'transcript' | 'recursionDepth'
>;

export interface StateReaderOptions {
  /** The engine's folder. */
  readonly dir: string;
  /** @defaultValue the process's environment */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads the state file of an engine's folder. The file is opened for each read: nothing is held between two, and a
 * folder that was created or replaced meanwhile is seen as it is.
 */
export class StateReader {
  readonly #dir: string;
  readonly #config: OrchestratorConfig;

  /** @throws DevsError `CONFIG_INVALID` for a bad `DEVS_MAX_RECURSION_DEPTH`. */
  constructor({ dir, env = process.env }: StateReaderOptions) {
    this.#dir = dir;
    this.#config = loadOrchestratorConfig(env);
  }

  /** @throws DevsError `STATE_…` when there is no state file, or none that can be used. */
  async read<T>(work: (context: ReadContext) => Promise<T>): Promise<T> {
    const config = this.#config;
    if (!existsSync(this.#dir)) throw noFolder(this.#dir);
    const devs = await Orchestrator.open({ dir: this.#dir, config, readOnly: true });
    const context = { devs, maxRecursionDepth: config.maxRecursionDepth };
    return endingWith(
      () => devs.close(),
      () => work(context),
    );
  }
}

const noFolder = (dir: string): DevsError =>
  new DevsError(`There is no folder ${dir}.`, {
    code: 'STATE_IO',
    remedy: 'Start a run there first, or serve the folder the engine uses.',
    context: { dir },
  });
