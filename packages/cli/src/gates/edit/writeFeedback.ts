import type { Io } from '../../terminal/Io.ts';
import { EditorFile } from './EditorFile.ts';

const ABOVE = (about: string): readonly string[] => [
  `<!-- What should change at ${about}? Write it below; an empty text leaves the gate open. -->`,
  '',
];

/** What should change, written in the user's editor; `null` when nothing is. */
export async function writeFeedback(about: string, io: Io): Promise<string | null> {
  const above = ABOVE(about);
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
