import type { BaseStore } from '@langchain/langgraph-checkpoint';
import type { Durability } from '../../config/durability.ts';
import type { Lease } from '../../state/threads/threadRecords.ts';
import type { Breakpoints } from '../breakpoints/Breakpoint.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import type { NamedGates } from '../gates/parsedGates.ts';
import type { EngineGraph } from '../graph/EngineGraph.ts';
import type { DeclaredChanges, GraphShape } from '../graph/graphShape.ts';
import type { EndOfRun, GoalReader, NodeEngine } from '../graph/NodeEngine.ts';
import type { Budget } from '../guards/Budget.ts';
import type { DrivenSaver } from '../saver/DrivenSaver.ts';
import type { SqliteSaver } from '../saver/SqliteSaver.ts';
import type { RunStreams } from '../stream/RunStreams.ts';

/**
 * Everything around the runs of one graph in one state file, made once. Functions take `Pick<Engine, …>` with the
 * members that they use.
 */
export interface Engine
  extends Pick<NodeEngine<unknown>, 'events' | 'maxDepth' | 'faults' | 'now' | 'newId'> {
  /** Compiled. */
  readonly graph: EngineGraph;
  readonly shape: GraphShape;
  /** The name that its runs are recorded under. @defaultValue a run is known by the shape of its graph alone */
  readonly recordedAs?: string | undefined;
  /** Renamed and removed names of earlier versions. @defaultValue an empty declaration */
  readonly graphChanges?: DeclaredChanges | undefined;
  /** Where the graph was compiled to stop. */
  readonly breakpoints: Breakpoints;
  readonly goals: GoalReader;
  /** The end of a complete run, by the values of its graph. Pure. */
  readonly endOf: (values: unknown) => EndOfRun;
  /** Questions that its author has declared. @defaultValue none */
  readonly gates?: NamedGates | undefined;
  /** Of runs that are started without one of their own. */
  readonly budget: Budget;
  /** Of runs that are driven without one of their own. */
  readonly durability: Durability;
  readonly store: EngineStore;
  /** The store its nodes have. @defaultValue none */
  readonly memory?: BaseStore | undefined;
  readonly saver: SqliteSaver &
    Partial<Pick<DrivenSaver, 'hasUncommitted' | 'left' | 'moves' | 'seen' | 'seenValues'>>;
  readonly streams: RunStreams;
  /** @defaultValue a driver holds nothing beside the state file */
  readonly leave?: ReleaseRun | undefined;
}

/** Records how runs go on or end, without `streams` in the state file alone. */
export type RecordingEngine = Pick<Engine, 'store'> & { readonly streams?: RunStreams | undefined };

/** The last act of a driver under its lease: it lets go of what it held beside the state file. */
export type ReleaseRun = (lease: Lease, store: EngineStore) => Promise<void>;
