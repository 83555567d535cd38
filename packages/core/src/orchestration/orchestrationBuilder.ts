// The pipeline's topology, and nothing else: what a node does is in nodes/, where it leads in routing.ts, what holds
// around every node in graph-runner.ts.

import { END, type RetryPolicy, START, StateGraph } from '@langchain/langgraph';
import { approveDesignNode, approveTaskDagNode } from './hitl.ts';
import { designNode, makeDesignNode } from './nodes/designNode.ts';
import { distillNode, makeDistillNode } from './nodes/distillNode.ts';
import { implementNode, makeImplementNode } from './nodes/implementNode.ts';
import { makePivotNode } from './nodes/pivotNode.ts';
import { makeResearchNode, researchNode } from './nodes/researchNode.ts';
import { makeVerifyNode, verifyNode } from './nodes/verifyNode.ts';
import type { PipelinePorts } from './ports.ts';
import { transientRetryPolicy } from './robustness/classifyError.ts';
import { captureError } from './robustness/errorNode.ts';
import { errorNode, pivotAgentNode } from './robustness.ts';
import {
  type AskingNode,
  routeAfterApproveDesign,
  routeAfterApproveTaskDag,
  routeAfterDesign,
  routeAfterDistill,
  routeAfterErrorNode,
  routeAfterImplement,
  routeAfterPivot,
  routeAfterResearch,
  routeAfterVerify,
} from './routing.ts';
import { OrchestratorAnnotation } from './types.ts';

/**
 * The nine nodes and the edges between them. Every edge but the first is conditional: a router must be able to
 * lead a suspended run to a node that can ask.
 *
 * @param ports - Without agents the nodes only move the project on, so that the whole topology runs with no model.
 */
export function orchestrationBuilder(
  ports: PipelinePorts | null,
  retryPolicy: RetryPolicy = transientRetryPolicy,
) {
  const nodes =
    ports === null
      ? {
          research: researchNode,
          design: designNode,
          distill: distillNode,
          implement: implementNode,
          verify: verifyNode,
          pivot_agent: pivotAgentNode,
        }
      : workingNodes(ports);
  return new StateGraph(OrchestratorAnnotation)
    .addNode('research', nodes.research)
    .addNode('design', nodes.design)
    .addNode('approveDesign', approveDesignNode)
    .addNode('distill', nodes.distill)
    .addNode('approveTaskDag', approveTaskDagNode)
    .addNode('implement', nodes.implement)
    .addNode('verify', nodes.verify)
    .addNode('error', errorNode)
    .addNode('pivot_agent', nodes.pivot_agent)
    .setNodeDefaults({ retryPolicy, errorHandler: captureError })
    .addEdge(START, 'research')
    .addConditionalEdges('research', routeAfterResearch, ['design', ...ASKING])
    .addConditionalEdges('design', routeAfterDesign, ['approveDesign', ...ASKING])
    .addConditionalEdges('approveDesign', routeAfterApproveDesign, ['approveDesign', ...ASKING])
    .addConditionalEdges('distill', routeAfterDistill, ['approveTaskDag', ...ASKING])
    .addConditionalEdges('approveTaskDag', routeAfterApproveTaskDag, ['approveTaskDag', ...ASKING])
    .addConditionalEdges('implement', routeAfterImplement, ['verify', 'pivot_agent', ...ASKING])
    .addConditionalEdges('verify', routeAfterVerify, ['pivot_agent', ...ASKING, END])
    .addConditionalEdges('error', routeAfterErrorNode, ['pivot_agent', ...ASKING])
    .addConditionalEdges('pivot_agent', routeAfterPivot, [...ASKING, END]);
}

/** Where the question of a pending suspension is asked. */
const ASKING: AskingNode[] = ['research', 'design', 'distill', 'implement'];

function workingNodes(ports: PipelinePorts) {
  return {
    research: makeResearchNode(ports),
    design: makeDesignNode(ports),
    distill: makeDistillNode(ports),
    implement: makeImplementNode(ports),
    verify: makeVerifyNode(ports),
    pivot_agent: makePivotNode(ports),
  };
}
