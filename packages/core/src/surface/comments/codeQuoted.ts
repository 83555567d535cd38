import {
  comments,
  placeNamed,
  type QuotableSection,
  type QuotableSections,
} from '../../engine/gates/comments.ts';
import type { Gate } from '../../engine/gates/Gate.ts';
import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import { scrub } from '../../masking/scrub.ts';
import type { CodeReview } from '../../orchestration/CodeReview.ts';
import type { CodeOfRuns } from '../../orchestration/ports.ts';

// What a code review shows lies in git: its session names commits and holds no line of them.

/** Reads a file of a run's commit, without its secrets, as comments on it are recorded; `null` where there is none. */
export type ReadQuotedCode = (commit: string, path: string) => Promise<string | null>;

/** `null` where nobody said where the code of runs is. */
export function codeReader(threadId: string, code: CodeOfRuns | null): ReadQuotedCode | null {
  const readAt = code?.readAt?.bind(code);
  if (readAt === undefined) return null;
  return async (commit, path) => {
    const text = await readAt(threadId, commit, path);
    return text === null ? null : scrub(text).value;
  };
}

/** What a code review shows of its code, unmasked; `undefined` at other gates, and where no code can be read. */
export async function reviewedCode(
  { kind, threadId, artifact }: Reviewed,
  code: CodeOfRuns | null,
): Promise<string | undefined> {
  if (kind !== 'review') return undefined;
  const { from, to } = (artifact as CodeReview).range;
  try {
    return await code?.diff?.(threadId, { from, to });
  } catch (error) {
    // Nobody is shown it either.
    if (isDevsError(error, 'WORKSPACE_FAILED')) return undefined;
    throw error;
  }
}

type Reviewed = Pick<Gate, 'kind' | 'threadId' | 'artifact'>;

/** The files that a code review shows first; none at other gates, and where no code can be read. */
export async function shownFiles(
  gate: Reviewed,
  read: ReadQuotedCode | null,
): Promise<readonly QuotableSection[]> {
  if (gate.kind !== 'review' || read === null) return [];
  const { files } = (gate.artifact as CodeReview).range;
  return filePlaces(gate, { paths: files.map(({ path }) => path), read });
}

/**
 * The files that comments on a code review quote, of an answer that may be anything.
 *
 * @param places - What its session holds.
 * @throws DevsError `CONFIG_INVALID` where the code cannot be read: what is quoted could not be looked for.
 */
export async function quotedFiles(
  gate: Reviewed,
  answer: { readonly comments?: unknown },
  { places, read }: { readonly places: QuotableSections; readonly read: ReadQuotedCode | null },
): Promise<readonly QuotableSection[]> {
  const given = comments().safeParse(answer.comments);
  if (!given.success) return [];
  const own = places(gate.artifact);
  const names = new Set(given.data.map(({ in: name }) => name));
  const paths = [...names].filter((name) => placeNamed(own, name) === null);
  if (paths.length === 0) return [];
  if (read === null) throw codeUnreadable(gate);
  return filePlaces(gate, { paths, read });
}

/** Of those that are other files now than before the range. */
async function filePlaces(
  { artifact }: Reviewed,
  { paths, read }: { readonly paths: readonly string[]; readonly read: ReadQuotedCode },
): Promise<readonly QuotableSection[]> {
  const { from, to } = (artifact as CodeReview).range;
  const places: QuotableSection[] = [];
  for (const path of paths) {
    const [now, before] = [await read(to, path), await read(from, path)];
    if (now !== before) places.push({ names: [path], texts: [now ?? '', before ?? ''] });
  }
  return places;
}

const codeUnreadable = ({ threadId }: Reviewed): DevsError =>
  new DevsError(
    `Comments on the code of run "${threadId}" cannot be checked, because the code cannot be read here.`,
    {
      code: 'CONFIG_INVALID',
      remedy: 'Open the orchestrator with the workspace of the run.',
      context: { threadId },
    },
  );
