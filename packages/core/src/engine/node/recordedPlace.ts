import type { RecordedVisit } from './activeVisit.ts';
import { firstTaskOf } from './firstTask.ts';
import type { InnerLevel } from './innerRuns.ts';
import { placeId, type StepPlace } from './stepPlace.ts';

/**
 * Where something in a place is recorded: where LangGraph's first attempt at the tasks around it had or would have it.
 * What the first attempt did not come to is recorded by its relative place, and found there by every attempt.
 *
 * @param isAt - Whether it is recorded in the place of that id.
 */
export function recordedPlace(
  active: RecordedVisit,
  place: StepPlace,
  isAt: (id: string) => boolean,
): StepPlace | Promise<StepPlace> {
  if (place.anew === null) return placeAt(place, isAt);
  return firstPlace(active, place, place.anew).then((first) => placeAt(first, isAt));
}

function placeAt(place: StepPlace, isAt: (id: string) => boolean): StepPlace {
  const { id, relativeId } = place;
  const isRelative = relativeId !== null && !isAt(id) && isAt(relativeId);
  return isRelative ? { ...place, id: relativeId } : place;
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
