// The message of a task's commit: the agent's where it is as the repository has them, else one that is made of the plan.

import { singleLine } from '../task/openWorkspace.ts';
import type { TaskRecord } from '../types.ts';
import type { CommitStyle } from './commitStyle.ts';

const CONVENTIONAL = /^(?<type>[a-z]+)(?:\((?<scope>[^()]+)\))?!?: (?<text>\S.*)$/;

/** Lines that the engine finds its own commits by. */
const ENGINE_TRAILER = /^Devs-[A-Z][A-Za-z-]*: /m;

/** Problems of a message in a style, in words for its author. */
export function messageProblems(style: CommitStyle | null, message: string): readonly string[] {
  const [subject = '', second = '', ...body] = message.trim().split('\n');
  const problems = subjectProblems(style, subject);
  if (second.trim() !== '') problems.push('the second line is not empty');
  if (body.join('').trim() === '') problems.push('there is no body that says why');
  if (ENGINE_TRAILER.test(message))
    problems.push('a line begins with `Devs-`, which marks lines of the engine');
  return problems;
}

function subjectProblems(style: CommitStyle | null, subject: string): string[] {
  const maxSubject = style?.maxSubject ?? 100;
  const problems: string[] = [];
  if (subject.trim() === '') problems.push('the first line is empty');
  if (subject.length > maxSubject)
    problems.push(`the first line has ${subject.length} characters, ${maxSubject} are the most`);
  if (subject.endsWith('.')) problems.push('the first line ends with a full stop');
  if (style?.form === 'conventional') problems.push(...prefixProblems(style, subject));
  return problems;
}

/** Of `type(scope): `. */
function prefixProblems(
  { types, scopes, scopesAreClosed }: Pick<CommitStyle, 'types' | 'scopes' | 'scopesAreClosed'>,
  subject: string,
): readonly string[] {
  const problems: string[] = [];
  const { type, scope } = CONVENTIONAL.exec(subject)?.groups ?? {};
  if (type === undefined) problems.push('the first line is no `type: text`');
  else if (!types.includes(type)) problems.push(`the type is none of ${types.join(', ')}`);
  if (scopesAreClosed && scope !== undefined && !scopes.includes(scope))
    problems.push(`the scope is none of ${scopes.join(', ')}`);
  return problems;
}

export interface CommitSubject {
  readonly task: Pick<TaskRecord, 'name' | 'description' | 'kind' | 'commitMessage'>;
  /** Of the task, where its name is blank. */
  readonly label: string;
  /** How often people sent its code back. */
  readonly rework: number;
  /** Files that the work changes, as far as they are known. */
  readonly files: readonly string[];
}

/** A message in parts. */
export interface CommitWords {
  /** First line and body. */
  readonly text: string;
  /** The agent's lines for usual trailers of the repository. */
  readonly trailers: readonly string[];
}

export function commitWords(style: CommitStyle | null, commit: CommitSubject): CommitWords {
  const { commitMessage: said = '', description } = commit.task;
  const [saidSubject = '', ...saidBody] = said.trim().split('\n');
  const isSubjectFit = said !== '' && subjectProblems(style, saidSubject).length === 0;
  const subject = isSubjectFit ? singleLine(saidSubject) : plannedSubject(style, commit);
  const { why, trailers } = withoutTrailers(saidBody.join('\n').trim(), style?.trailers ?? []);
  const body = why === '' || ENGINE_TRAILER.test(why) ? description : why;
  const parts = [subject, wrapped(body.trim(), style?.maxLine ?? 72)];
  return { text: parts.filter((part) => part !== '').join('\n\n'), trailers };
}

function withoutTrailers(
  body: string,
  names: readonly string[],
): { readonly why: string; readonly trailers: readonly string[] } {
  const paragraphs = body.split(/\n\n+/);
  const last = paragraphs.at(-1)?.split('\n') ?? [];
  const areTrailers =
    names.length > 0 && last.every((line) => names.some((name) => line.startsWith(`${name}: `)));
  if (!areTrailers) return { why: body, trailers: [] };
  return { why: paragraphs.slice(0, -1).join('\n\n'), trailers: last };
}

function plannedSubject(style: CommitStyle | null, { task, label, rework, files }: CommitSubject): string {
  const name = singleLine(task.name) || label;
  const again = rework === 0 ? '' : ` (rework ${rework})`;
  if (style === null) return `${name}${again}`;
  const prefix = style.form === 'conventional' ? `${typeOf(style, task, files)}: ` : '';
  const text = (
    prefix === '' && style.capital === null ? name : withCase(name, style.capital ?? false)
  ).replace(/\.+$/, '');
  return `${prefix}${cutAtWord(text, style.maxSubject - prefix.length - again.length)}${again}`;
}

/** A name such as `HTTP` or `parseRow` keeps its letters. */
const withCase = (text: string, capital: boolean): string => {
  const [word = ''] = text.split(' ');
  if (/^\p{Lu}\p{Ll}*$/u.test(word) && !capital) return text.charAt(0).toLowerCase() + text.slice(1);
  if (/^\p{Ll}+$/u.test(word) && capital) return text.charAt(0).toUpperCase() + text.slice(1);
  return text;
};

const DOCUMENT = /(?:\.(?:md|mdx|rst|adoc)|(?:^|\/)(?:LICENSE|CHANGELOG))$/i;

function typeOf(
  { types }: CommitStyle,
  { name, description, kind }: CommitSubject['task'],
  files: readonly string[],
): string {
  const isDocs = files.length > 0 && files.every((path) => DOCUMENT.test(path));
  const isFix = /\b(?:fix(?:es|ed)?|bug|repair|mend|correct|wrong|crash\w*|regression)\b/i.test(
    `${name}\n${description}`,
  );
  const wanted = isDocs ? 'docs' : kind === 'behaviour-kept' ? 'refactor' : isFix ? 'fix' : 'feat';
  return [wanted, 'feat', 'chore'].find((type) => types.includes(type)) ?? types[0] ?? wanted;
}

function cutAtWord(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most);
  const end = cut.lastIndexOf(' ');
  return (end > most / 2 ? cut.slice(0, end) : cut).replace(/[\s,;:]+$/, '');
}

/** Paragraphs and list items in lines of a length; longer words and indented lines stay whole. */
export function wrapped(text: string, most: number): string {
  return text
    .split('\n')
    .flatMap((line) => (line.length <= most || /^(?: {4}|\t)/.test(line) ? [line] : wrappedLine(line, most)))
    .join('\n');
}

function wrappedLine(line: string, most: number): readonly string[] {
  const [indent = ''] = /^\s*(?:[-*] )?/.exec(line) ?? [];
  const lines: string[] = [];
  let current = '';
  for (const word of line.trim().split(/\s+/)) {
    const next = current === '' ? word : `${current} ${word}`;
    if (next.length > most && current !== '') {
      lines.push(current);
      current = `${' '.repeat(indent.length)}${word}`;
    } else current = next;
  }
  return [...lines, current];
}
