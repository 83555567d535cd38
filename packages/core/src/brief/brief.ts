import { z } from 'zod';
import { lateSchema } from '../config/lateSchema.ts';
import { scrub } from '../masking/scrub.ts';
import { assertPlan } from '../orchestration/nodes/plan.ts';
import type { DraftDocument, PlanResult, TaskKind } from '../orchestration/ports.ts';
import { hashOf, sha256Hex } from '../values/canonicalJson.ts';

/** What a human asked for. */
export interface Brief {
  /** The first heading, or the first line. */
  readonly title: string;
  /** Markdown, without its secrets. */
  readonly text: string;
  /** SHA-256 (hex) of `text`. */
  readonly sha256: string;
  /** Places where there was one. */
  readonly redacted: number;
}

/** Longest brief, in characters: what a person writes, not a repository. */
const MAX_BRIEF_LENGTH = 256 * 1024;

const briefText = lateSchema(() =>
  z
    .string()
    .max(MAX_BRIEF_LENGTH, `The brief is longer than ${MAX_BRIEF_LENGTH} characters.`)
    .refine((text) => text.trim() !== '', 'The brief is empty.'),
);

/** @throws TypeError if the text is empty or longer than 256 Ki characters. */
export function parseBrief(markdown: string): Brief {
  const parsed = briefText().safeParse(markdown);
  if (!parsed.success) throw new TypeError(parsed.error.issues.map(({ message }) => message).join(' '));
  const { value: text, count: redacted } = scrub(parsed.data);
  return { title: briefTitle(text), text, sha256: sha256Hex(text), redacted };
}

/** An id for a run of this brief: the same brief gives the same id. `[a-z0-9-]` only. */
export function runIdOf({ title, sha256 }: Brief): string {
  const slug = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  return `${slug || 'run'}-${sha256.slice(0, 6)}`;
}

/** The id of a run that `start` would give this text. @throws TypeError as {@link parseBrief}. */
export const runIdOfText = (markdown: string): string => runIdOf(parseBrief(markdown));

function briefTitle(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  const heading = lines.find((line) => line.startsWith('# '));
  return (heading?.slice(2) ?? lines.find((line) => line !== '') ?? '').trim();
}

// What a run starts with in place of the work of its first stages: documents and plans of a person, or of small work.

/** Documents or a plan of a person, used instead of a stage's output. */
export interface ProvidedInputs {
  /** Read at the design gate; research and design are skipped. */
  readonly documents?: readonly DraftDocument[];
  /** Read at the plan gate; without documents, all earlier stages are skipped. */
  readonly tasks?: PlanResult;
  /** `false` writes the design from the brief alone. @defaultValue true */
  readonly research?: boolean;
}

export interface CheckedInputs extends ProvidedInputs {
  /** SHA-256 (hex) of what is given here, which is without secrets; `null` for nothing. */
  readonly sha256: string | null;
  /** Places where there was one. */
  readonly redacted: number;
}

/**
 * Checks what was given, before anything is recorded.
 *
 * @throws TypeError for a document without type or content, a type given twice, another brief, a plan without tasks.
 * @throws DevsError `DAG_INVALID` for a plan that cannot become tasks.
 */
export function parseProvidedInputs({
  documents = [],
  tasks,
  research = true,
}: ProvidedInputs): CheckedInputs {
  assertDocuments(documents);
  if (tasks !== undefined) assertGivenPlan(tasks);
  const { value: given, count: redacted } = scrub(providedParts({ documents, tasks }));
  const isNothing = documents.length === 0 && tasks === undefined;
  return { ...given, research, sha256: isNothing ? null : hashOf(given), redacted };
}

/** What is hashed of what is given. */
export const providedParts = ({
  documents = [],
  tasks,
}: {
  readonly documents?: ProvidedInputs['documents'];
  readonly tasks?: ProvidedInputs['tasks'] | undefined;
}) => ({
  ...(documents.length > 0 && { documents }),
  ...(tasks !== undefined && { tasks }),
});

function assertDocuments(documents: readonly DraftDocument[]): void {
  const types = documents.map(({ type }) => type);
  const twice = types.find((type, index) => types.indexOf(type) !== index);
  if (twice !== undefined) throw new TypeError(`Two documents have the type ${twice}.`);
  if (types.includes('BRIEF'))
    throw new TypeError('A document cannot have the type BRIEF, which is reserved for the brief.');
  const empty = documents.find(({ type, content }) => type.trim() === '' || content.trim() === '');
  if (empty !== undefined)
    throw new TypeError(`A document needs a type and content, got ${documentName(empty)}.`);
}

const documentName = ({ type, title }: DraftDocument): string => JSON.stringify(type || title);

function assertGivenPlan(plan: PlanResult): void {
  if (plan.epics.length === 0) throw new TypeError('The plan has no epics.');
  assertPlan(plan);
}

/** How small work is shown to be right; a new test, unless it says otherwise. */
export interface QuickWork {
  /** @defaultValue 'test-first' */
  readonly kind?: TaskKind;
  /** With `checked-by`: a command without a shell, or `review`. */
  readonly checkedBy?: string;
}

const REQUIREMENT = 'REQ-1';

/**
 * A list item of a brief, with its further lines, which are indented: what a person who writes one short says that they
 * look for.
 */
const ITEM = /^[ \t]*[-*] +(?:\[[ x]\] +)?(\S.*(?:\n[ \t]+(?![-*] |```)\S.*)*)/gm;

/**
 * Design and plan of small work, as if they had been given: one task that does what the brief says. Nobody is asked for
 * them and nothing is paid.
 */
export function quickWork({ title, text }: Brief, { kind, checkedBy }: QuickWork): ProvidedInputs {
  const items = [...text.matchAll(ITEM)].map(([, item = '']) => item.trim().replaceAll(/\s*\n\s*/g, ' '));
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
