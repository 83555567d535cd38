import type { Observation } from './observe.ts';

export interface Verdict {
  /** Calls that were in flight at the kill before and were made again. */
  readonly inFlight: number;
  readonly violations: readonly string[];
}

/** Judges what a driver left against what the one before it had left. */
export function judge(before: Observation, after: Observation): Verdict {
  const made = after.calls.slice(before.calls.length);
  const again = made.filter((key) => before.calls.includes(key) && !before.recorded.has(key));
  return {
    inFlight: again.length,
    violations: [
      ...lostEvents(after).map((event) => `acknowledged event was lost: ${event}`),
      ...[...before.recorded]
        .filter((key) => !after.recorded.has(key))
        .map((key) => `recorded step was lost: ${key}`),
      ...made.filter((key) => before.recorded.has(key)).map((key) => `recorded call was repeated: ${key}`),
      ...(again.length > 1 ? [`${again.length} calls in flight were repeated: ${again.join(', ')}`] : []),
      ...(after.sound ? [] : ['state file is damaged: devs doctor reports a problem']),
    ],
  };
}

/** Each event is held as often as it was told. */
function lostEvents({ told, logged }: Observation): readonly string[] {
  const left = new Map<string, number>();
  for (const event of logged) left.set(event, (left.get(event) ?? 0) + 1);
  return told.filter((event) => {
    const count = (left.get(event) ?? 0) - 1;
    left.set(event, count);
    return count < 0;
  });
}
