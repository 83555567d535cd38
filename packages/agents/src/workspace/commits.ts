// Commits of a run: author, message, trailers, and the history of a branch by step.
import type { WorkspacePort } from '@devs/core/internal';
import { type GitRepository, splitNul } from './GitRepository.ts';
import { BASE, readRef } from './refs.ts';

/** Signs the commits of the engine. */
export const DEVS: WorkspacePort.Author = { name: 'devs', email: 'devs@localhost' };

/** The author; whoever it is, the engine commits. */
export function signedBy({ name, email }: WorkspacePort.Author): Readonly<Record<string, string>> {
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: DEVS.name,
    GIT_COMMITTER_EMAIL: DEVS.email,
  };
}

/** Author and committer: the owner of the key signs. */
export function committedBy({ name, email }: WorkspacePort.Author): Readonly<Record<string, string>> {
  return { ...signedBy({ name, email }), GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
}

/** Author and committer date, whole seconds, UTC. */
export function signedAt(date: Date): Readonly<Record<string, string>> {
  const value = `@${Math.floor(date.getTime() / 1000)} +0000`;
  return { GIT_AUTHOR_DATE: value, GIT_COMMITTER_DATE: value };
}

/** @throws RangeError for a name or address that git would not keep as it is. */
export function requireAuthor({ name, email }: WorkspacePort.Author): void {
  if ([name, email].every((part) => /^[^<>\p{Cc}]*[^<>\p{Cc}\s][^<>\p{Cc}]*$/u.test(part))) return;
  throw new RangeError(
    `Expected an author's name and address in one line, got ${JSON.stringify([name, email])}.`,
  );
}

/** @throws RangeError for what is no id of a git object. */
export function requireObjectId(name: string, value: string): void {
  if (/^[0-9a-f]{40}$/.test(value)) return;
  throw new RangeError(`Expected ${name} to be a git object id, got ${JSON.stringify(value)}.`);
}

/** @throws RangeError for what cannot stand on the last line of a message. */
export function requireOneLine(stepKey: string): void {
  if (/^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/.test(stepKey)) return;
  throw new RangeError(
    `Expected stepKey to be 1 to 200 printable ASCII characters, got ${JSON.stringify(stepKey)}.`,
  );
}

/** Stands alone on the last line of a commit's message, so a message that mentions a key cannot be mistaken for one. */
export const STEP_TRAILER = 'Devs-Step: ';

// Controls but tab and line feed, marks that turn the direction of a text, and separators that some show as a line's end.
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what is looked for
const UNSEEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * The last paragraph of a task's message: trailers of the pipeline, and usual ones of the repository. Agents cannot sign for
 * a person in it.
 */
const TASK_TRAILER = /^(?!Signed-off-by|Co-authored-by|Reviewed-by|Acked-by|Change-Id)[A-Z][A-Za-z-]*[a-z]: /;
const PIPELINE_TRAILER = /^Devs-(?:Task|Agents): /;

/**
 * A commit's message. The trailer is in the last paragraph, beside those of the pipeline and nobody else's: what ends the
 * message before it, a `Signed-off-by: …` of an agent for one, is none.
 */
export function messageWith(trailer: string, message: string): string {
  const text = message.replaceAll('\r\n', '\n').replaceAll(UNSEEN, '').trim() || 'Step';
  const [, ...paragraphs] = text.split('\n\n');
  const last = paragraphs.at(-1)?.split('\n') ?? [];
  const isOurs = PIPELINE_TRAILER.test(last.at(-1) ?? '') && last.every((line) => TASK_TRAILER.test(line));
  return `${text}${isOurs ? '\n' : '\n\n'}${trailer}\n`;
}

/** Text of a commit, its id before it. */
const ID_AND_MESSAGE = '--format=%H %B';

/** The commits of a run, by the step that made them. */
export class StepCommits {
  readonly #git: GitRepository;

  constructor(git: GitRepository) {
    this.#git = git;
  }

  /** One entry per commit of the run's own, newest first unless `format` says otherwise. */
  async history(tip: string | null, format: readonly string[]): Promise<readonly string[]> {
    if (tip === null) return [];
    const base = await readRef(this.#git, BASE);
    return this.#log([...format, tip, ...(base === null ? [] : [`^${base}`])]);
  }

  async find(tip: string | null, stepKey: string): Promise<string | null> {
    const entries = await this.history(tip, [ID_AND_MESSAGE]);
    const found = entries.find((entry) => stepOf(entry) === stepKey);
    return found === undefined ? null : commitIdOf(found);
  }

  /** For each commit that the branch does not have, the one of the same step that it has. */
  async successors(
    commits: readonly string[],
    tip: string | null,
  ): Promise<Readonly<Record<string, string>>> {
    const entries = await this.history(tip, [ID_AND_MESSAGE]);
    const here = new Set(entries.map(commitIdOf));
    const gone = commits.filter((commit) => !here.has(commit));
    if (gone.length === 0) return {};
    const byStep = new Map(entries.map((entry) => [stepOf(entry), commitIdOf(entry)]));
    const before = await this.#log(['--no-walk=unsorted', ID_AND_MESSAGE, ...gone]);
    const pairs = before.flatMap((entry) => {
      const step = stepOf(entry);
      const now = step === null ? undefined : byStep.get(step);
      return now === undefined ? [] : [[commitIdOf(entry), now] as const];
    });
    return Object.fromEntries(pairs);
  }

  async #log(args: readonly string[]): Promise<readonly string[]> {
    const text = await this.#git.run(['log', '-z', ...args, '--']);
    return splitNul(text);
  }
}

const commitIdOf = (entry: string): string => entry.slice(0, 40);

function stepOf(entry: string): string | null {
  const text = entry.trimEnd();
  const start = text.lastIndexOf('\n') + 1;
  return start > 0 && text.startsWith(STEP_TRAILER, start) ? text.slice(start + STEP_TRAILER.length) : null;
}

/** On the last line of the message of a commit that holds a person's changes. */
const ADOPTED_TRAILER = 'Devs-Adopted: ';

/** On the line before it, where agents had left more in the folder: the tree of the folder as the person had it. */
export const FOUND_TRAILER = 'Devs-Found: ';

/** Message of the commit by which earlier releases made what agents had left uncommitted a part of the branch. */
const UNVERIFIED = 'Work in progress, not verified';

export interface BranchCommit {
  readonly sha: string;
  /** `null` for the first commit of a run that began empty. */
  readonly parent: string | null;
  readonly tree: string;
  /** A person's changes are `on-unverified` where they were made beside, or on, what agents had left uncommitted. */
  readonly kind: 'adopted' | 'on-unverified' | 'unverified' | 'other';
}

/** @param found - Tree of the folder, where the commit has another one. */
export const adoptedMessage = (message: string, principal: string, found: string | null = null): string =>
  messageWith(
    `${found === null ? '' : `${FOUND_TRAILER}${found}\n`}${ADOPTED_TRAILER}${principal.replaceAll(/[\s\p{Cc}]+/gu, ' ')}`,
    message,
  );

/** @param message - Its lines, without blank ones at the end. */
export const isAdoption = (message: readonly string[]): boolean =>
  message.at(-1)?.startsWith(ADOPTED_TRAILER) === true;

/** The tree of the folder that an adoption found; `null` where the commit has that tree. */
export function foundTree(message: readonly string[]): string | null {
  const line = message.at(-2) ?? '';
  return line.startsWith(FOUND_TRAILER) ? line.slice(FOUND_TRAILER.length) : null;
}

/** A run's own commits, newest first. */
export async function branchHistory(
  steps: StepCommits,
  tip: string | null,
): Promise<readonly BranchCommit[]> {
  const entries = await steps.history(tip, ['--topo-order', '--format=%H%n%P%n%T%n%B']);
  return entries.map((entry) => commitFrom(entry.trimEnd().split('\n')));
}

function commitFrom([sha = '', parents = '', tree = '', ...message]: readonly string[]): BranchCommit {
  const [parent = ''] = parents.split(' ');
  return { sha, parent: parent || null, tree, kind: commitKind(message) };
}

function commitKind(message: readonly string[]): BranchCommit['kind'] {
  if (isAdoption(message)) return foundTree(message) === null ? 'adopted' : 'on-unverified';
  return message.length === 1 && message[0] === UNVERIFIED ? 'unverified' : 'other';
}
