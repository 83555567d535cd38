import { type Activity, oneLine, type TranscriptEntry } from '@devs/core';

/** Begins each line that agents and commands have written: none of them can look like a line of the story. */
const MARGIN = '         │ ';

/** Characters of what is said in the line that stays. */
const MAX_NOW = 48;

/** What happens, in a few words; `null` for what says nothing about that. */
export function nowWords(activity: Activity): string | null {
  const words = wordsOf(activity);
  return words === null ? null : cut(oneLine(words.trim()), MAX_NOW) || null;
}

function wordsOf(activity: Activity): string | null {
  switch (activity.kind) {
    case 'text':
    case 'output':
      return lastLine(activity.text);
    case 'thought':
      return 'thinking';
    case 'tool':
      return activity.state === 'started' ? toolWords(activity) : null;
    case 'diff':
      return `editing ${activity.path}`;
    case 'plan':
      return activity.entries.find(({ state }) => state === 'in_progress')?.text ?? null;
    case 'permission':
      return activity.granted ? null : `refused: ${activity.title}`;
    case 'doing':
      return activity.what;
    case 'usage':
      return null;
  }
}

/** One activity as lines for people; what came in several lines is several. */
export function activityLines(activity: TranscriptEntry['activity']): readonly string[] {
  return textLines(textOf(activity)).map((line) => MARGIN + line);
}

function textOf(activity: TranscriptEntry['activity']): string {
  switch (activity.kind) {
    case 'text':
    case 'output':
      return activity.text;
    case 'thought':
      return indented(activity.text, '~ ');
    case 'tool':
      return oneLine(`${TOOL_MARKS[activity.state]} ${toolWords(activity)}`);
    case 'diff':
      return `± ${oneLine(activity.path)}\n${indented(activity.diff, '  ')}`;
    case 'plan':
      return activity.entries.map(({ text, state }) => oneLine(`${PLAN_MARKS[state]} ${text}`)).join('\n');
    case 'permission':
      return oneLine(`${activity.granted ? 'allowed' : 'refused'}: ${activity.title} (${activity.why})`);
    case 'doing':
      return oneLine(`> ${activity.what}`);
    case 'usage': {
      const { tokensIn = 0, tokensOut = 0, costUsd } = activity.usage;
      const cost = costUsd === undefined ? '' : `, $${costUsd.toFixed(2)}`;
      return `${tokensIn} tokens in, ${tokensOut} out${cost}`;
    }
    case 'skipped':
      return `… ${activity.characters} characters are not kept …`;
  }
}

const TOOL_MARKS = { started: '*', finished: '✓', failed: '✗' } as const;
const PLAN_MARKS = { pending: '[ ]', in_progress: '[>]', completed: '[x]' } as const;

const toolWords = ({ name, detail }: Extract<Activity, { readonly kind: 'tool' }>): string =>
  detail === undefined ? name : `${name} ${detail}`;

/** Without an empty one at the end. */
const textLines = (text: string): readonly string[] => text.replace(/\n$/, '').split('\n');

const indented = (text: string, mark: string): string =>
  textLines(text)
    .map((line) => mark + line)
    .join('\n');

const lastLine = (text: string): string | null =>
  textLines(text).findLast((line) => line.trim() !== '') ?? null;

const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1)}…`;
