import { join } from 'node:path';
import type { Gate, GateAnswer } from '@devs/core';
import type { Resumed } from './StateFileKind.ts';

export const RUN = 'run';

export const ADA = { kind: 'human', id: 'ada' } as const;

export const stateFileIn = (dir: string): string => join(dir, '.devs', 'state.sqlite');

/** Answers at once or later. */
type Soon<T> = T | Promise<T>;

/** A run and its open state file. */
export interface OpenRun {
  gates(): Soon<readonly Gate[]>;
  decide(gate: Gate, answer: GateAnswer): unknown;
  /** `outcome`: what the run has made so far. */
  drive(): Promise<{ readonly status: string; readonly outcome: unknown }>;
  close(): unknown;
}

/** What a run of an own graph needs of its `DurableApp`. */
interface App<State, Update> {
  run(id: string, input?: Update): Promise<{ readonly status: string; readonly values: State | null }>;
  gates(id: string): Soon<readonly Gate[]>;
  decide(gate: Gate, answer: GateAnswer): unknown;
  close(): unknown;
}

/** The run of an own graph; `input` is read when it is new, `outcomeOf` tells what it has made. */
export function ownRun<State, Update>(
  app: App<State, Update>,
  input: Update,
  outcomeOf: (values: State) => unknown,
): OpenRun {
  return {
    gates: () => app.gates(RUN),
    decide: (gate, answer) => app.decide(gate, answer),
    drive: async () => {
      const { status, values } = await app.run(RUN, input);
      return { status, outcome: values === null ? null : outcomeOf(values) };
    },
    close: () => app.close(),
  };
}

/** Drives a new run to where it waits. */
export async function driveOnce(run: OpenRun): Promise<void> {
  await run.drive();
  await run.close();
}

/** More than any kind takes: an answer that gets lost must not be waited for for ever. */
const MAX_DRIVES = 3;

/** Answers whatever the run waits for, drives it, and so on until it asks nothing more. */
export async function resumeRun(run: OpenRun, answer: object): Promise<Resumed> {
  const answered: string[] = [];
  for (let drives = 1; ; drives += 1) {
    for (const gate of await run.gates()) {
      const said = gate.kind === 'interrupt' ? { value: answer } : answer;
      await run.decide(gate, { ...said, by: ADA } as GateAnswer);
      answered.push(gate.kind);
    }
    const { status, outcome } = await run.drive();
    if (status !== 'waiting' || drives === MAX_DRIVES) {
      await run.close();
      return { answered, status, outcome };
    }
  }
}
