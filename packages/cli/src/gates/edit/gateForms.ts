// A gate as a text to edit, and the way back: documents as Markdown, a plan as YAML.

import { isDeepStrictEqual } from 'node:util';
import { type DevsError, type DraftDocument, type GateEdit, isDevsError, type PlanResult } from '@devs/core';
import { assertPlanEdit } from '@devs/core/internal';
import { Document, isNode, LineCounter, parseDocument, visit } from 'yaml';
import { z } from 'zod';
import { usageError } from '../../usageError.ts';

/** A gate in an editor. */
export interface GateForm {
  readonly text: string;
  readonly extension: '.md' | '.yaml';
  /** Begins and ends a comment. The first line of a form is one. */
  readonly comment: readonly [begin: string, end: string];
  /**
   * The edit that a changed text makes; `null` when it says the same.
   *
   * @throws DevsError naming the line; see {@link isFormError}.
   */
  readonly parse: (text: string) => GateEdit | null;
}

/** @param line - From 1. */
function formError(line: number, problem: string): DevsError {
  return usageError(`Line ${line}: ${problem}`, 'Correct that line and submit the text again.');
}

/** The text was made from something the gate does not show any more. */
function otherVersion(line: number): DevsError {
  return usageError(
    `Line ${line}: this text was made from another version of the gate's content.`,
    'Start again from the current version: devs edit GATE.',
  );
}

/** Whether the text can be corrected and read again. */
export const isFormError = (error: unknown): boolean =>
  isDevsError(error, 'CONFIG_INVALID') || isDevsError(error, 'DAG_INVALID');

const DOCUMENTS_HEADER =
  '<!-- Edit the text below the marked lines. A document that you delete here stays as it is. Saving does not approve anything. -->';

const COMMENT = /^<!--.*-->$/;

const MARKER = /^<!-- devs ([0-9a-f]+) ("(?:[^"\\]|\\.)*"|[^:"]+): (.*) -->$/;

/** Markdown, one document after the other, each below a marked line with its type and title. */
export function documentsForm(documents: readonly DraftDocument[], mark: string): GateForm {
  const sections = documents.map(
    ({ type, title, content }) =>
      `<!-- devs ${mark} ${spelled(type, /^[^:"\s]+$/)}: ${spelled(title, /^(?!["\s]).*\S$/)} -->\n\n${content}\n`,
  );
  const shown = new Map(documents.map((document) => [document.type, document]));
  return {
    text: [DOCUMENTS_HEADER, ...sections].join('\n'),
    extension: '.md',
    comment: ['<!--', ' -->'],
    parse: (text) => {
      const read = sectionsIn(text, mark).map((document) =>
        withShownBlanks(document, shown.get(document.type)),
      );
      const changed = read.filter((document) => !isDeepStrictEqual(document, shown.get(document.type)));
      return changed.length === 0 ? null : { documents: changed };
    },
  };
}

function sectionsIn(text: string, mark: string): readonly DraftDocument[] {
  const sections: { readonly type: string; readonly title: string; readonly lines: string[] }[] = [];
  for (const [index, line] of text.replaceAll('\r\n', '\n').split('\n').entries()) {
    const marked = MARKER.exec(line);
    if (marked === null) {
      const current = sections.at(-1);
      if (current !== undefined) current.lines.push(line);
      else if (!COMMENT.test(line) && line.trim() !== '')
        throw formError(index + 1, 'this text is above the first marked line, so it belongs to no document.');
      continue;
    }
    const [, madeFrom, type = '', title = ''] = marked;
    if (madeFrom !== mark) throw otherVersion(index + 1);
    const name = unspelled(type, index + 1);
    if (sections.some((section) => section.type === name))
      throw formError(index + 1, `document ${name} is already defined above.`);
    sections.push({ type: name, title: unspelled(title, index + 1), lines: [] });
  }
  return sections.map(({ type, title, lines }) => ({ type, title, content: lines.join('\n') }));
}

/** Blank lines around a document are the form's and the editor's, not the author's. */
function withShownBlanks(read: DraftDocument, shown: DraftDocument | undefined): DraftDocument {
  const content = read.content.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd();
  const same =
    shown?.content
      .replaceAll('\r\n', '\n')
      .replace(/^(?:[^\S\n]*\n)+/, '')
      .trimEnd() === content;
  return { ...read, content: same ? shown.content : `${content}\n` };
}

function spelled(name: string, plain: RegExp): string {
  return plain.test(name) ? name : JSON.stringify(name);
}

