import type { Gate } from '@devs/core';
import type { ShownGate } from '@devs/core/internal';
import { choicesAt, GATE_LABELS } from '../gates/gateLabels.ts';
import type { Session } from '../project/Session.ts';
import { type Line, textOfAll, withoutBlankEnd } from '../terminal/Line.ts';
import { oneLine } from '../terminal/visible.ts';
import {
  artifactLines,
  byNumber,
  decidedFirst,
  findingsOn,
  formatTaskKind,
  isShownDocuments,
  isShownTasks,
  type ShownDocuments,
  type ShownTasks,
} from './renderArtifact.ts';
import { hiddenLines, shortId, withCode } from './renderGate.ts';
import { taskLabelOrEmpty } from './sentence.ts';

interface MarkdownBeside {
  readonly code?: readonly Line[];
  readonly said?: readonly Line[];
  /** Places of the code that are hidden. */
  readonly hidden?: readonly ShownGate['hiddenPlaces'][number][];
}

/** A gate as Markdown, to be read in a pull request, with the decision to fill in. */
export function renderGateMarkdown(
  gate: ShownGate,
  devs: Session['devs'],
  { code = [], said = [], hidden = [] }: MarkdownBeside = {},
): readonly string[] {
  const notes = hiddenLines(withCode(gate, hidden), devs);
  return [
    `# Gate ${shortId(gate)}: ${GATE_LABELS[gate.kind].name} of ${gate.threadId}`,
    '',
    `${gate.message} Open since ${gate.openedAt}.`,
    '',
    ...(notes.length === 0 ? [] : fencedBlock('text', notes.join('\n').trimEnd())),
    ...artifactMarkdown(gate.artifact),
    ...(code.length === 0 ? [] : fencedBlock('diff', textOfAll(code).trimEnd())),
    ...(said.length === 0 ? [] : fencedBlock('text', textOfAll(said).trimEnd())),
    ...(gate.responseSchema === undefined
      ? []
      : fencedBlock('json', JSON.stringify(gate.responseSchema, null, 2))),
    '---',
    '',
    '## Decision',
    '',
    ...decisionFileLines(gate, devs),
  ];
}

function artifactMarkdown(artifact: unknown): readonly string[] {
  if (isShownDocuments(artifact)) return documentsMarkdown(artifact);
  if (isShownTasks(artifact)) return planMarkdown(artifact);
  return fencedBlock('text', textOfAll(artifactLines(artifact)).trimEnd());
}

function documentsMarkdown(shown: ShownDocuments): readonly string[] {
  const findings = findingsOn(shown);
  return [
    ...(findings.length === 0 ? [] : fencedBlock('text', findings.join('\n'))),
    ...decidedFirst(shown.documents).flatMap(({ type, title, content, version }) => [
      '---',
      '',
      `## ${inline(`${type}: ${title} (version ${version})`)}`,
      '',
      ...fencedBlock('markdown', withoutBlankEnd(content)),
    ]),
  ];
}

function planMarkdown({ requirements, epics, tasks: shown }: ShownTasks): readonly string[] {
  const tasks = byNumber(shown);
  const externalIds = new Map(
    requirements.map(({ requirementId, externalId }) => [requirementId, externalId]),
  );
  const row = (...cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [
    '## Requirements',
    '',
    row('id', 'what'),
    row('---', '---'),
    ...requirements.map(({ externalId, description }) => row(externalId, description)),
    '',
    '## Tasks',
    '',
    row('task', 'after', 'requirements', 'name'),
    row('---', '---', '---', '---'),
    ...tasks.map(({ taskId, dependsOn, requirementIds = [], name }) =>
      row(
        taskLabelOrEmpty(taskId),
        dependsOn.map(taskLabelOrEmpty).join(', '),
        requirementIds.map((id) => externalIds.get(id) ?? id).join(', '),
        name,
      ),
    ),
    '',
    ...epics.flatMap((epic) => [
      `## ${inline(`E${epic.phaseNumber}: ${epic.name}`)}`,
      '',
      ...fencedBlock('text', epic.description),
      ...tasks.filter(({ epicId }) => epicId === epic.epicId).flatMap(taskMarkdown),
    ]),
  ];
}

function taskMarkdown(task: ShownTasks['tasks'][number]) {
  const { taskId, name, description, acceptanceCriteria = [] } = task;
  const kind = formatTaskKind(task);
  const criteria = acceptanceCriteria.map((criterion) => `- [ ] ${inline(criterion)}`);
  return [
    `### ${inline(`${taskLabelOrEmpty(taskId)} ${name}`)}`,
    '',
    ...fencedBlock('text', description),
    ...(kind === null ? [] : [inline(kind), '']),
    ...criteria,
    ...(criteria.length > 0 ? [''] : []),
  ];
}

/** What a file can say is said in one; the other answers are command lines. */
function decisionFileLines(gate: Gate, devs: Session['devs']): readonly string[] {
  const choices = choicesAt(gate);
  const { sessionId: session, artifactHash: hash } = gate;
  if (choices.some(({ name }) => name === 'value')) {
    return [
      `Save as \`decision.json\`, then fill in the value (any JSON) and your name. Then run \`${devs('approve', '--from', 'decision.json')}\`.`,
      '',
      ...fencedBlock('json', JSON.stringify({ session, hash, value: null, by: '' }, null, 2)),
    ];
  }
  if (!choices.some(({ name }) => name === 'approve')) {
    const lines = choices.map(({ verb, flags }) => devs(verb, shortId(gate), ...flags));
    return fencedBlock('sh', lines.join('\n'));
  }
  const decision = JSON.stringify({ session, hash, approved: true, by: '' }, null, 2);
  return [
    `Save as \`decision.json\` and fill in your name. To reject, set \`"approved": false\` and add \`"feedback"\`. Then run \`${devs('approve', '--from', 'decision.json')}\`.`,
    '',
    ...fencedBlock('json', decision),
  ];
}

/** A fence longer than any in the text. */
function fencedBlock(language: string, text: string): readonly string[] {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return [`${fence}${language}`, text, fence, ''];
}

/** Text of somebody else in a line of ours: it stays in it, and is no markup. */
const inline = (text: string): string => oneLine(text).replaceAll(/[\\`*_[\]<>&#!|~]/g, String.raw`\$&`);
const cell = (text: string): string => (/^-+$/.test(text) ? text : inline(text));
