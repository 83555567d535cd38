import type { Observation } from './Observation.ts';
import type { Scenario } from './scenarios.ts';

/** How many of its goals a run has reached. */
export const goalsReached = ({ file }: Observation): number =>
  file.events.filter(({ name }) => name === 'GOAL_REACHED').length;

/** A goal is set once and reached once, one after the other, and is in the record exactly while it is not reached. */
export function judgeGoals({ file }: Observation, { goals = [] }: Scenario): readonly string[] {
  const told = file.events.filter(({ name }) => name.startsWith('GOAL_')).map(({ name }) => name);
  const wrong = told.findIndex((name, index) => name !== (index % 2 === 0 ? 'GOAL_SET' : 'GOAL_REACHED'));
  const isSet = told.length % 2 === 1;
  const wanted = isSet ? (goals[(told.length - 1) / 2] ?? null) : null;
  return [
    ...(wrong < 0 ? [] : [`goals out of order: ${told.join(', ')}`]),
    ...(told.length > 2 * goals.length ? [`${told.length} events of ${goals.length} goals`] : []),
    ...(JSON.stringify(file.goal) === JSON.stringify(wanted)
      ? []
      : [`goal ${JSON.stringify(file.goal)} in the record instead of ${JSON.stringify(wanted)}`]),
  ];
}
