import type { GateEdit } from '@devs/core';

type DocumentsEdit = Extract<GateEdit, { readonly documents: unknown }>;
type PlanEdit = Extract<GateEdit, { readonly plan: unknown }>;

/** What a human makes of what a gate shows; `null` when it is that already. */
export function editOf(draft: GateEdit): GateEdit | null {
  return 'plan' in draft ? editOfPlan(draft) : editOfDocuments(draft);
}

const CONTENT = 'As a human wants it.';

function editOfDocuments({ documents }: DocumentsEdit): DocumentsEdit | null {
  if (documents.some(({ content }) => content === CONTENT)) return null;
  return { documents: documents.map((document) => ({ ...document, content: CONTENT })) };
}

const FIRST = 'Task of a human';

/** One task more, which comes first and which all others wait for. */
function editOfPlan({ plan }: PlanEdit): PlanEdit | null {
  const [epic, ...epics] = plan.epics;
  const [task] = epic?.tasks ?? [];
  if (epic === undefined || task === undefined) throw new Error('The plan has no task.');
  if (task.name === FIRST) return null;
  const first = { ...task, key: 'first', name: FIRST, dependsOn: [] };
  const rest = epic.tasks.map((each) => ({ ...each, dependsOn: [...each.dependsOn, first.key] }));
  return { plan: { ...plan, epics: [{ ...epic, tasks: [first, ...rest] }, ...epics] } };
}
