import type { Gate } from '@devs/core';
import type { Io } from '../../terminal/Io.ts';
import { GATE_LABELS } from '../gateLabels.ts';
import { EditorFile } from './EditorFile.ts';

const ABOVE = ({ sessionId, kind, threadId }: Gate): readonly string[] => [
  `<!-- What should change at gate ${sessionId.slice(0, 8)}, ${GATE_LABELS[kind].name} of ${threadId}? Write your feedback below. An empty text leaves the gate open. -->`,
  '',
];

/** What should change, written in the user's editor; `null` when nothing is. */
export async function writeFeedback(gate: Gate, io: Io): Promise<string | null> {
  const above = ABOVE(gate);
  const file = await EditorFile.create({ text: `${above.join('\n')}\n`, extension: '.md' }, io);
  try {
    const lines = (await file.edit()).split('\n');
    const text = lines
      .filter((line) => line.trimEnd() !== above[0])
      .join('\n')
      .trim();
    return text === '' ? null : text;
  } finally {
    await file.remove();
  }
}
