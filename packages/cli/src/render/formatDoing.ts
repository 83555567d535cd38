const STEPS = phraseMap({
  prepare: 'preparing the folder',
  base: 'reading the files',
  integrated: 'reading the files',
  changes: 'reading the files',
  instructions: 'reading instructions',
  baseline: 'running the baseline checks',
  research: 'writing the research',
  design: 'writing the design',
  designAgain: 'rewriting the design',
  distill: 'writing the plan',
  test: 'writing the test',
  red: 'running the new test before the code',
  before: 'running the checks before the work',
  implement: 'writing the code',
  document: 'writing documentation',
  green: 'running the tests',
  losses: 'comparing the tests',
  review: 'reviewing the code',
  pivot: 'choosing a new strategy',
  pivotAgain: 'choosing another new strategy',
  verify: 'running the checks',
  commit: 'committing',
  deliver: 'delivering',
});

const NODES = phraseMap({
  approveDesign: 'design decision',
  distill: 'plan',
  approveTaskDag: 'plan decision',
  pivot_agent: 'new strategy',
  deliver: 'delivering the branch',
});

/** What a driver does, as people say it: its step, else the node; both by their names where they are somebody's own. */
export const formatDoing = (node: string, step: string | null): string =>
  step === null ? (NODES.get(node) ?? node) : (STEPS.get(step) ?? step);

function phraseMap(of: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(of));
}
