import type { StepKey } from '../../state/StepStore.ts';
import type { RecordedVisit } from './activeVisit.ts';
import { olderKey } from './olderStep.ts';
import { recordedPlace } from './recordedPlace.ts';
import type { StepPlace } from './stepPlace.ts';

/**
 * Where a step is recorded: in its {@link recordedPlace}, or where an older version recorded it.
 *
 * @throws as {@link olderKey}.
 */
export function recordedKey(
  active: RecordedVisit,
  place: StepPlace,
  name: string,
): StepKey | Promise<StepKey> {
  const { store, visit } = active;
  const isAt = (lgTaskId: string): boolean =>
    store.steps.timesOf({ threadId: visit.threadId, lgTaskId, name }) !== null;
  const found = recordedPlace(active, place, isAt);
  return found instanceof Promise
    ? found.then((at) => olderKey(active, at, name))
    : olderKey(active, found, name);
}
