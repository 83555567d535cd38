import type { DraftDocument, PlanResult, TaskKind } from '../orchestration/ports.ts';
import type { Brief } from './brief.ts';
import type { ProvidedInputs } from './providedInputs.ts';

/** How small work is shown to be right; a new test, unless it says otherwise. */
export interface QuickWork {
  /** @defaultValue 'test-first' */
  readonly kind?: TaskKind;
  /** With `checked-by`: a command without a shell, or `review`. */
  readonly checkedBy?: string;
}

const REQUIREMENT = 'REQ-1';

/** A list item of a brief: what a person who writes one short says that they look for. */
const ITEM = /^\s*[-*] +(?:\[[ x]\] +)?(\S.*)$/;

/**
 * Design and plan of small work, as if they had been given: one task that does what the brief says. Nobody is asked for
 * them and nothing is paid.
 */
export function quickWork({ title, text }: Brief, { kind, checkedBy }: QuickWork): ProvidedInputs {
  const items = text.split('\n').flatMap((line) => ITEM.exec(line)?.[1]?.trim() ?? []);
  const task = {
    key: 'work',
    name: subject(title),
    description: text,
    dependsOn: [],
    requirements: [REQUIREMENT],
    acceptanceCriteria: items.length === 0 ? [title] : [...new Set(items)],
    ...(kind !== undefined && { kind }),
    ...(checkedBy !== undefined && { checkedBy }),
  };
  const tasks: PlanResult = {
    requirements: [{ externalId: REQUIREMENT, description: title }],
    epics: [{ name: subject(title), description: text, tasks: [task] }],
  };
  return { documents: [DESIGN], tasks, research: false };
}

/** Characters of a commit's first line that every tool shows. */
const MAX_SUBJECT = 72;

function subject(title: string): string {
  if (title.length <= MAX_SUBJECT) return title;
  const cut = title.slice(0, MAX_SUBJECT - 1);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), MAX_SUBJECT / 2)).trimEnd()}…`;
}

const DESIGN: DraftDocument = {
  type: 'DESIGN',
  title: 'Small work',
  content:
    'One task does what the brief says, as the code around it does things, and changes nothing else.\n',
};
