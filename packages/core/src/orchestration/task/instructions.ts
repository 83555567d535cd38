import { isDevsError } from '../../errors/DevsError.ts';
import { sha256Hex } from '../../values/canonicalJson.ts';
import type { Instructions, RunWorkspace } from '../ports.ts';
import type { TaskRecord } from '../types.ts';
import { scrubbedStep } from './scrubbedStep.ts';

/** Over all files of one request, UTF-8. */
const MAX_BYTES = 32 * 1024;

/** In a folder the first that is there counts. */
const NAMES = ['AGENTS.md', 'CLAUDE.md'];

/** Of what a task names, looked at for the nearest one. */
const MAX_PATHS = 16;

/** What is recorded of them: which they were, and of which tree. Their text is read again from there. */
interface FoundInstructions {
  /** `null` where the workspace does not know its trees: files are then read as they lie. */
  readonly tree: string | null;
  readonly files: readonly Pick<Instructions, 'path' | 'sha256'>[];
}

/**
 * What the repository tells agents: the root's `AGENTS.md`, else `CLAUDE.md`, and the nearest one to each of the named
 * paths. Read from the last integrated tree, so that no agent instructs the next one before its work was verified. Paths
 * and hashes are recorded as the step `instructions`.
 *
 * @param touched - Paths of files or folders, relative.
 */
export async function instructionsFor(
  workspace: RunWorkspace,
  touched: readonly string[] = [],
): Promise<readonly Instructions[]> {
  const find = async (): Promise<FoundInstructions> => {
    const tree = (workspace.readAt && (await workspace.integrated?.())) ?? null;
    const files = new Map<string, string>();
    for (const chain of ['', ...touched.slice(0, MAX_PATHS)].map(foldersUp)) {
      const nearest = await firstReadable(workspace, tree, chain);
      if (nearest !== null) files.set(nearest.path, sha256Hex(nearest.content));
    }
    return { tree, files: [...files].map(([path, sha256]) => ({ path, sha256 })) };
  };
  const { tree, files } = await scrubbedStep('instructions', find, { kind: 'work' });
  return withinLimit(
    await Promise.all(
      files.map(async (file) => ({ ...file, content: (await read(workspace, tree, file.path)) ?? '' })),
    ),
  );
}

/** Paths that a task names, in its words or by the tests it wrote: what it is likely to touch. */
export function namedPaths({
  name,
  description,
  acceptanceCriteria = [],
  testFiles = [],
}: TaskRecord): readonly string[] {
  const text = [name, description, ...acceptanceCriteria].join('\n');
  const named = text.match(/(?:[\w@+-][\w@.+-]*\/)+[\w@.+-]*/g) ?? [];
  return [...new Set([...testFiles, ...named])];
}

/** The folders of a path, the deepest first, the root last. Of `a/b.js`, `a` and the root. */
function foldersUp(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.includes('..')
    ? ['']
    : parts.map((_, index) => parts.slice(0, parts.length - index).join('/')).concat('');
}

async function firstReadable(
  workspace: RunWorkspace,
  tree: string | null,
  folders: readonly string[],
): Promise<Pick<Instructions, 'path' | 'content'> | null> {
  for (const folder of folders) {
    for (const name of NAMES) {
      const path = folder === '' ? name : `${folder}/${name}`;
      const content = await read(workspace, tree, path);
      if (content !== null) return { path, content };
    }
  }
  return null;
}

/** `null` where there is no such file: a link that leads elsewhere is none. */
async function read(workspace: RunWorkspace, tree: string | null, path: string): Promise<string | null> {
  if (tree !== null && workspace.readAt) return workspace.readAt(tree, path);
  if (!(await workspace.list()).includes(path)) return null;
  try {
    return await workspace.read(path);
  } catch (error) {
    if (isDevsError(error, 'PATH_REFUSED')) return null;
    throw error;
  }
}

function withinLimit(found: readonly Instructions[]): readonly Instructions[] {
  let left = MAX_BYTES;
  return found.map((file) => {
    const content = cutToBytes(file.content, left);
    left -= Buffer.byteLength(content);
    return { ...file, content };
  });
}

/** Room for the line that says that something is missing. */
const MARK_BYTES = 80;

function cutToBytes(content: string, limit: number): string {
  const bytes = Buffer.from(content);
  if (bytes.length <= limit) return content;
  const room = Math.max(0, limit - MARK_BYTES);
  // A character that the cut went through is left out.
  const kept = new TextDecoder().decode(bytes.subarray(0, room), { stream: true });
  const mark = `[cut: ${Buffer.byteLength(kept)} of ${bytes.length} bytes]`;
  return kept === '' ? mark.slice(0, limit) : `${kept}\n${mark}`;
}
