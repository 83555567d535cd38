import { createHash } from 'node:crypto';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Lines that have little in common: long enough, they are kept as blobs outside the rows of a state file. */
export function longText(name: string, lines: number): string {
  return Array.from({ length: lines }, (_, line) => `${sha256(`${name} ${line}`)}\n`).join('');
}
