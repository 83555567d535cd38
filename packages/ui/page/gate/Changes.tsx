import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { isDocuments, isPlan, type PlanArtifact, type ShownTask } from '../artifacts.ts';
import { taskTag } from '../words.ts';
import { type TextPiece, textChanges } from './textChanges.ts';

/** The version that the person viewed before. */
export interface EarlierVersion {
  readonly artifact: unknown;
}

/** `null` without marks. */
export const ChangesContext = createContext<EarlierVersion | null>(null);

/** The earlier Markdown of a place; empty for a new place, `null` without marks. */
export function useEarlierText(place: string): string | null {
  const earlier = useContext(ChangesContext);
  if (earlier === null) return null;
  const { artifact } = earlier;
  if (isDocuments(artifact)) return artifact.documents.find(({ type }) => type === place)?.content ?? '';
  if (!isPlan(artifact)) return null;
  return taskNamed(artifact, place)?.description ?? '';
}

export function useEarlierPlan(): PlanArtifact | null {
  const earlier = useContext(ChangesContext);
  return earlier !== null && isPlan(earlier.artifact) ? earlier.artifact : null;
}

export const taskNamed = ({ tasks }: PlanArtifact, label: string): ShownTask | undefined =>
  tasks.find(({ taskId }) => taskTag(taskId) === label);

/** A text with its added and removed parts. */
export const Pieces = ({ pieces }: { readonly pieces: readonly TextPiece[] }) => (
  <>
    {pieces.map(({ kind, text }, at) =>
      kind === 'same' ? text : kind === 'added' ? <ins key={at}>{text}</ins> : <del key={at}>{text}</del>,
    )}
  </>
);

/** A short text with marks. @param before - `null` without marks */
export function MarkedText({ text, before }: { readonly text: string; readonly before: string | null }) {
  if (before === null || before === text) return <>{text}</>;
  const { units } = textChanges(before === '' ? [] : [before], [text]);
  return (
    <Pieces pieces={units.flatMap(({ goneBefore, pieces }) => [...goneBefore.map(goneText), ...pieces])} />
  );
}

const goneText = (text: string): TextPiece => ({ kind: 'removed', text });
