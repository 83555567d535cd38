import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DevsError, endingWith, Orchestrator, type Run, STATE_FILE } from '@devs/core';

/** A run without what drives or decides it. */
export type ReadableRun = Pick<
  Run,
  'id' | 'status' | 'gates' | 'closedGates' | 'log' | 'state' | 'steps' | 'graph' | 'checkpoints' | 'valuesAt'
>;

/** What a view may read. */
export interface Reader {
  list: Orchestrator['list'];
  run(id: string): Promise<ReadableRun>;
}

export interface StateFileOptions {
  /** The folder of the state file. */
  readonly dir: string;
  /** Its name. @defaultValue `state.sqlite` */
  readonly file?: string;
}

/**
 * The state file behind the page. Opened for each piece of work and closed after it: nothing is held between two, and a file
 * that was replaced meanwhile is seen as it is. Reading creates and migrates nothing.
 */
export class StateFile {
  readonly #at: Required<StateFileOptions>;

  constructor({ dir, file = STATE_FILE }: StateFileOptions) {
    this.#at = { dir, file };
  }

  /** @throws DevsError `STATE_…`, `SCHEMA_TOO_NEW`, … where there is no state file, or none that can be read. */
  async read<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    return using(await this.openReader(), work);
  }

  /** For work that goes on; whoever opens it closes it. @throws DevsError as {@link read}. */
  async openReader(): Promise<Orchestrator> {
    this.#assertPresent();
    return Orchestrator.open({ ...this.#at, readOnly: true });
  }

  /** For what a person does. A file that is not there is not made. @throws DevsError as {@link read}. */
  async write<T>(work: (devs: Orchestrator) => Promise<T>): Promise<T> {
    this.#assertPresent();
    return using(await Orchestrator.open(this.#at), work);
  }

  #assertPresent(): void {
    const path = join(this.#at.dir, this.#at.file);
    if (existsSync(path)) return;
    throw new DevsError(`There is no state file at ${path}.`, {
      code: 'STATE_IO',
      remedy:
        'Start a run with devs run, or name the file that your program uses; then load this page again.',
      context: { path },
    });
  }
}

const using = <T>(devs: Orchestrator, work: (devs: Orchestrator) => Promise<T>): Promise<T> =>
  endingWith(
    () => devs.close(),
    () => work(devs),
  );
