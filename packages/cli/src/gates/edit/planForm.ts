import { isDeepStrictEqual } from 'node:util';
import type { PlanResult } from '@devs/core';
import { assertPlanEdit } from '@devs/core/internal';
import { Document, isNode, LineCounter, parseDocument, visit } from 'yaml';
import { z } from 'zod';
import { formError, type GateForm, otherVersion } from './form.ts';

const HEADER = `# The plan, in execution order. Delete a task to drop it, move it to reorder, or edit any text.
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
    text: HEADER + yamlOf({ version: mark, ...asForm(plan) }),
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
