import type { StepKey } from './StepStore.ts';

/** What a call is told as its key: the same in every execution of its visit. */
export const stepKeyOf = ({ threadId, lgTaskId, name }: StepKey): string => `${threadId}/${lgTaskId}/${name}`;
