import { Command, END } from '@langchain/langgraph';
import { describe, expect, test } from 'vitest';
import {
  designNode,
  distillNode,
  type GraphState,
  implementNode,
  OrchestrationGraph,
  type OrchestratorState,
  researchNode,
  routeAfterVerify,
  verifyNode,
} from '../../src/index.ts';

// What specifications 001 and 003 say of graph.ts, with a state of their fields and no other.

const AT = '2026-01-02T03:04:05.000Z';
const STATE = Object.freeze({
  projectConfig: {
    projectId: 'p',
    name: 'P',
    description: '',
    status: 'initializing',
    createdAt: AT,
    updatedAt: AT,
  },
  documents: [],
  requirements: [],
  epics: [],
  tasks: [],
  agentLogs: [],
  entropy: [],
  activeEpicId: null,
  activeTaskId: null,
  status: 'initializing',
  hitlDecisions: [],
  pendingApprovalGate: null,
  errorHistory: [],
  implementationTurns: 0,
  pendingRecoveryNode: null,
} satisfies Partial<OrchestratorState>) as unknown as GraphState;

const EPIC: GraphState['epics'][number] = {
  epicId: 'e',
  projectId: 'p',
  name: 'E',
  description: '',
  status: 'active',
  phaseNumber: 1,
  requirementIds: [],
};
const TASK: GraphState['tasks'][number] = {
  taskId: 't',
  epicId: 'e',
  name: 'T',
  description: '',
  status: 'in_progress',
  agentRole: 'developer',
  dependsOn: [],
};
const WORKING: GraphState = { ...STATE, epics: [EPIC], tasks: [TASK], activeTaskId: 't' };
const FAILED: GraphState = { ...WORKING, tasks: [{ ...TASK, status: 'failed' }] };

describe('with no other fields than the specified ones', () => {
  test('every node sets its status, or completes its task', () => {
    const nodes = [researchNode, designNode, distillNode, implementNode];
    expect(nodes.map((node) => node(STATE).status)).toEqual([
      'researching',
      'specifying',
      'planning',
      'implementing',
    ]);
    expect(verifyNode(WORKING).tasks).toEqual([{ ...TASK, status: 'completed' }]);
  });

  test('verify is followed by a retry, the next epic, or the end', () => {
    expect(routeAfterVerify(FAILED)).toBe('implement');
    expect(routeAfterVerify({ ...FAILED, epics: [{ ...EPIC, status: 'completed' }] })).toBe('implement');
    expect(routeAfterVerify(WORKING)).toBe('distill');
    expect(routeAfterVerify({ ...WORKING, epics: [{ ...EPIC, status: 'pending' }] })).toBe('distill');
    expect(routeAfterVerify({ ...WORKING, epics: [{ ...EPIC, status: 'failed' }] })).toBe(END);
    expect(routeAfterVerify(STATE)).toBe(END);
    expect(routeAfterVerify({ ...FAILED, pendingRecoveryNode: 'pivot_agent' })).toBe('pivot_agent');
  });

  test('the graph goes through both gates, back from a rejection, and to its end', async () => {
    const { graph } = new OrchestrationGraph();
    const config = OrchestrationGraph.configForProject('p');
    const waitsAt = async (): Promise<readonly string[]> => (await graph.getState(config)).next;
    const answer = (approved: boolean) =>
      graph.invoke(new Command({ resume: { approved, approvedAt: AT } }), config);

    await graph.invoke(STATE, config);
    expect(await waitsAt()).toEqual(['approveDesign']);
    await answer(false);
    expect(await waitsAt()).toEqual(['approveDesign']);
    await answer(true);
    expect(await waitsAt()).toEqual(['approveTaskDag']);
    await answer(false);
    expect(await waitsAt()).toEqual(['approveTaskDag']);
    const { status, projectConfig, hitlDecisions } = await answer(true);
    expect(await waitsAt()).toEqual([]);
    expect([status, projectConfig.status]).toEqual(['implementing', 'implementing']);
    expect(hitlDecisions.map(({ gate, signal }) => [gate, signal.approved])).toEqual([
      ['design_approval', false],
      ['design_approval', true],
      ['dag_approval', false],
      ['dag_approval', true],
    ]);
  });
});
