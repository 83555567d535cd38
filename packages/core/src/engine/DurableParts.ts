import type { BaseStore } from '@langchain/langgraph-checkpoint';
import type { EventBus } from '../events/EventBus.ts';
import type { Breakpoints } from './breakpoints/Breakpoint.ts';
import type { ReleaseRun } from './drive/DriverDeps.ts';
import type { EndOfRun } from './drive/outcome.ts';
import type { EngineStore } from './EngineStore.ts';
import type { EngineFaults } from './execution/EngineFaults.ts';
import type { NamedGates } from './gates/parsedGates.ts';
import type { GoalReader } from './graph/GraphProfile.ts';
import type { GraphShape } from './graph/graphShape.ts';
import type { Budget } from './guards/Budget.ts';
import type { SqliteSaver } from './saver/SqliteSaver.ts';
import type { RunStreams } from './stream/RunStreams.ts';

/** What an app is made of. */
export interface DurableParts<Graph> {
  readonly graph: Graph;
  readonly shape: GraphShape;
  /** What its runs are recorded as. @defaultValue a run is known by the shape of its graph alone */
  readonly recordedAs?: string | undefined;
  /** Where the graph was compiled to stop. @defaultValue nowhere */
  readonly breakpoints?: Breakpoints;
  /** Node transitions without progress from which a human is asked. */
  readonly maxDepth: number;
  /** Of runs that are started without one of their own. @defaultValue none */
  readonly budget?: Budget;
  /** What its author declared to be asked. @defaultValue nothing */
  readonly gates?: NamedGates;
  readonly store: EngineStore;
  /** The store its nodes have. @defaultValue none */
  readonly memory?: BaseStore | undefined;
  readonly saver: SqliteSaver;
  /** @defaultValue nothing is recorded of what runs stream */
  readonly streams?: RunStreams;
  readonly faults: EngineFaults;
  readonly events: EventBus;
  readonly endOf: (values: unknown) => EndOfRun;
  /** @defaultValue runs are driven as far as they go */
  readonly goals?: GoalReader;
  /** @defaultValue a driver holds nothing beside the state file */
  readonly leave?: ReleaseRun;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  readonly newId: () => string;
  /** Of a copy: whether a live process executes its run. @defaultValue the leases in the file say so */
  readonly isDriven?: boolean | undefined;
}
