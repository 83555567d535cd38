import { isDocuments, isPlan } from '../artifacts.ts';
import { changedFile, changedLines, type DiffFile, type DiffLine, numberedLine } from '../diff/diffLines.ts';
import { taskTag } from '../words.ts';

/** Lines around a change that are shown with it. */
const CONTEXT = 3;

/** Two versions of what a gate shows, part by part: those that differ, and every line of those that does. Pure. */
export function versionFiles(before: unknown, after: unknown): readonly DiffFile[] {
  const [then, now] = [versionTexts(before), versionTexts(after)];
  const [called, calledNow] = [titlesOf(before), titlesOf(after)];
  return [...new Set([...now.keys(), ...then.keys()])].flatMap((name) => {
    const [title, titleNow] = [called.get(name) ?? '', calledNow.get(name) ?? ''];
    const notes = title === titleNow ? [] : [`title: ${title || 'none'} → ${titleNow || 'none'}`];
    if (notes.length === 0 && then.get(name) === now.get(name)) return [];
    return [changedFile(name, textLines(then.get(name) ?? '', now.get(name) ?? ''), notes)];
  });
}

const titlesOf = (artifact: unknown): ReadonlyMap<string, string> =>
  new Map(isDocuments(artifact) ? artifact.documents.map(({ type, title }) => [type, title]) : []);

/** All that a version says, by document, task, epic and requirement. */
function versionTexts(artifact: unknown): ReadonlyMap<string, string> {
  if (isDocuments(artifact)) {
    return new Map(artifact.documents.map(({ type, content }) => [type, content]));
  }
  if (!isPlan(artifact)) {
    const text = typeof artifact === 'string' ? artifact : JSON.stringify(artifact, null, 2);
    return new Map([['the gate', text]]);
  }
  const { tasks, epics, requirements } = artifact;
  const byId = new Map(requirements.map(({ requirementId, externalId }) => [requirementId, externalId]));
  return new Map([
    ...tasks.map((task): [string, string] => [
      taskTag(task.taskId),
      [
        task.name,
        task.description,
        ...task.acceptanceCriteria.map((each) => `- ${each}`),
        `after: ${task.dependsOn.map(taskTag).join(', ')}`,
        `for: ${task.requirementIds.map((id) => byId.get(id) ?? id).join(', ')}`,
        `kind: ${[task.kind ?? 'test-first', task.checkedBy].filter(Boolean).join(', ')}`,
      ].join('\n'),
    ]),
    ...epics.map(({ name, description }): [string, string] => [`epic ${name}`, description]),
    ...requirements.map(({ externalId, description }): [string, string] => [externalId, description]),
  ]);
}

function textLines(before: string, after: string): readonly DiffLine[] {
  const at = { before: 1, after: 1 };
  const changed = changedLines(withFinalLineFeed(before), withFinalLineFeed(after));
  return nearChanges(changed.map((line) => numberedLine(line, at)));
}

/** A missing last line feed is no change. */
const withFinalLineFeed = (text: string): string => (text === '' ? '' : `${text.trimEnd()}\n`);

/** What is far from any change is left out, and it is said where. */
function nearChanges(lines: readonly DiffLine[]): readonly DiffLine[] {
  const isNear = new Set<number>();
  for (const [at, { kind }] of lines.entries()) {
    if (kind === 'same') continue;
    for (let near = at - CONTEXT; near <= at + CONTEXT; near += 1) isNear.add(near);
  }
  return lines.flatMap((line, at): readonly DiffLine[] => {
    if (isNear.has(at)) return [line];
    return isNear.has(at + 1) || at === lines.length - 1 ? [{ kind: 'place', text: '…' }] : [];
  });
}
