import { SUMMARY, VERDICT } from './sumTask.ts';
import type { Model, Say } from './Turn.ts';

/** Bytes of one answer of a model that does not stop. */
export const FLOOD_BYTES = 32 * 1024 * 1024;

export const NO = { approved: false, comments: 'Not simple.' } as const;

const fenced = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value)}\n\`\`\`\n`;
const text = (words: string): Say => ({ kind: 'text', text: words });

/** Models with one fault each, in a stage; what a CLI asks beside it is answered. */
const inStage =
  (say: () => Say): Model =>
  ({ asked }) =>
    asked.includes('Stage: ') ? say() : text('Sum');

/** Says that it has edited, and has not. */
export const lying = inStage(() => text(SUMMARY));

/** Judges twice. */
export const undecided = inStage(() => text(`Yes.\n\n${fenced(VERDICT)}\nOr rather:\n\n${fenced(NO)}`));

export const flooding = inStage(() => text(`${'All work and no play. '.repeat(FLOOD_BYTES / 22)}\n`));

/** Never answers. */
export const silent = inStage(() => ({ kind: 'silence' }));

/** Its connection breaks in the middle of each answer. */
export const breaking = inStage(() => ({ kind: 'break' }));
