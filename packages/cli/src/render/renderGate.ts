import type { Gate } from '@devs/core';
import type { ShownGate } from '@devs/core/internal';
import { choicesAt, GATE_LABELS } from '../gates/gateLabels.ts';
import type { Session } from '../project/Session.ts';
import type { Line } from '../terminal/Line.ts';
import { oneLine } from '../terminal/visible.ts';
import { artifactChanges } from './artifactChanges.ts';
import { artifactLines } from './renderArtifact.ts';
import { isCodeReview } from './renderCodeReview.ts';
import { taskLabelOrEmpty } from './sentence.ts';

/** A gate in one line: how to name it, what it is about, since when. */
export function gateLine(gate: Gate): readonly string[] {
  const task = taskLabelOrEmpty(gate.taskId);
  const subject = isCodeReview(gate.artifact) ? (gate.artifact.epicName ?? task) : task;
  const about = [GATE_LABELS[gate.kind].name, subject].join(' ').trimEnd();
  return [shortId(gate), gate.threadId, about, gate.openedAt];
}

export const shortId = ({ sessionId }: Pick<Gate, 'sessionId'>): string => sessionId.slice(0, 8);
export const shortHash = ({ artifactHash }: Pick<Gate, 'artifactHash'>): string => artifactHash.slice(0, 12);

export interface ShownBeside {
  /** What its reader has read already: only what has changed since is printed. */
  readonly before?: Gate | null;
  /** The diff of a review. */
  readonly code?: readonly Line[];
  /** What was asked and answered at it. */
  readonly talk?: readonly Line[];
  /** Places of the code that are hidden. */
  readonly hidden?: readonly ShownGate['hiddenPlaces'][number][];
  /** False where the choices are asked for in place. @defaultValue true */
  readonly commands?: boolean;
}

/** All that a decision on the gate is about, and how to decide. */
export function renderGate(
  gate: ShownGate,
  devs: Session['devs'],
  { before = null, code = [], talk = [], hidden = [], commands = true }: ShownBeside = {},
): readonly Line[] {
  const [id, hash] = [shortId(gate), shortHash(gate)];
  return [
    { style: 'bold', text: `Gate ${id}: ${GATE_LABELS[gate.kind].name} of ${gate.threadId}` },
    `open since ${gate.openedAt}, hash ${hash}`,
    { style: 'markdown', text: gate.message },
    '',
    ...(before === null ? artifactLines(gate.artifact) : changeLines(before.artifact, gate, devs)),
    ...code,
    ...talk,
    ...schemaLines(gate),
    ...voteLines(gate),
    ...hiddenLines(withCode(gate, hidden), devs),
    ...(commands ? choicesAt(gate) : []).flatMap(({ name, meaning, verb, flags }): readonly Line[] => [
      { style: 'dim', text: `${name}: ${meaning}` },
      `  ${devs(verb, id, '--hash', hash, ...flags)}`,
    ]),
  ];
}

type Hiding = Pick<ShownGate, 'sessionId' | 'hiddenPlaces' | 'hiddenCount'>;

/** A gate with the places that are hidden of its code. */
export const withCode = (gate: Hiding, hidden: readonly ShownGate['hiddenPlaces'][number][]): Hiding => ({
  sessionId: gate.sessionId,
  hiddenPlaces: [...gate.hiddenPlaces, ...hidden],
  hiddenCount: gate.hiddenCount + hidden.length,
});

/** Every place that a reader does not see, and how to see it. */
export function hiddenLines(gate: Hiding, devs: Session['devs']): readonly string[] {
  const { hiddenPlaces: hidden, hiddenCount } = gate;
  if (hiddenCount === 0) return [];
  const lost = hiddenCount - hidden.length;
  const places = hidden.map(
    (place, at) =>
      `  ${at + 1}. ${oneLine(place.in)} at ${place.at}: ${place.name}, ${place.length} characters, digest ${place.digest}`,
  );
  const before = `  ${lost === 1 ? '1 place was' : `${lost} places were`} masked before the gate opened and cannot be shown`;
  return [
    `HIDDEN: ${hiddenCount === 1 ? '1 place' : `${hiddenCount} places`} of the approved content; look for REDACTED.`,
    ...places,
    ...(lost === 0 ? [] : [before]),
    ...(hidden.length === 0 ? [] : [`to read them: ${devs('show', shortId(gate), '--reveal')}`]),
    `to approve without reading them: --with-hidden ${hiddenCount}`,
    '',
  ];
}

/** Who has said yes where several have to, and who may. */
function voteLines({ takes, votes = [] }: Gate): readonly string[] {
  const { approvals } = takes ?? {};
  if (approvals === undefined) return [];
  const { count, of, not } = approvals;
  const said = votes.map(({ principal }) => principal).join(', ');
  return [
    `approved ${votes.length} of ${count}${said === '' ? '' : `, by ${said}`}; one rejection is final`,
    ...(of === undefined ? [] : [`approvers: ${of.join(', ')}`]),
    ...(not === undefined ? [] : [`except ${not}, who started the run`]),
    '',
  ];
}

/** What values an `interrupt()` or a declared gate takes. */
export function schemaLines({ responseSchema }: Gate): readonly string[] {
  if (responseSchema === undefined) return [];
  return ['The value must match this JSON Schema:', JSON.stringify(responseSchema, null, 2), ''];
}

function changeLines(before: unknown, gate: Gate, devs: Session['devs']): readonly Line[] {
  return [
    { style: 'dim', text: 'Changes since you last read it:' },
    '',
    ...artifactChanges(before, gate.artifact),
    { style: 'dim', text: `whole gate: ${devs('show', shortId(gate), '--full')}` },
    '',
  ];
}
