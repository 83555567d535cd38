import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import type { EventBus } from '../../events/EventBus.ts';
import type { Lease, Thread } from '../../state/threads/ThreadStore.ts';
import type { Breakpoints } from '../breakpoints/Breakpoint.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { EngineFaults } from '../execution/EngineFaults.ts';
import type { GoalReader } from '../graph/GraphProfile.ts';
import type { GraphShape } from '../graph/graphShape.ts';
import type { RunStreams } from '../stream/RunStreams.ts';
import type { DrivableGraph } from './graphCall.ts';
import type { EndOfRun } from './outcome.ts';
import type { InvokeOptions } from './runInput.ts';

export interface DriverDeps {
  readonly store: EngineStore;
  readonly saver: BaseCheckpointSaver;
  readonly graph: DrivableGraph;
  readonly shape: GraphShape;
  readonly faults: EngineFaults;
  readonly events: EventBus;
  /** The input a run was started with. */
  readonly inputOf: (thread: Thread) => Promise<unknown>;
  /** What it was given besides, for every drive. @defaultValue nothing */
  readonly optionsOf?: () => Promise<InvokeOptions>;
  /** How a run whose graph has nothing left to do has ended. Pure. */
  readonly endOf: (values: unknown) => EndOfRun;
  readonly goals: GoalReader;
  /** @defaultValue nothing is recorded of what runs stream */
  readonly streams?: RunStreams;
  readonly leave?: ReleaseRun | undefined;
  /** Where the graph was compiled to stop. @defaultValue nowhere */
  readonly breakpoints?: Breakpoints;
}

/** What a driver does last under its lease: it lets go of what it held beside the state file. */
export type ReleaseRun = (lease: Lease, store: EngineStore) => Promise<void>;
