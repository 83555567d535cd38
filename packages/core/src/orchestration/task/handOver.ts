import type { Excerpt, ReadPassage, SiblingTask, TaskRequest, WrittenTest } from '../ports.ts';
import { taskLabel } from '../taskStates.ts';
import type { GraphState, TaskRecord } from '../types.ts';
import type { CheckOfTree, RecordedTree } from './RecordedTree.ts';

// Results that one stage of a task hands to the next. They come from recorded steps alone, so a repeated stage gets the same,
// also in another process.

/** Bytes of the diff of a test. */
const TEST_SHOWN = 32 * 1024;

/** Characters of all excerpts together. */
const EXCERPTS_SHOWN = 24 * 1024;

/** The other tasks of a plan, for an agent that works on one of them. */
export function siblingsOf({ tasks }: Pick<GraphState, 'tasks'>, taskId: string): readonly SiblingTask[] {
  return tasks
    .filter((task) => task.taskId !== taskId)
    .map((task) => ({ label: taskLabel(task.taskId), name: task.name, state: siblingState(task) }));
}

const GIVEN_UP: ReadonlySet<TaskRecord['status']> = new Set(['failed', 'blocked', 'skipped']);

function siblingState({ status }: TaskRecord): SiblingTask['state'] {
  if (status === 'completed') return 'done';
  return GIVEN_UP.has(status) ? 'given_up' : 'to_come';
}

/** The tests of a task as a diff, and what was red about them; `null` where there is neither. */
export async function writtenTest(
  tree: RecordedTree,
  files: readonly string[],
  red: CheckOfTree | null,
): Promise<WrittenTest | null> {
  if (files.length === 0 && red === null) return null;
  const diff = files.length === 0 ? '' : await testDiff(tree, files);
  const { tree: _tree, ...said } = red ?? {};
  return { files, ...(diff !== '' && { diff }), ...(red !== null && { red: said as CheckOfTree }) };
}

async function testDiff(tree: RecordedTree, files: readonly string[]): Promise<string> {
  const { trees, id } = tree;
  const integrated = await tree.integrated();
  if (trees === null || integrated === null) return '';
  const withTests = await trees.overlay(integrated, id, files);
  return (await trees.compare(integrated, withTests, TEST_SHOWN)).diff;
}

/** The current text of read passages, without deleted files, up to a limit. */
export async function excerptsOf(
  { trees, id }: Pick<RecordedTree, 'trees' | 'id'>,
  passages: readonly ReadPassage[],
): Promise<readonly Excerpt[]> {
  if (trees === null) return [];
  const excerpts: Excerpt[] = [];
  let left = EXCERPTS_SHOWN;
  for (const { path, fromLine, lines } of joinedPassages(passages)) {
    const text = await trees.readAt(id, path);
    const content = text
      ?.split('\n')
      .slice(fromLine - 1, fromLine - 1 + lines)
      .join('\n');
    if (content === undefined || content === '' || content.length > left) continue;
    left -= content.length;
    excerpts.push({ path, fromLine, content });
  }
  return excerpts;
}

/** One passage for those that overlap or touch, in the order in which their files were first read. */
function joinedPassages(passages: readonly ReadPassage[]): readonly ReadPassage[] {
  const paths = [...new Set(passages.map(({ path }) => path))];
  return paths.flatMap((path) => {
    const own = passages.filter((passage) => passage.path === path);
    const joined: ReadPassage[] = [];
    for (const next of own.toSorted((a, b) => a.fromLine - b.fromLine)) {
      const last = joined.at(-1);
      const end = last === undefined ? 0 : last.fromLine + last.lines;
      if (last === undefined || next.fromLine > end) joined.push(next);
      else
        joined[joined.length - 1] = {
          ...last,
          lines: Math.max(end, next.fromLine + next.lines) - last.fromLine,
        };
    }
    return joined;
  });
}

/** The members of a request that are the same in each stage of an attempt. */
export type HandedOver = Partial<Pick<TaskRequest, 'test' | 'excerpts' | 'diff' | 'files' | 'commit'>>;
