import type { Run } from '@devs/core';
import { maskStart } from '@devs/core/internal';

/** One value at a checkpoint, as text. */
export interface ShownValue {
  readonly name: string;
  readonly text: string;
  /** As it was in the checkpoint before, where it has changed; `null` where it was not there. */
  readonly before: string | null;
  readonly isChanged: boolean;
}

export interface ValuesView {
  readonly checkpointId: string;
  /** What has changed first, then by name. */
  readonly values: readonly ShownValue[];
}

/** Characters of one value that are shown. */
const LONGEST = 20_000;

export function valuesView({
  checkpointId,
  values,
  before,
  changed,
}: Awaited<ReturnType<Run['valuesAt']>>): ValuesView {
  const names = [...new Set([...Object.keys(values), ...changed])].sort();
  const shown = names.map((name): ShownValue => {
    const isChanged = changed.includes(name);
    const text = Object.hasOwn(values, name) ? truncatedValue(values[name]) : '';
    const earlier = isChanged && Object.hasOwn(before, name) ? truncatedValue(before[name]) : null;
    return { name, text, before: earlier, isChanged };
  });
  return { checkpointId, values: shown.toSorted((a, b) => Number(b.isChanged) - Number(a.isChanged)) };
}

function truncatedValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return text.length <= LONGEST ? text : `${maskStart(text, LONGEST)}\n(of ${text.length} characters)`;
}
