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

/** Messages of an agent that reads sources and says what it thinks of them, as JSON. */
export function transcriptOf(seed: number, bytes: number): string {
  const messages: unknown[] = [];
  for (let [nth, length] = [0, 0]; length < bytes; nth += 1) {
    const at = seed * 31 + nth;
    const said = cut(PAGES, at, 400);
    const asked = {
      name: 'read_file',
      args: { from: at * 80, lines: 80 },
      id: `call_${at}`,
      type: 'tool_call',
    };
    const turn = [
      {
        type: 'ai',
        data: { content: said, tool_calls: [asked], invalid_tool_calls: [], additional_kwargs: {} },
      },
      { type: 'tool', data: { content: cut(SOURCES, at, 3000), tool_call_id: asked.id, name: asked.name } },
    ];
    messages.push(...turn);
    length += JSON.stringify(turn).length;
  }
  return JSON.stringify(messages).slice(0, bytes);
}
