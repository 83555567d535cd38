import { join } from 'node:path';
import { GitWorkspace } from '@devs/agents';
import {
  type DurableApp,
  type EventBus,
  type Gate,
  type GateAnswer,
  type GraphState,
  Orchestrator,
  type Workspace,
} from '@devs/core';
import { publishing } from '../../../../examples/own-graph/publishing.ts';
import { type Ask, gatedBranches } from '../../../core/test/support/gatedGraphs.ts';
import { editOf } from './editGate.ts';
import { FileWorkspace } from './FileWorkspace.ts';
import { ModelClient } from './ModelClient.ts';
import { type GoalOptions, isForHuman, RUN_ID, type Scenario } from './scenarios.ts';
import { serverAgents } from './serverAgents.ts';
import { treeChecks } from './treeChecks.ts';

/** As far as it is read here. */
interface CodeReview {
  readonly rejections: readonly unknown[];
  readonly taskIds: readonly string[];
}

export interface SubjectOptions {
  readonly scenario: Scenario;
  /** The run's own folder. */
  readonly dir: string;
  /** The model server's address for this run. */
  readonly model: string;
  /** Of the pipeline: how far this drive goes. */
  readonly goal?: GoalOptions;
}

/** How a drive ended. */
export interface Outcome {
  readonly status: string;
  readonly reason: string | null;
  readonly values: unknown;
  readonly commits: readonly string[];
  /** Id of the workspace's tree; `null` without a workspace. */
  readonly tree: string | null;
}

/** The one run of a folder, whatever its graph is. */
export interface Subject {
  readonly events: EventBus;
  drive(): Promise<Outcome>;
  gates(): Promise<readonly Gate[]>;
  /** What the scenario's human does at a gate. */
  decide(gate: Gate): Promise<void>;
  close(): PromiseLike<void> | void;
}

const APPROVAL = { approved: true, by: { kind: 'human', id: 'reviewer' } } as const;

export function openSubject(options: SubjectOptions): Promise<Subject> | Subject {
  const { scenario, dir } = options;
  if (scenario.graph === 'pipeline') return openPipeline(options);
  const model = new ModelClient(options.model);
  const ask: Ask = (what, text, key) => model.ask(what, { text }, key);
  const file = join(dir, '.devs', 'state.sqlite');
  const input = { topic: 'green tea' };
  if (scenario.graph === 'branches') return ownGraph(gatedBranches(file, ask), input, scenario);
  const world = {
    model: (prompt: string, key: string) => ask('model', prompt, key),
    publish: (post: string, key: string) => ask('publish', post, key),
    announce: async (url: string, key: string) => void (await ask('model', `Announce ${url}`, key)),
  };
  return ownGraph(publishing(file, world), input, scenario);
}

export function workspaceOf({ scenario, dir }: Pick<SubjectOptions, 'scenario' | 'dir'>): Workspace {
  return scenario.workspace === 'git' ? new GitWorkspace({ dir }) : new FileWorkspace(dir);
}

async function openPipeline(options: SubjectOptions): Promise<Subject> {
  const workspace = workspaceOf(options);
  const { gates, review } = options.scenario;
  const devs = await Orchestrator.open({
    dir: join(options.dir, '.devs'),
    agents: serverAgents(new ModelClient(options.model)),
    workspace,
    checks: treeChecks,
  });
  const run = await devs.start({
    id: RUN_ID,
    brief: '# Chaos\n\nSurvive.\n',
    gates: { design: gates, dag: gates },
    ...(review && { review }),
  });
  return {
    events: devs.events,
    async drive() {
      const { status, reason, commits } = await run.resume(options.goal);
      const tree = await (await workspace.open(RUN_ID)).snapshot();
      return {
        status,
        reason,
        values: comparable(await run.state(), options.scenario),
        commits: commits.map(({ subject }) => subject),
        tree,
      };
    },
    gates: async () => (await run.gates()).filter(({ kind }) => isForHuman(options.scenario, kind)),
    async decide(gate) {
      const edit = options.scenario.edits ? editOf(await run.draft(gate)) : null;
      if (edit === null) await run.decide(gate, answerTo(gate));
      else await run.decide(gate, { action: 'edit', ...edit, by: APPROVAL.by });
    },
    close: () => devs.close(),
  };
}

/** Code is sent back once, by what the gate shows: whoever decides, and after whichever kill, decides the same. */
function answerTo({ kind, artifact }: Gate): GateAnswer {
  if (kind !== 'review') return APPROVAL;
  const { rejections, taskIds } = artifact as CodeReview;
  if (rejections.length > 0) return APPROVAL;
  const tasks = taskIds.slice(0, 1).map((taskId) => taskId.replace(`${RUN_ID}:`, 'T'));
  return { approved: false, feedback: 'Once more.', tasks, by: APPROVAL.by };
}

/** A review shows when it was rejected before, and git's commits hold the time they were made. */
function comparable(state: GraphState | null, { workspace }: Scenario): unknown {
  if (state === null) return null;
  const hitlDecisions = state.hitlDecisions.map(({ artifactHash, review, ...decision }) => {
    if (review === undefined) return { ...decision, artifactHash };
    const { from: _from, to: _to, ...about } = review;
    return { ...decision, review: workspace === 'git' ? about : review };
  });
  return { ...state, hitlDecisions };
}

function ownGraph<Graph, State, Update>(
  app: DurableApp<Graph, State, Update>,
  input: Update,
  { durability = 'async' }: Scenario,
): Subject {
  return {
    events: app.events,
    async drive() {
      const { status, reason, values } = await app.run(RUN_ID, input, { durability, throwOnFailure: false });
      return { status, reason, values, commits: [], tree: null };
    },
    gates: () => app.gates(RUN_ID),
    decide: async (gate) => void (await app.decide(gate, APPROVAL)),
    close: () => app.close(),
  };
}
