import type { Gate, Run } from '@devs/core';

/** A gate that a run waits at. */
export interface OpenGate {
  readonly run: Run;
  readonly gate: Gate;
}
