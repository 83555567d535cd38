import type { TaskRequest } from '@devs/core';
import type { WorkspacePort } from '@devs/core/internal';
import { changedNames, mentionedIn } from './codeNames.ts';
import { FileDesk } from './FileDesk.ts';
import {
  isChangelog,
  isCode,
  isCodeOrTest,
  isDocumentation,
  isReadme,
  isShowable,
  isTest,
} from './fileKinds.ts';
import { headingsOf, headOf, markdownSections, mentionsOf, sourceBlocks } from './filePassages.ts';
import { type FoundFile, lookFor } from './lookFor.ts';
import { type Blocks, type Passage, passageAt, type Room, rankedBy, shownPassages } from './shownPassages.ts';
import { widerDiff } from './widerDiff.ts';

// Files of the project for a stage, before it asks. They follow from the recorded tree and the request alone, so a repeated stage
// gets the same, also in another process.

/** Parts of files for a stage. */
export interface ShownFiles {
  readonly passages: readonly Passage[];
  /** Of documentation that is shown in part, with their lines. */
  readonly headings: readonly { readonly path: string; readonly content: string }[];
}

const SOURCES: Room = { all: 9_000, file: 5_000, whole: 4_000, files: 3 };
const TESTS: Room = { all: 5_000, file: 4_000, whole: 3_000, files: 2 };
const DOCS: Room = { all: 5_000, file: 3_000, whole: 3_000, files: 3 };
/** Characters of the newest entries of a changelog. */
const NEWS = 1_200;
const MAX_HEADINGS = 40;
/** Points of a file beside one that the task names. */
const BESIDE = 5;
/** Lines of code around a change, and the characters they may take together. */
const AROUND = 22;
const MAX_AROUND = 16_000;

/** Passages of sources and tests with the names of a task. */
export async function filesOfTask(
  desk: FileDesk,
  { task, guidance }: Pick<TaskRequest, 'task' | 'guidance'>,
): Promise<ShownFiles> {
  const { name, description, acceptanceCriteria } = task;
  const { names, paths } = mentionedIn([name, description, ...acceptanceCriteria, ...guidance].join('\n'));
  const isNamed = (path: string): boolean => isOneOf(path, paths);
  const { files, weights } = await lookFor(names, desk, {
    isWanted: (path) => isCodeOrTest(path) || (isNamed(path) && isShowable(path)),
    isKept: (path) => isNamed(path) || isBeside(path, paths),
  });
  const ranked = rankedBy(files, isNamed, ({ path, text }) => {
    const score = mentionsOf(text, weights);
    return isBeside(path, paths) ? score + BESIDE : score;
  });
  const blocks = (lines: readonly string[]): Blocks => ({
    head: headOf(lines),
    blocks: sourceBlocks(lines, weights),
  });
  const tests = ranked.filter(({ path }) => isTest(path));
  const sources = ranked.filter(({ path }) => !isTest(path));
  return {
    passages: [...shownPassages(sources, SOURCES, blocks), ...shownPassages(tests, TESTS, blocks)],
    headings: [],
  };
}

/** Sections of the documentation with the names of a task and its diff, and the newest entries of the changelog. */
export async function docsOfWork(
  desk: FileDesk,
  { task, diff = '' }: Pick<TaskRequest, 'task' | 'diff'>,
): Promise<ShownFiles> {
  const said = mentionedIn(`${task.name}\n${task.description}`);
  const changed = changedNames(diff, isCode);
  const isNamed = (path: string): boolean => isReadme(path) || isOneOf(path, said.paths);
  const found = await lookFor([...new Set([...changed, ...said.names])], desk, {
    isWanted: isDocumentation,
    isKept: (path) => isNamed(path) || isChangelog(path),
  });
  const files = found.files.filter(({ path }) => !isChangelog(path));
  const sections = (lines: readonly string[]): Blocks => ({
    blocks: markdownSections(lines, found.weights),
  });
  const ranked = rankedBy(files, isNamed, ({ text }) =>
    Math.max(0, ...sections(text.split('\n')).blocks.map(({ score }) => score)),
  );
  const shown = shownPassages(ranked, DOCS, sections);
  const isInPart = ({ path, text }: FoundFile): boolean => {
    const [first] = shown.filter((passage) => passage.path === path);
    return (first !== undefined || isReadme(path)) && first?.content !== text.trim();
  };
  return {
    passages: [...shown, ...found.files.filter(({ path }) => isChangelog(path)).map(newestOf)],
    headings: files.filter(isInPart).map(headingLines),
  };
}

/** The diff of a work with the code around its changes; tests and documentation are left as they are. */
export async function diffForReview(diff: string, workspace: WorkspacePort.WorkspaceReader): Promise<string> {
  const desk = new FileDesk(workspace);
  const wide = await widerDiff(diff, AROUND, async (path) => (isCode(path) ? desk.textOf(path) : null));
  return wide.length > diff.length + MAX_AROUND ? diff : wide;
}

const isOneOf = (path: string, named: readonly string[]): boolean =>
  named.some((each) => path === each || path.endsWith(`/${each}`));

/** In the folder of a file that a text names, or in a folder that it names. */
const isBeside = (path: string, named: readonly string[]): boolean =>
  named.some((each) => each.includes('/') && path.startsWith(each.slice(0, each.lastIndexOf('/') + 1)));

/** The beginning of a changelog, up to a whole line. */
function newestOf({ path, text }: FoundFile): Passage {
  const start = text.slice(0, NEWS);
  const lines = (start === text ? start : start.slice(0, start.lastIndexOf('\n') + 1)).split('\n');
  return passageAt(path, lines, { from: 0, to: lines.length });
}

/** Headings with their lines, down to a level of which there are not too many. */
function headingLines({ path, text }: FoundFile): ShownFiles['headings'][number] {
  const lines = text.split('\n');
  const all = headingsOf(lines);
  const upTo = (most: number) => all.filter(({ level }) => level <= most);
  const shown = upTo([6, 5, 4, 3, 2].find((level) => upTo(level).length <= MAX_HEADINGS) ?? 1);
  const content = shown.slice(0, MAX_HEADINGS).map(({ at }) => `${at + 1}: ${lines[at] ?? ''}`);
  return { path, content: content.join('\n') };
}
