import type { EventBus } from '../../events/EventBus.ts';
import type { NodeStore } from '../../state/RunStore.ts';
import type { InnerBreakpoints } from '../breakpoints/innerBreakpoints.ts';
import type { EngineFaults } from '../execution/EngineFaults.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import type { GraphProfile } from './GraphProfile.ts';

/** A task of the run's own graph. */
interface BegunTask {
  readonly id: string;
  readonly node: string;
  readonly step: number;
}

/** Everything around a node, given once per compiled graph. */
export interface NodeEngine<State> {
  /** Where a visit is recorded. */
  readonly runs: NodeStore;
  /** The tables, to be read; `null` in plain LangGraph use without a state file. */
  readonly store: EngineStore | null;
  readonly events: EventBus;
  readonly profile: GraphProfile<State>;
  /** Node transitions without progress from which a human is asked. */
  readonly maxDepth: number;
  readonly faults: EngineFaults;
  /** Where the graphs inside its nodes were compiled to stop. @defaultValue nowhere that is known */
  readonly breakpoints?: InnerBreakpoints;
  /** Is told when a task begins. @defaultValue nobody streams */
  readonly streams?: { of(lease: unknown): { taskBegins(task: BegunTask): void } | undefined };
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  readonly newId: () => string;
}
