import * as agentLoop from './agentLoop.ts';
import * as chat from './chat.ts';
import * as evaluatorOptimizer from './evaluatorOptimizer.ts';
import * as handoffs from './handoffs.ts';
import * as humanApproval from './humanApproval.ts';
import * as inputValidation from './inputValidation.ts';
import * as mapReduce from './mapReduce.ts';
import * as orchestratorWorker from './orchestratorWorker.ts';
import * as parallelization from './parallelization.ts';
import * as promptChaining from './promptChaining.ts';
import * as rag from './rag.ts';
import * as reactAgent from './reactAgent.ts';
import * as retryPolicy from './retryPolicy.ts';
import * as reviewToolCalls from './reviewToolCalls.ts';
import * as routing from './routing.ts';
import * as scheduledReport from './scheduledReport.ts';
import * as streaming from './streaming.ts';
import * as subgraph from './subgraph.ts';
import * as supervisor from './supervisor.ts';
import type { Example } from './support/Example.ts';
import * as twoApprovers from './twoApprovers.ts';

export const examples: Readonly<Record<string, Example>> = {
  promptChaining,
  routing,
  parallelization,
  orchestratorWorker,
  evaluatorOptimizer,
  mapReduce,
  agentLoop,
  reactAgent,
  handoffs,
  humanApproval,
  reviewToolCalls,
  twoApprovers,
  inputValidation,
  subgraph,
  scheduledReport,
  supervisor,
  retryPolicy,
  rag,
  chat,
  streaming,
};
