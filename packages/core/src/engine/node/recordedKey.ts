import type { StepKey } from '../../state/StepStore.ts';
import type { RecordedVisit } from './activeVisit.ts';
import { firstTaskOf } from './firstTask.ts';
import type { InnerLevel } from './innerRuns.ts';
import { olderKey } from './olderStep.ts';
import { placeId, type StepPlace } from './stepPlace.ts';

/**
 * Where a step is recorded: where LangGraph's first attempt at the tasks around it had or would have it. What the first
 * attempt did not come to is recorded by its relative place, and found there by every attempt.
 *
 * @throws as {@link olderKey}.
 */
export function recordedKey(
  active: RecordedVisit,
  place: StepPlace,
  name: string,
): StepKey | Promise<StepKey> {
  if (place.anew === null) return keyAt(active, place, name);
  return firstPlace(active, place, place.anew).then((first) => keyAt(active, first, name));
}

function keyAt(active: RecordedVisit, place: StepPlace, name: string): StepKey | Promise<StepKey> {
  const { store, visit } = active;
  const { id, relativeId } = place;
  const own = { threadId: visit.threadId, lgTaskId: id, name };
  if (relativeId !== null && store.steps.timesOf(own) === null) {
    const relative = { ...own, lgTaskId: relativeId };
    if (store.steps.timesOf(relative) !== null) return relative;
  }
  return olderKey(active, place, name);
}

async function firstPlace(
  active: RecordedVisit,
  place: StepPlace,
  anew: readonly InnerLevel[],
): Promise<StepPlace> {
  const first = await firstTaskOf(active, anew);
  if (first === null) return { ...place, id: place.relativeId ?? place.id };
  const { taskId, checkpoint } = first;
  const id = placeId(active.visit, taskId, place.toolCallId);
  return { ...place, id, task: { checkpoint, isKept: true } };
}
