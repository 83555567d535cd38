import type { Look } from './look.ts';
import { withLook } from './look.ts';

/** A unified diff with what was added and removed told apart. A header's lines are not: `--- a/x` removes nothing. */
export function paintDiff(text: string): string {
  let isHeader = false;
  const paint = (line: string): string => {
    if (line.startsWith('diff --git ')) isHeader = true;
    else if (line.startsWith('@@')) isHeader = false;
    return withLook(isHeader ? 'bold' : LOOKS[line.charAt(0)], line);
  };
  return text.split('\n').map(paint).join('\n');
}

const LOOKS: Readonly<Record<string, Look>> = { '+': 'good', '-': 'bad', '@': 'code' };
