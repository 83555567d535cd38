import type { DriveOptions } from './drive/drive.ts';
import type { GivenOptions } from './drive/givenOptions.ts';
import type { Principal } from './gates/HumanInTheLoopManager.ts';
import type { Budget } from './guards/Budget.ts';

/** How a run is driven; what is new to it is recorded when it is started, and holds for every later drive. */
export interface RunOptions extends Omit<DriveOptions, 'goal' | 'prepare' | 'now' | 'isDue'>, GivenOptions {
  /**
   * Stay until the run has ended: a decision or a signal recorded by another process is taken up within a second, a timer
   * when it is due. Nothing is held meanwhile; aborting `signal` returns. @defaultValue false
   */
  readonly wait?: boolean;
  /** Who starts the run: recorded with it, and read by gates that are not for them. Not read of a run that is known. */
  readonly by?: Principal;
  /**
   * Reject with `RUN_FAILED` where the run ends `failed`, as LangGraph's `invoke` would: the cause is what the node threw.
   * @defaultValue false
   */
  readonly throwOnFailure?: boolean;
  /**
   * Key of the turn that the input is: the same one is the same turn, for ever. Such as the id of a message. With
   * a new one, a run that has ended goes on with the input. @defaultValue the run has one turn
   */
  readonly turn?: string;
}

/** What a run is recorded with, beside its input. */
export interface RunStartOptions extends GivenOptions, Pick<RunOptions, 'turn' | 'by'> {
  /** What it may use up before a human is asked. Not read of a run that is known. @defaultValue the app's */
  readonly budget?: Budget;
}
