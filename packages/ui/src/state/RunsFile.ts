import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DevsError, endingWith, Orchestrator, type Run, STATE_FILE } from '@devs/core';
import { SharedReader } from './SharedReader.ts';

/** A run without what drives or decides it. */
export type ReadableRun = Pick<
  Run,
  'id' | 'status' | 'gates' | 'closedGates' | 'log' | 'state' | 'steps' | 'graph' | 'checkpoints' | 'valuesAt'
>;

/** What a view may read. */
export interface Reader extends Pick<Orchestrator, 'list' | 'openGates' | 'news' | 'dataVersion'> {
  run(id: string): Promise<ReadableRun>;
}

export interface RunsFileOptions {
  /** The folder of the state file. */
  readonly dir: string;
  /** Its name. @defaultValue `state.sqlite` */
  readonly file?: string;
}

/**
 * The state file behind the page. Open for reading as long as somebody reads, and for writing only for what a person does.
 * Reading creates and migrates nothing.
 */
export class RunsFile {
  readonly #at: Required<RunsFileOptions>;
  readonly #reader: SharedReader;

  constructor({ dir, file = STATE_FILE }: RunsFileOptions) {
    this.#at = { dir, file };
    this.#reader = new SharedReader(async () => {
      this.#assertPresent();
      return Orchestrator.open({ ...this.#at, readOnly: true });
    });
  }

  /** @throws DevsError `STATE_…`, `SCHEMA_TOO_NEW`, … where there is no state file, or none that can be read. */
  async read<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    return this.#reader.use(work);
  }

  /** A file that is not there is not made. @throws DevsError as {@link read}. */
  async write<T>(work: (devs: Orchestrator) => Promise<T>): Promise<T> {
    this.#assertPresent();
    const devs = await Orchestrator.open(this.#at);
    return endingWith(
      () => devs.close(),
      () => work(devs),
    );
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
