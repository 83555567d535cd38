import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  DevsError,
  endingWith,
  type Gate,
  Orchestrator,
  type OrchestratorOptions,
  type Run,
  STATE_FILE,
} from '@devs/core';
import { SharedReader } from './SharedReader.ts';

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
  | 'places'
  | 'lastComments'
  | 'shownBefore'
  | 'exchanges'
  | 'draft'
>;

/** What a view may read. */
export interface Reader extends Pick<Orchestrator, 'list' | 'gates' | 'openGates' | 'news' | 'dataVersion'> {
  run(id: string): Promise<ReadableRun>;
}

export interface RunsFileOptions {
  /** The folder of the state file. */
  readonly dir: string;
  /** Its name. @defaultValue `state.sqlite` */
  readonly file?: string;
  /** Reads the code that comments on a review quote. @defaultValue there are no comments on code */
  readonly code?: NonNullable<OrchestratorOptions['code']>;
}

/** The agents of the runs, with what they need to be asked. */
export type Asking = Required<Pick<OrchestratorOptions, 'agents' | 'workspace' | 'checks'>>;

/**
 * The state file behind the page. Open for reading as long as somebody reads, and for writing only for what a person does.
 * Reading creates and migrates nothing.
 */
export class RunsFile {
  readonly #at: RunsFileOptions & { readonly file: string };
  readonly #reader: SharedReader;

  constructor({ file = STATE_FILE, ...at }: RunsFileOptions) {
    this.#at = { ...at, file };
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
    return using(await Orchestrator.open(this.#at), work);
  }

  /** For a question to an agent. @throws DevsError as {@link read}. */
  async ask<T>(asking: Asking, work: (devs: Orchestrator) => Promise<T>): Promise<T> {
    this.#assertPresent();
    return using(await Orchestrator.open({ ...this.#at, ...asking }), work);
  }

  /** Whether an agent could be asked about a gate. @throws DevsError as {@link read}. */
  async canAsk(asking: Asking, run: string, gate: Pick<Gate, 'sessionId'>): Promise<boolean> {
    this.#assertPresent();
    const devs = await Orchestrator.open({ ...this.#at, ...asking, readOnly: true });
    return using(devs, async () => (await (await devs.run(run)).whyUnasked(gate)) === null);
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
