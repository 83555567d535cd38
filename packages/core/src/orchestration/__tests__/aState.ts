import { hashOf } from '../../values/canonicalJson.ts';
import { dagArtifact } from '../gates/artifacts.ts';
import {
  createInitialState,
  type EpicRecord,
  type ErrorRecord,
  type GraphState,
  type HitlDecisionRecord,
  type HitlGate,
  type RequirementRecord,
  type TaskRecord,
} from '../types.ts';

export const AT = '2026-01-02T03:04:05.000Z';

/** A valid state; a test names only the channels it is about. */
export function aState(parts: Partial<GraphState> = {}): GraphState {
  const config = {
    projectId: 'shop',
    name: 'Shop',
    description: 'Sell things.',
    status: 'initializing',
    createdAt: AT,
    updatedAt: AT,
  } as const;
  return { ...createInitialState(config), ...parts };
}

export function aTask(number: number, parts: Partial<TaskRecord> = {}): TaskRecord {
  return {
    taskId: `shop:${number}`,
    epicId: 'shop/epic-1',
    name: `Task ${number}`,
    description: `Do part ${number}.`,
    status: 'pending',
    agentRole: 'developer',
    dependsOn: [],
    ...parts,
  };
}

export function anEpic(number: number, parts: Partial<EpicRecord> = {}): EpicRecord {
  return {
    epicId: `shop/epic-${number}`,
    projectId: 'shop',
    name: `Epic ${number}`,
    description: 'Part of it.',
    status: 'pending',
    phaseNumber: number,
    requirementIds: [],
    ...parts,
  };
}

/** Tasks 1 to `count` of epic 1, each depending on the one before. */
export function aChain(count: number): readonly TaskRecord[] {
  return Array.from({ length: count }, (_, index) =>
    aTask(index + 1, { dependsOn: index === 0 ? [] : [`shop:${index}`] }),
  );
}

/** A project whose plan is made: forty requirements that depend on each other, two epics, six tasks. */
export function aPlannedState(): GraphState {
  const requirements = Array.from({ length: 40 }, (_, index): RequirementRecord => {
    const externalId = `REQ-${index + 1}`;
    const dependsOn = [index - 1, index - 7].filter((other) => other >= 0).map((n) => `shop/REQ-${n + 1}`);
    const description = `Größe ${index} ist „klein“ – 寸法 📏 \\u0000 "quoted"\n`;
    return {
      requirementId: `shop/${externalId}`,
      projectId: 'shop',
      externalId,
      description,
      status: 'pending',
      dependsOn,
    };
  });
  const epics = [
    anEpic(1, { requirementIds: ['shop/REQ-1'] }),
    anEpic(2, { requirementIds: ['shop/REQ-2'] }),
  ];
  const tasks = aChain(6).map((task, index) => ({
    ...task,
    epicId: index < 3 ? 'shop/epic-1' : 'shop/epic-2',
    requirementIds: [`shop/REQ-${index + 1}`],
    acceptanceCriteria: ['It exists.', 'It is tested.'],
  }));
  return aState({ requirements, epics, tasks });
}

export function aDecision(
  gate: HitlGate,
  approved: boolean,
  parts: Partial<HitlDecisionRecord> = {},
): HitlDecisionRecord {
  return { gate, signal: { approved }, decidedAt: AT, ...parts };
}

/** The state as a human has approved its DAG. */
export function withApprovedDag(state: GraphState): GraphState {
  const artifactHash = hashOf(dagArtifact(state));
  return {
    ...state,
    hitlDecisions: [...state.hitlDecisions, aDecision('dag_approval', true, { artifactHash })],
  };
}

export function anError(sourceNode: string, consecutiveCount = 1): ErrorRecord {
  return {
    errorId: 'err-1-2',
    capturedAt: AT,
    sourceNode,
    message: 'No.',
    stackTrace: '',
    kind: 'unknown',
    consecutiveCount,
    taskId: null,
  };
}

/** Freezes a value all through: a node that mutates its input throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}
