const STEPS = words({
  prepare: 'preparing the folder',
  base: 'looking at the files',
  integrated: 'looking at the files',
  changes: 'looking at the files',
  instructions: 'reading instructions',
  baseline: 'running the checks before any work',
  research: 'writing the research',
  design: 'writing the design',
  designAgain: 'writing the design again',
  distill: 'making the plan',
  test: 'writing the test',
  red: 'running the test before the code',
  before: 'running the checks before the work',
  implement: 'writing the code',
  document: 'writing documentation',
  green: 'running the tests',
  losses: 'comparing the tests',
  review: 'reviewing the code',
  pivot: 'looking for another strategy',
  pivotAgain: 'looking for yet another strategy',
  verify: 'running the checks',
  commit: 'committing',
  deliver: 'delivering',
});

const NODES = words({
  approveDesign: 'decision on the design',
  distill: 'plan',
  approveTaskDag: 'decision on the plan',
  pivot_agent: 'another strategy',
  deliver: 'delivering the branch',
});

/** What a driver does, as people say it: its step, else the node; both by their names where they are somebody's own. */
export const doingWords = (node: string, step: string | null): string =>
  step === null ? (NODES.get(node) ?? node) : (STEPS.get(step) ?? step);

function words(of: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(of));
}
