import { Command, END, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { describe, expect, test } from 'vitest';
import { hashOf } from '../../values/canonicalJson.ts';
import { dagArtifact, designArtifact } from '../gates/artifacts.ts';
import { OrchestrationGraph } from '../graph.ts';
import {
  approveDesignNode,
  approveTaskDagNode,
  routeAfterApproveDesign,
  routeAfterApproveTaskDag,
} from '../hitl.ts';
import { feedbackOn } from '../nodes/proposals.ts';
import { type GraphState, type HitlApprovalSignal, OrchestratorAnnotation } from '../types.ts';
import { AT, aChain, anEpic, aState, deepFreeze } from './aState.ts';

const config = { configurable: { thread_id: 'shop' } };

/** One approve node between START and END, over a checkpointer in memory. */
function gateGraph(node: typeof approveDesignNode) {
  return new StateGraph(OrchestratorAnnotation)
    .addNode('gate', node)
    .addEdge(START, 'gate')
    .addEdge('gate', END)
    .compile({ checkpointer: new MemorySaver() })
    .withConfig({ configurable: { __pregel_strict_resume: true } });
}

type GateGraph = ReturnType<typeof gateGraph>;

async function openQuestion(graph: GateGraph) {
  const { tasks } = await graph.getState(config);
  return tasks.flatMap(({ interrupts }) => interrupts).at(-1);
}

const GATES = [
  {
    gate: 'design_approval',
    node: approveDesignNode,
    artifact: designArtifact,
    approved: 'planning',
    rejected: 'specifying',
  },
  {
    gate: 'dag_approval',
    node: approveTaskDagNode,
    artifact: dagArtifact,
    approved: 'implementing',
    rejected: 'planning',
  },
] as const;

const state = deepFreeze(
  aState({
    epics: [anEpic(1)],
    tasks: aChain(2),
    pendingApprovalGate: 'design_approval',
    documents: [
      {
        documentId: 'shop/PRD',
        projectId: 'shop',
        type: 'PRD',
        title: 'PRD',
        content: 'Sell things.',
        status: 'draft',
        version: 1,
        createdAt: AT,
        updatedAt: AT,
      },
    ],
  }),
);

describe.for(GATES)('the gate $gate', ({ gate, node, artifact, approved, rejected }) => {
  test('suspends before it changes anything, and shows what is to be approved', async () => {
    const graph = gateGraph(node);
    await graph.invoke(state, config);
    const shown = artifact(state);
    expect((await openQuestion(graph))?.value).toMatchObject({
      gate,
      kind: gate,
      currentStatus: 'paused_for_approval',
      message: expect.stringMatching(/\w/),
      taskId: 'shop',
      artifact: shown,
      artifactHash: hashOf(shown),
    });
    const { values } = await graph.getState(config);
    expect(values).toMatchObject({ status: 'initializing', hitlDecisions: [] });
  });

  test('approved with a bare resume, appends the decision with the hash it showed', async () => {
    const graph = gateGraph(node);
    await graph.invoke(state, config);
    const signal: HitlApprovalSignal = { approved: true, approvedBy: 'ada', approvedAt: AT };
    const after = await graph.invoke(new Command({ resume: signal }), config);
    expect(after).toMatchObject({
      status: approved,
      projectConfig: { status: approved },
      pendingApprovalGate: null,
      hitlDecisions: [{ gate, signal, decidedAt: AT, artifactHash: hashOf(artifact(state)) }],
      rejections: { design_approval: 0, dag_approval: 0 },
    });
  });

  test('rejected, goes back and counts it', async () => {
    const graph = gateGraph(node);
    await graph.invoke(state, config);
    const after = await graph.invoke(
      new Command({ resume: { approved: false, feedback: 'Smaller.' } }),
      config,
    );
    expect(after).toMatchObject({
      status: rejected,
      projectConfig: { status: rejected },
      pendingApprovalGate: null,
      hitlDecisions: [{ gate, signal: { approved: false, feedback: 'Smaller.' } }],
      rejections: { design_approval: 0, dag_approval: 0, [gate]: 1 },
    });
    expect(after.documents).toEqual(state.documents);
    expect(feedbackOn(after, gate)).toBe('Smaller.');
  });

  const INVALID: readonly (readonly [string, unknown])[] = [
    ['a yes', 'yes'],
    ['true', true],
    ['one', 1],
    ['an object that only gives a reason', { feedback: 'Fine.' }],
    ['a list', [{ approved: true }]],
    ['approved as text', { approved: 'true' }],
    ['approved as a number', { approved: 1 }],
    ['approved as null', { approved: null }],
    ['a word too many', { approved: true, force: true }],
    ['feedback that is no text', { approved: false, feedback: 7 }],
    ['a time that is a number', { approved: true, approvedAt: 1 }],
    ['a name that is an object', { approved: true, approvedBy: { id: 'ada' } }],
    ['the answer of another kind', { action: 'continue' }],
    ['an answer in an envelope', { for: `${gate}/x`, value: { approved: true } }],
    ['the form LangChain revives', { lc: 1, type: 'constructor', id: ['x'], approved: true }],
    ['__proto__', JSON.parse('{"__proto__":{"approved":true}}')],
    ['a misspelling', { aproved: true }],
    ['capitals', { Approved: true }],
    ['a nested answer', { resume: { approved: true } }],
    ['an empty text', ''],
  ];

  test.for(INVALID)(
    'stays open after %s, and takes the valid answer that follows',
    async ([_name, invalid]) => {
      const graph = gateGraph(node);
      await graph.invoke(state, config);
      await graph.invoke(new Command({ resume: invalid }), config);
      expect((await openQuestion(graph))?.value).toMatchObject({ gate });
      expect((await graph.getState(config)).values).toMatchObject({
        status: 'initializing',
        hitlDecisions: [],
      });
      const after = await graph.invoke(new Command({ resume: { approved: true } }), config);
      expect(after).toMatchObject({
        status: approved,
        hitlDecisions: [{ gate, signal: { approved: true } }],
      });
    },
  );

  test('stays open after an empty object, which LangGraph itself refuses', async () => {
    const graph = gateGraph(node);
    await graph.invoke(state, config);
    await expect(graph.invoke(new Command({ resume: {} }), config)).rejects.toThrow(/interrupt/);
    expect((await openQuestion(graph))?.value).toMatchObject({ gate });
  });

  test('stays open through many invalid answers in a row', async () => {
    const graph = gateGraph(node);
    await graph.invoke(state, config);
    for (const [, invalid] of INVALID) await graph.invoke(new Command({ resume: invalid }), config);
    const after = await graph.invoke(new Command({ resume: { approved: true } }), config);
    expect(after.hitlDecisions).toHaveLength(1);
  });

  test('keeps the decisions made before', async () => {
    const graph = gateGraph(node);
    const earlier = { gate, signal: { approved: false }, decidedAt: AT };
    await graph.invoke({ ...state, hitlDecisions: [earlier] }, config);
    const { hitlDecisions } = await graph.invoke(new Command({ resume: { approved: true } }), config);
    expect(hitlDecisions).toMatchObject([earlier, { gate, signal: { approved: true } }]);
  });

  test('masks a secret in what a human says', async () => {
    const graph = gateGraph(node);
    await graph.invoke(state, config);
    const feedback = 'Remove ghp_0123456789abcdefghijklmnopqrstuvwxyz.';
    const { hitlDecisions } = await graph.invoke(
      new Command({ resume: { approved: false, feedback } }),
      config,
    );
    expect(hitlDecisions).toMatchObject([{ signal: { feedback: 'Remove [REDACTED:github].' } }]);
  });
});

describe('the documents', () => {
  test('are approved with the design, and only then', async () => {
    const graph = gateGraph(approveDesignNode);
    await graph.invoke(state, config);
    const { documents } = await graph.invoke(new Command({ resume: { approved: true } }), config);
    expect(documents.map(({ status }) => status)).toEqual(['approved']);
  });
});

describe('in the pipeline', () => {
  const project = OrchestrationGraph.configForProject('shop');
  const say = async (og: OrchestrationGraph, signal: HitlApprovalSignal): Promise<GraphState> =>
    og.graph.invoke(new Command({ resume: signal }), project);

  test('a rejected design is made again, and a rejected DAG too; each is counted', async () => {
    const og = new OrchestrationGraph();
    await og.graph.invoke(aState(), project);
    await say(og, { approved: false, feedback: 'Smaller.' });
    await say(og, { approved: false, feedback: 'Smaller still.' });
    await say(og, { approved: true });
    await say(og, { approved: false });
    const end = await say(og, { approved: true });
    expect(end).toMatchObject({
      status: 'implementing',
      rejections: { design_approval: 2, dag_approval: 1 },
    });
    expect(end.hitlDecisions.map(({ gate, signal }) => `${gate} ${signal.approved}`)).toEqual([
      'design_approval false',
      'design_approval false',
      'design_approval true',
      'dag_approval false',
      'dag_approval true',
    ]);
  });

  test('both routers are reached through the door too', () => {
    expect(routeAfterApproveDesign(aState())).toBe('design');
    expect(routeAfterApproveTaskDag(aState())).toBe('distill');
  });

  test('two answers at once do not pass two gates: the second one is for a gate that is not asked yet', async () => {
    const og = new OrchestrationGraph();
    await og.graph.invoke(aState(), project);
    const { tasks } = await og.graph.getState(project);
    const [{ id }] = tasks.flatMap(({ interrupts }) => interrupts) as [{ id: string }];
    const answer = { [id]: { approved: true } };
    await og.graph.invoke(new Command({ resume: answer }), project);
    await expect(og.graph.invoke(new Command({ resume: answer }), project)).rejects.toThrow(/interrupt/i);
    const { values } = await og.graph.getState(project);
    expect((values as GraphState).hitlDecisions).toHaveLength(1);
  });
});
