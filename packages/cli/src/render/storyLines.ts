import type { EventName, LogEntry, OrchestratorEvents } from '@devs/core';
import { columns, type Line, linesAtGate, styled } from '../terminal/Line.ts';
import { eventStyle, sentence, taskLabelOrEmpty } from './sentence.ts';

/**
 * What happened, a line each, with aligned columns.
 *
 * @param label - Characters of the task's column at least, where the lines that follow are not known yet.
 */
export function storyLines(entries: readonly LogEntry[], label = 0): readonly Line[] {
  const told = entries.flatMap((entry) => {
    const row = rowOf(entry, label);
    return row === null ? [] : [{ row, style: eventStyle(entry.name), name: entry.name }];
  });
  const lines = columns(told.map(({ row }) => row)).map((text, at) => styled(told[at]?.style ?? 'row', text));
  return lines.flatMap((line, at) => (told[at]?.name === 'AGENT_ASKED' ? linesAtGate([line]) : [line]));
}

/** Characters of the longest label among those that are told. */
export function labelWidth(entries: readonly LogEntry[]): number {
  return entries.reduce((width, entry) => Math.max(width, rowOf(entry, 0)?.[1].length ?? 0), 0);
}

/** Time (UTC, to the second), task and sentence; `null` for an entry that tells people nothing. */
function rowOf(
  { at, name, taskId, payload }: LogEntry,
  label: number,
): readonly [time: string, task: string, sentence: string] | null {
  const eventName = name as EventName;
  const text = sentence(eventName, payload as OrchestratorEvents[typeof eventName]);
  return text === null
    ? null
    : [`${at.slice(0, 19).replace('T', ' ')}Z`, taskLabelOrEmpty(taskId).padEnd(label), text];
}
