import { recordedGoal } from '../Goal.ts';
import type { Visit } from '../visit.ts';
import type { Entered } from './entry.ts';
import { mergedState } from './mergedState.ts';
import type { RunnerDeps } from './RunnerDeps.ts';

/** What the recorded goal of a run changes in the state a node is entered with. */
export function towardsGoal<State extends object>(
  entered: Entered<State>,
  state: State,
  visit: Visit,
  { runs, profile }: RunnerDeps<State>,
): Entered<State> {
  if (!entered.runNode || profile.steer === undefined) return entered;
  const goal = recordedGoal(runs, visit.threadId);
  if (goal === null) return entered;
  const steered = profile.steer(mergedState(state, entered.update), visit.node, goal);
  return { ...entered, update: { ...entered.update, ...steered.update }, runNode: steered.runNode };
}
