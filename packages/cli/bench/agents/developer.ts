import type { Words } from '../../../agents/test/clis/Turn.ts';
import { type Call, type Hands, handsFor } from './hands.ts';
import type { Change, Job } from './Job.ts';
import type { Called, Talk } from './Talk.ts';

/**
 * The part of the work that a request is for. `whole`: all of it, with the commit. `title`: a CLI wants a name for its
 * session.
 */
export type Part = 'test' | 'code' | 'docs' | 'review' | 'whole' | 'title';

const PARTS: readonly (readonly [RegExp, Part])[] = [
  [/^Stage: write the failing test/m, 'test'],
  [/^Stage: implement/m, 'code'],
  [/^Stage: document/m, 'docs'],
  [/^Stage: review/m, 'review'],
];

/** The last stage that was asked for. */
export function partOf({ tools, entries }: Talk): Part {
  if (tools.length === 0) return 'title';
  const asked = entries.flatMap((entry) => (entry.kind === 'asked' ? [entry.text] : [])).reverse();
  for (const text of asked) for (const [words, part] of PARTS) if (words.test(text)) return part;
  return 'whole';
}

/** Calls of one conversation after which something is wrong. */
const MOST_CALLS = 40;

/** What is said, also several tools at once. */
export type Saying =
  | Words
  | { readonly kind: 'calls'; readonly calls: readonly { readonly name: string; readonly input: unknown }[] };

/**
 * The next step of a developer who knows the right work, and does several things at once where the client says that it may.
 * It looks for what it edits, and reads a file before it edits it; a file whose text it was shown it does not read. The
 * conversation alone decides, so the same developer serves every way to work.
 */
export function nextStep(job: Job, talk: Talk): Saying {
  const hands = handsFor(talk.tools);
  const part = partOf(talk);
  if (part === 'title') return { kind: 'text', text: JSON.stringify({ title: job.name }) };
  const calls = talk.entries.flatMap((entry) => (entry.kind === 'called' ? [entry] : []));
  const asked = talk.entries.flatMap((entry) => (entry.kind === 'asked' ? [entry.text] : [])).join('\n');
  const missing = wanted(job, part, { hands, asked }).filter((step) => !isDone(step, calls));
  if (calls.length > MOST_CALLS)
    throw new Error(`${job.name}, ${part}: comes to no end at ${JSON.stringify(missing[0])}`);
  const end =
    part === 'review'
      ? hands.approve(approval(job, asked))
      : hands.end(part, { summary: `${job.name}: ${part} is done.`, message: job.message });
  if (missing.length === 0) return end;
  const now = atOnce(missing, asked);
  const isLast = now.length === missing.length && now.at(-1)?.kind === 'edit';
  const ends = isLast && end.kind === 'call' && ENDS_WITH_EDITS.test(asked) ? [end] : [];
  return { kind: 'calls', calls: [...now.map(({ call }) => call), ...ends] };
}

/** What clients tell their models. */
const SEVERAL = /in parallel in one response|several tools in one answer/;
const ENDS_WITH_EDITS = /end the stage in the answer with/;

/** Steps that need nothing of each other: several reads, or several edits. */
function atOnce(missing: readonly Step[], asked: string): readonly Step[] {
  const [first] = missing;
  if (!SEVERAL.test(asked) || first?.kind === undefined) return missing.slice(0, 1);
  const end = missing.findIndex(({ kind }) => kind !== first.kind);
  return end === -1 ? missing : missing.slice(0, end);
}

interface Step {
  readonly call: Call;
  readonly kind?: 'read' | 'edit';
  /** Files that its result shows. */
  readonly reads?: string;
  /** Calls that show the same. */
  readonly orDid?: readonly Call[];
  /** May fail and still be done: the first run of a new test. */
  readonly mayFail?: true;
}

/** A call like it succeeded, and no edit of the file it reads was refused since. */
function isDone({ call, reads, orDid = [], mayFail }: Step, calls: readonly Called[]): boolean {
  if (orDid.length > 0 && orDid.every((each) => isDone({ call: each }, calls))) return true;
  const last = calls.findLastIndex(
    ({ name, input, result }) =>
      name === call.name &&
      holds(input, call.input) &&
      result !== null &&
      (mayFail === true || !result.isError),
  );
  if (last === -1) return false;
  if (reads === undefined) return true;
  const isStale = ({ input, result }: Called): boolean =>
    result?.isError === true && JSON.stringify(input).includes(JSON.stringify(reads));
  return !calls.slice(last + 1).some(isStale);
}

/** Clients add what was left out. */
const holds = (input: unknown, asked: Call['input']): boolean =>
  Object.entries(asked).every(([key, value]) => (input as Call['input'])[key] === value);

interface Sight {
  readonly hands: Hands;
  /** All that was asked in words. */
  readonly asked: string;
}

