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

/** A run without what drives or decides it. */
export type ReadableRun = Pick<
  Run,
  | 'id'
  | 'status'
  | 'gates'
  | 'closedGates'
  | 'log'
  | 'state'
  | 'places'
  | 'lastComments'
  | 'shownBefore'
  | 'exchanges'
  | 'draft'
>;

/** What a view may read. */
export interface Reader {
  list: Orchestrator['list'];
  gates: Orchestrator['gates'];
  run(id: string): Promise<ReadableRun>;
}

export interface StateFileOptions {
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
 * The state file behind the page. Opened for each piece of work and closed after it: nothing is held between two, and a file
 * that was replaced meanwhile is seen as it is. Reading creates and migrates nothing.
 */
export class StateFile {
  readonly #at: StateFileOptions & { readonly file: string };

  constructor({ file = STATE_FILE, ...at }: StateFileOptions) {
    this.#at = { ...at, file };
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
