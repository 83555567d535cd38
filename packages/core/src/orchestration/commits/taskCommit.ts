// The commit of a task: its message in the style of the repository, and the hooks that judge it where a person wants them to.

import type { Checks, RunWorkspace } from '../ports.ts';
import { timesReopened } from '../review/reviewGate.ts';
import { singleLine } from '../task/openWorkspace.ts';
import type { RecordedTree } from '../task/RecordedTree.ts';
import { taskLabel } from '../taskStates.ts';
import type { GraphState, TaskRecord } from '../types.ts';
import { type CommitSubject, commitWords, wrapped } from './commitMessage.ts';
import { COMMITLINT_FILES, type CommitStyle, readCommitStyle } from './commitStyle.ts';

/** Number of commits to read. */
const MESSAGES_READ = 50;

/** The commit style of a run's repository; `null` if it is unknown. */
export async function commitStyleOf(workspace: RunWorkspace): Promise<CommitStyle | null> {
  const messages = (await workspace.messages?.(MESSAGES_READ)) ?? [];
  return readCommitStyle({ messages, commitlint: await commitlintConfig(workspace) });
}

async function commitlintConfig(workspace: RunWorkspace): Promise<string | null> {
  const tree = await workspace.integrated?.();
  if (tree === undefined || workspace.readAt === undefined) return null;
  const there = new Set(await workspace.list());
  const file = COMMITLINT_FILES.find((name) => there.has(name));
  if (file !== undefined) return workspace.readAt(tree, file);
  const manifest = there.has('package.json') ? await workspace.readAt(tree, 'package.json') : null;
  return manifest === null ? null : commitlintIn(manifest);
}

function commitlintIn(manifest: string): string | null {
  try {
    const { commitlint } = JSON.parse(manifest) as { readonly commitlint?: unknown };
    return commitlint === undefined ? null : JSON.stringify(commitlint, null, 1);
  } catch {
    return null;
  }
}

/** The whole message of a task's commit. */
export async function taskCommitMessages(
  task: TaskRecord,
  state: GraphState,
  { tree, workspace, agents }: CommitPlace,
): Promise<readonly string[]> {
  const style = await commitStyleOf(workspace);
  const integrated = await tree.integrated();
  const changed = integrated === null ? undefined : await tree.trees?.compare(integrated, tree.id, 0);
  const subject: CommitSubject = {
    task,
    label: taskLabel(task.taskId),
    rework: timesReopened(state, task.taskId),
    files: changed?.files.map(({ path }) => path) ?? [],
  };
  const { commitMessage: _said, ...unsaid } = task;
  const words = [commitWords(style, subject), commitWords(style, { ...subject, task: unsaid })];
  const messages = words.map(({ text, trailers }) =>
    [text, ...evidenceLines(task, style), [...trailers, ...pipelineTrailers(task, agents)].join('\n')].join(
      '\n\n',
    ),
  );
  return [...new Set(messages)];
}

interface CommitPlace {
  readonly tree: RecordedTree;
  readonly workspace: RunWorkspace;
  readonly agents: { readonly name: string; readonly provenance: string };
}

function evidenceLines({ evidence = [] }: TaskRecord, style: CommitStyle | null): readonly string[] {
  const shown = evidence
    .map(({ criterion, shownBy }) => `- ${singleLine(criterion)}: ${singleLine(shownBy)}`)
    .map((line) => (style === null ? line : wrapped(line, style.maxLine)));
  return shown.length > 0 ? [shown.join('\n')] : [];
}

const pipelineTrailers = ({ taskId }: TaskRecord, agents: CommitPlace['agents']): readonly string[] => [
  `Devs-Task: ${taskLabel(taskId)} (${taskId})`,
  `Devs-Agents: ${singleLine(agents.name)} (${agents.provenance})`,
];

/** Holds a hook beside the work; removed afterwards. */
const HOOK_FOLDER = '.devs-hook';

/**
 * The first message that the hooks accept, or their refusal of the last one. Without hooks it is the first message.
 */
export async function acceptedMessage(
  messages: readonly string[],
  tree: RecordedTree,
  { workspace, checks }: { readonly workspace: RunWorkspace; readonly checks: Checks },
): Promise<{ readonly message: string } | { readonly refusal: string }> {
  const before = await hookRefusal('pre-commit', null, { tree, workspace, checks });
  if (before !== null) return { refusal: before };
  let refusal = '';
  for (const [index, message] of messages.entries()) {
    const said = await hookRefusal('commit-msg', { message, index }, { tree, workspace, checks });
    if (said === null) return { message };
    refusal = said;
  }
  return { refusal };
}

interface HookPlace {
  readonly tree: RecordedTree;
  readonly workspace: RunWorkspace;
  readonly checks: Checks;
}

async function hookRefusal(
  name: 'pre-commit' | 'commit-msg',
  asked: { readonly message: string; readonly index: number } | null,
  { tree, workspace, checks }: HookPlace,
): Promise<string | null> {
  const hook = (await workspace.hook?.(name)) ?? null;
  const { runCommand } = checks;
  if (hook === null || runCommand === undefined) return null;
  const script = `${HOOK_FOLDER}/${name}`;
  const file = `${HOOK_FOLDER}/message`;
  const step = asked === null || asked.index === 0 ? `hook ${name}` : `hook ${name} ${asked.index + 1}`;
  const result = await tree.check(
    step,
    async (request) => {
      await workspace.apply([
        { path: script, content: hook.script },
        ...(asked === null ? [] : [{ path: file, content: `${asked.message}\n` }]),
      ]);
      const argv = [...hook.interpreter, script, ...(asked === null ? [] : [file])];
      return runCommand.call(checks, argv, request);
    },
    { mayMiss: true },
  );
  return result.passed ? null : `The hook ${name} of the repository refuses the commit:\n${result.output}`;
}