function wanted(job: Job, part: Exclude<Part, 'title'>, sight: Sight): readonly Step[] {
  const { hands, asked } = sight;
  const { code, test, docs, search } = job;
  const looking = { call: hands.search(search.text, search.paths) };
  const known = [...reading(code, sight), ...reading(test, sight)];
  const check = job.checks[0]?.argv.join(' ') ?? '';
  switch (part) {
    case 'test':
      return [...(isToldOf([...code, ...test], asked) ? [] : [looking]), ...known, ...editing(test, hands)];
    case 'code':
      return [...reading(code, sight), ...seeing(test, sight, 'test_diff'), ...editing(code, hands)];
    case 'docs':
      return [...seeing(code, sight, 'diff'), ...reading(docs, sight), ...editing(docs, hands)];
    case 'review':
      return reading(code, sight)
        .slice(0, 1)
        .filter(({ reads = '' }) => !isShownAround(reads, asked));
    case 'whole':
      return [
        looking,
        ...known,
        ...editing(test, hands),
        { call: hands.run(check, 'red'), mayFail: true },
        ...editing(code, hands),
        { call: hands.run(check, 'green') },
        ...reading(docs, sight),
        ...editing(docs, hands),
        { call: hands.run(`git add -A && git commit -q -m ${JSON.stringify(job.message)}`, 'green') },
      ];
  }
}

/** What an earlier stage did: as it wrote it in this conversation, or was told; else it reads the files. */
function seeing(changes: readonly Change[], { hands, asked }: Sight, tag: string): readonly Step[] {
  if (asked.includes(`<${tag}>`)) return [];
  return [...new Set(changes.map(({ path }) => path))].map((path) => ({
    call: hands.read(path),
    reads: path,
    kind: 'read',
    orDid: changes.filter((change) => change.path === path).map((change) => hands.edit(change)),
  }));
}

/** Each file that is there already, once, unless the request shows every passage that is edited. */
function reading(changes: readonly Change[], { hands, asked }: Sight): readonly Step[] {
  const paths = changes.flatMap((change) => ('find' in change ? [change.path] : []));
  const unshown = [...new Set(paths)].filter((path) => !isShown(path, changes, asked));
  return unshown.map((path) => ({ call: hands.read(path), reads: path, kind: 'read' }));
}

/** Whether the request shows where each file that is there is edited. */
const isToldOf = (changes: readonly Change[], asked: string): boolean =>
  changes.every((change) => !('find' in change) || isShown(change.path, changes, asked));

function isShown(path: string, changes: readonly Change[], asked: string): boolean {
  const shown = Array.from(asked.matchAll(FILE), ([, named, text = '']) => (named === path ? text : ''));
  const own = changes.filter((change) => change.path === path);
  return own.every((change) => 'find' in change && shown.some((text) => text.includes(change.find)));
}

const FILE = /^<file path="([^"]+)" from_line="\d+">\n([\s\S]*?\n)<\/file>$/gm;

/** Lines around each change of a file that spare a reviewer from reading it. */
const AROUND = 15;

/** Whether a diff in the request has that many lines around each change of a file. */
function isShownAround(path: string, asked: string): boolean {
  const [, diff = ''] = /^<diff>\n([\s\S]*?)\n<\/diff>$/m.exec(asked) ?? [];
  const [, ...hunks] = (
    diff.split(/^(?=diff --git )/m).find((part) => part.includes(`\n+++ b/${path}\n`)) ?? ''
  ).split(/^@@ -\d+,?\d* \+(?=\d+,?\d* @@)/m);
  return hunks.length > 0 && hunks.every((hunk) => hasAround(hunk.trimEnd().split('\n')));
}

/** At the beginning of a file there are fewer. */
function hasAround([range = '', ...lines]: readonly string[]): boolean {
  const before = lines.findIndex((line) => /^[+-]/.test(line));
  const after = lines.length - 1 - lines.findLastIndex((line) => /^[+-]/.test(line));
  return (before >= AROUND || range.startsWith('1,')) && after >= AROUND;
}

const editing = (changes: readonly Change[], hands: Hands): readonly Step[] =>
  changes.map((change) => ({ call: hands.edit(change), kind: 'edit' }));

/** The criteria as it was told them. */
function criteriaIn(asked: string): readonly string[] {
  const [, list = ''] = /^Acceptance criteria:\n([\s\S]*?)\n<\/task>/m.exec(asked) ?? [];
  return list.split('\n').map((line) => line.replace(/^- /, ''));
}

const approval = (job: Job, asked: string): Call['input'] => ({
  approved: true,
  comments: 'Does what the task says.',
  evidence: criteriaIn(asked).map((criterion) => ({
    criterion,
    shownBy: `${job.test[0]?.path}: its new tests`,
  })),
});
