import { styleText } from 'node:util';

const LOOKS = {
  bold: 'bold',
  dim: 'dim',
  good: 'green',
  bad: 'red',
  due: 'yellow',
  code: 'cyan',
} as const;

/** How a stretch of text looks. */
export type Look = keyof typeof LOOKS;

/** A text that is safe to show, with the codes of a look around it: line by line, for pagers that begin each line anew. */
export function withLook(look: Look | undefined, text: string): string {
  if (look === undefined) return text;
  const line = (part: string): string =>
    part === '' ? '' : styleText(LOOKS[look], part, { validateStream: false });
  return text.split('\n').map(line).join('\n');
}