function unspelled(name: string, line: number): string {
  if (!name.startsWith('"')) return name;
  try {
    return String(JSON.parse(name));
  } catch {
    throw formError(line, `${name} is not a valid quoted name.`);
  }
}

const PLAN_HEADER = `# The plan, in execution order. Delete a task to drop it, move it to reorder, or edit any text.
# Give a new task, or a part of a split task, a word as its key (task: parse-input). It gets a number later.
# "after" lists the tasks that must be finished first. Saving does not approve anything.
# A task starts with a failing test, unless it has "kind: behaviour-kept" (the checks pass before and after), or
# "kind: checked-by" and "checked by: COMMAND", or "checked by: review".
`;

const formText = z.string();

const optionalTexts = z.array(z.string()).nullish();

const formSchema = z.strictObject({
  /** Beginning of the hash of what it was made from. */
  version: formText,
  requirements: z.array(z.strictObject({ id: formText, description: formText.nullish() })).nullish(),
  epics: z.array(
    z.strictObject({
      epic: formText,
      description: formText.nullish(),
      tasks: z.array(
        z.strictObject({
          task: formText,
          name: formText,
          description: formText.nullish(),
          after: optionalTexts,
          requirements: optionalTexts,
          criteria: optionalTexts,
          kind: z.enum(['test-first', 'behaviour-kept', 'checked-by']).nullish(),
          'checked by': formText.nullish(),
        }),
      ),
    }),
  ),
});

/** The plan as YAML. @param shown - What the gate shows: it has the numbers that are issued. */
export function planForm(plan: PlanResult, shown: unknown, mark: string): GateForm {
  return {
    text: PLAN_HEADER + yamlOf({ version: mark, ...asForm(plan) }),
    extension: '.yaml',
    comment: ['#', ''],
    parse: (given) => {
      const edited = parsePlan(given, mark);
      if (isDeepStrictEqual(edited, plan)) return null;
      assertPlanEdit(shown as Parameters<typeof assertPlanEdit>[0], edited);
      return { plan: edited };
    },
  };
}

/** A blank text of several lines is quoted: as a block it would come back as another one. */
function yamlOf(value: unknown): string {
  const document = new Document(value);
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value === 'string' && node.value.trim() === '') node.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ lineWidth: 0 });
}

function asForm({ requirements, epics }: PlanResult) {
  return {
    requirements: requirements.map(({ externalId, description }) => ({ id: externalId, description })),
    epics: epics.map(({ name, description, tasks }) => ({
      epic: name,
      description,
      tasks: tasks.map(({ key, dependsOn, acceptanceCriteria, ...task }) => ({
        task: key,
        name: task.name,
        description: task.description,
        after: dependsOn,
        requirements: task.requirements,
        criteria: acceptanceCriteria,
        ...(task.kind !== undefined && { kind: task.kind }),
        ...(task.checkedBy !== undefined && { 'checked by': task.checkedBy }),
      })),
    })),
  };
}

function parsePlan(given: string, mark: string): PlanResult {
  const lines = new LineCounter();
  const document = parseDocument(given, { lineCounter: lines, prettyErrors: false });
  const [syntax] = document.errors;
  if (syntax !== undefined) throw formError(lines.linePos(syntax.pos[0]).line, syntax.message);
  const parsed = formSchema.safeParse(document.toJS());
  if (!parsed.success) throw problemIn(parsed.error, document, lines);
  const { version, requirements, epics } = parsed.data;
  if (version !== mark) throw otherVersion(yamlLine(['version'], document, lines));
  return {
    requirements: (requirements ?? []).map(({ id, description }) => ({
      externalId: id,
      description: description ?? '',
    })),
    epics: epics.map(({ epic, description, tasks }) => ({
      name: epic,
      description: description ?? '',
      tasks: tasks.map(({ task, name, ...rest }) => ({
        key: task,
        name,
        description: rest.description ?? '',
        dependsOn: rest.after ?? [],
        requirements: rest.requirements ?? [],
        acceptanceCriteria: rest.criteria ?? [],
        ...(rest.kind != null && rest.kind !== 'test-first' && { kind: rest.kind }),
        ...(rest['checked by'] != null && { checkedBy: rest['checked by'] }),
      })),
    })),
  };
}

function problemIn({ issues }: z.ZodError, document: Document, lines: LineCounter) {
  const { path = [], message = '' } = issues[0] ?? {};
  const field = path.map(String).join('.');
  return formError(yamlLine(path, document, lines), `${field === '' ? 'the plan' : field}: ${message}.`);
}

/** The line of a field, or of the nearest thing around it that is there. */
function yamlLine(path: readonly PropertyKey[], document: Document, lines: LineCounter): number {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const node = document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}
