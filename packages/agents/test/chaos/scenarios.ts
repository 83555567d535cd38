import type { DriveRunOptions, StartOptions } from '@devs/core';

type ReviewScope = Exclude<NonNullable<StartOptions['review']>, 'none'>;

/** How far a run is driven. */
export type GoalOptions = Pick<DriveRunOptions, 'until' | 'only' | 'epic'>;

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
  /** Of own graphs. */
  readonly durability?: 'sync' | 'async';
  /** A human puts a version of their own in the place of what a gate of the pipeline shows, then approves that. */
  readonly edits?: true;
  /** How far the pipeline is driven, one after the other; then to its end. */
  readonly goals?: readonly GoalOptions[];
  /** Of the pipeline: after what a human sends the code back once, and then approves it. */
  readonly review?: ReviewScope;
}

/** A driver killed in front of its policy leaves a gate open that is the next driver's to decide, not the reviewer's. */
export const isForHuman = ({ gates, review }: Scenario, kind: string): boolean =>
  gates === 'human' || review === undefined || kind === 'review';

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

const ownGraph = (
  graph: 'example' | 'branches',
  branches: number,
  durability: 'sync' | 'async',
): Scenario => ({
  name: `own graph, ${graph}, ${durability}`,
  graph,
  durability,
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

/** To every kind of place a run can be driven to. The edited plan begins with its third task. */
const GOALS: readonly GoalOptions[] = [{ until: 'design' }, { until: 'dag' }, { only: 'T3' }, { epic: 'E1' }];

const edited = (workspace: Scenario['workspace'], goals?: readonly GoalOptions[]): Scenario => ({
  ...pipeline(workspace, 'human'),
  name: `pipeline, ${workspace} workspace, edited${goals === undefined ? '' : ', goal by goal'}`,
  edits: true,
  ...(goals && { goals }),
});

/** Humans who do more than approve; the first is the shortest. */
export const HUMANS: readonly Scenario[] = [
  edited('file', [{ until: 'dag' }, { only: 'T3' }]),
  edited('git', GOALS),
  edited('file'),
];

const reviewed = (review: ReviewScope, workspace: Scenario['workspace']): Scenario => ({
  ...pipeline(workspace, 'auto'),
  name: `pipeline, ${workspace} workspace, review after every ${review}`,
  review,
});

/** Humans who read the code. */
export const REVIEWERS: readonly Scenario[] = [
  reviewed('task', 'file'),
  reviewed('epic', 'git'),
  reviewed('task', 'git'),
  reviewed('epic', 'file'),
];

export const OWN_GRAPHS: readonly Scenario[] = [
  ownGraph('example', 1, 'async'),
  ownGraph('branches', 2, 'async'),
  ownGraph('example', 1, 'sync'),
  ownGraph('branches', 2, 'sync'),
];
