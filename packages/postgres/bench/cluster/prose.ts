import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

const textIn = (folder: string, end: string): string =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(end))
    .sort()
    .map((name) => readFileSync(join(ROOT, folder, name), 'utf8').replaceAll(/[^\x20-\x7e\n]/g, ' '))
    .join('\n');

const PAGES = textIn('docs', '.md').replaceAll('\n', ' ');
const SOURCES = textIn('packages/core/src', '.ts');

const cut = (text: string, seed: number, bytes: number): string => {
  const from = (seed * 7919) % (text.length - bytes);
  return text.slice(from, from + bytes);
};

/** Text of this project's pages, from another place for each seed: hard to compress, as prose is. */
export const proseOf = (seed: number, bytes: number): string => cut(PAGES, seed, bytes);

/** Messages of an agent that works on sources, as JSON: it reads a part of one, says what is to be done, edits, and is shown the part again. */
export function transcriptOf(seed: number, bytes: number): string {
  const messages: unknown[] = [];
  for (let [nth, length] = [0, 0]; length < bytes; nth += 1) {
    const at = seed * 31 + nth;
    const part = cut(SOURCES, at, 3000);
    const line = part.slice(1200, 1500);
    const edit = { from: line, to: `${line}\n${cut(SOURCES, at + 17, 200)}` };
    const turns = [
      ...turn(`read_file_${at}`, { said: '', args: { at }, answer: part }),
      ...turn(`edit_file_${at}`, {
        said: cut(PAGES, at, 400),
        args: edit,
        answer: part.replace(edit.from, () => edit.to),
      }),
    ];
    messages.push(...turns);
    length += JSON.stringify(turns).length;
  }
  return JSON.stringify(messages).slice(0, bytes);
}

interface Turn {
  readonly said: string;
  readonly args: object;
  readonly answer: string;
}

const turn = (id: string, { said, args, answer }: Turn): readonly object[] => [
  {
    type: 'ai',
    data: {
      content: said,
      tool_calls: [{ name: 'source', args, id, type: 'tool_call' }],
      invalid_tool_calls: [],
    },
  },
  { type: 'tool', data: { content: answer, tool_call_id: id, name: 'source' } },
];
