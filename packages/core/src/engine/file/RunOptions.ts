import type { DriveOptions } from '../drive/drive.ts';
import type { NewRunLabels } from '../drive/givenLabels.ts';
import type { SignalOptions } from '../drive/signals.ts';
import type { Principal } from '../gates/principals.ts';
import type { RecordedOptions } from '../graph/EngineGraph.ts';
import type { Budget } from '../guards/Budget.ts';
import type { QueueOptions } from '../runs/Runs.ts';
import type { MultitaskStrategy } from '../start/turns.ts';

/** Options of `run`. `context`, `configurable`, `tags`, `metadata` and `by` are recorded when the run starts. */
export interface RunOptions
  extends Omit<
      DriveOptions,
      'goal' | 'prepare' | 'isPrepared' | 'now' | 'isDue' | 'lost' | 'above' | 'settles'
    >,
    RecordedOptions {
  /**
   * Stay until the run ends. Receives decisions and signals of other processes within a second, and timers when they
   * are due. Holds no lease while waiting. Abort `drain` to return, `signal` to reject. @defaultValue false
   */
  readonly wait?: boolean;
  /** The person at the start of the run. Recorded; gates with `notInitiator` use it. Ignored for an existing run. */
  readonly by?: Principal;
  /**
   * Reject with `RUN_FAILED` if the run is `failed` or a `dead_letter`, as LangGraph's `invoke` does. Its cause is the
   * node's error. With `false` the result has that status. @defaultValue true
   */
  readonly throwOnFailure?: boolean;
  /**
   * Key of the input's turn, for example the id of a message. The same key is the same turn. A new key starts the next
   * turn of a run that has ended. @defaultValue the run has one turn
   */
  readonly turn?: string;
}

/** Options of `start`, recorded with the run. */
export interface RunStartOptions extends RecordedOptions, Pick<RunOptions, 'turn' | 'by'> {
  /**
   * The fate of a new turn while the run is in another one, in LangGraph's words. `reject` throws `INPUT_NOT_TAKEN`. `enqueue`
   * records it behind that one. `interrupt` cancels that one and the queued ones first. Only in `start`.
   * @defaultValue 'reject'
   */
  readonly multitaskStrategy?: MultitaskStrategy;
  /** Use before the run asks. Ignored for an existing run. @defaultValue the app's */
  readonly budget?: Budget;
  /** The owner of the run, by name: finds the run, and patches leave it. Ignored for an existing run. */
  readonly owner?: NewRunLabels['owner'];
}

/** Options of `create`. */
export interface CreateOptions extends NewRunLabels, QueueOptions {
  /** For a known id: reject with `THREAD_EXISTS`, or return the run unchanged. @defaultValue 'raise' */
  readonly ifExists?: 'raise' | 'do_nothing';
}

/** Options with which a run is recorded, wherever it is. */
export type StartOptions = RunStartOptions & QueueOptions;

/** Options with which a run is recorded and executed. */
export type ExecuteOptions = RunOptions & Omit<StartOptions, 'multitaskStrategy'>;

/** A signal, as it is sent. */
export type Said = { readonly name: string; readonly payload: unknown } & SignalOptions;

/** Input and options of a run that a signal starts. */
export type SignalStart<Update> = { readonly input: Update } & StartOptions;
