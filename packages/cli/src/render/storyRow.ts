import type { EventName, LogEntry, OrchestratorEvents } from '@devs/core';
import { sentence, taskLabel } from './sentence.ts';

/** Time (UTC, to the second), task and sentence; nothing for entries that tell people nothing. */
export function storyRow({ at, name, taskId, payload }: LogEntry): readonly (readonly string[])[] {
  const eventName = name as EventName;
  const text = sentence(eventName, payload as OrchestratorEvents[typeof eventName]);
  return text === null ? [] : [[`${at.slice(0, 19).replace('T', ' ')}Z`, taskLabel(taskId), text]];
}
