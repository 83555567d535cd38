import { hash } from 'node:crypto';
import type { StepKey } from './stepRecords.ts';

/** A span is one span however often it is sent: its id is a hash of its run and of its place there. */
const idOf = (parts: readonly (string | number)[], characters: number): string =>
  hash('sha256', JSON.stringify(parts)).slice(0, characters);

/** Of a run, with every turn of it: 32 hex characters. */
export const traceIdOf = (run: string): string => idOf(['trace', run], 32);

/** 16 hex characters. @param place - Empty for the span of the run itself. */
export const spanIdOf = (run: string, ...place: readonly (string | number)[]): string =>
  idOf(['span', run, ...place], 16);

export const stepSpanId = ({ threadId, lgTaskId, name }: StepKey): string =>
  spanIdOf(threadId, 'step', lgTaskId, name);

/** W3C Trace Context of the call of a step. */
export const traceparentOf = (step: StepKey): string =>
  `00-${traceIdOf(step.threadId)}-${stepSpanId(step)}-01`;
