import type { Gate } from '@devs/core';
import type { ShownGate } from '@devs/core/internal';
import { choicesAt, GATE_LABELS } from '../gates/gateLabels.ts';
import type { Session } from '../project/Session.ts';
import { type Line, textOfAll, withoutBlankEnd } from '../terminal/Line.ts';
import { fencedBlock, inlineText } from './markdownText.ts';
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
      `## ${inlineText(`${type}: ${title} (version ${version})`)}`,
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
      `## ${inlineText(`E${epic.phaseNumber}: ${epic.name}`)}`,
      '',
      ...fencedBlock('text', epic.description),
      ...tasks.filter(({ epicId }) => epicId === epic.epicId).flatMap(taskMarkdown),
    ]),
  ];
}

function taskMarkdown(task: ShownTasks['tasks'][number]) {
  const { taskId, name, description, acceptanceCriteria = [] } = task;
  const kind = formatTaskKind(task);
  const criteria = acceptanceCriteria.map((criterion) => `- [ ] ${inlineText(criterion)}`);
  return [
    `### ${inlineText(`${taskLabelOrEmpty(taskId)} ${name}`)}`,
    '',
    ...fencedBlock('text', description),
    ...(kind === null ? [] : [inlineText(kind), '']),
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

const cell = (text: string): string => (/^-+$/.test(text) ? text : inlineText(text));
