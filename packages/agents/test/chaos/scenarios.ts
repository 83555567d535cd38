/** What is driven and killed, and how its gates are decided. */
export interface Scenario {
  readonly name: string;
  /** `example` is examples/own-graph. */
  readonly graph: 'pipeline' | 'example' | 'branches';
  /** Of the pipeline: git, or a cheap stand-in on disk. */
  readonly workspace: 'file' | 'git';
  /** Of the pipeline: a declared policy, or another process. Own graphs are decided by another process. */
  readonly gates: 'auto' | 'human';
  /** Nodes that run at the same time, at most. */
  readonly branches: number;
}

/** A fresh folder for each run, the same id in all of them: their values can be compared. */
export const RUN_ID = 'chaos';

/** Tasks of the pipeline's plan. */
export const TASKS = 2;

const pipeline = (workspace: Scenario['workspace'], gates: Scenario['gates']): Scenario => ({
  name: `pipeline, ${workspace} workspace, gates ${gates}`,
  graph: 'pipeline',
  workspace,
  gates,
  branches: 1,
});

const ownGraph = (graph: 'example' | 'branches', branches: number): Scenario => ({
  name: `own graph, ${graph}`,
  graph,
  workspace: 'file',
  gates: 'human',
  branches,
});

/** Taken in turn; git is slower, so it is one of three. */
export const PIPELINES: readonly Scenario[] = [
  pipeline('file', 'human'),
  pipeline('git', 'auto'),
  pipeline('file', 'auto'),
  pipeline('file', 'human'),
  pipeline('git', 'human'),
  pipeline('file', 'auto'),
];

export const OWN_GRAPHS: readonly Scenario[] = [ownGraph('example', 1), ownGraph('branches', 2)];
