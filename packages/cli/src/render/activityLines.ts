import type { Activity, CallUsage } from '@devs/core';
import type { TranscriptEntry } from '@devs/core/internal';
import { type Line, linesAtGate, type Style, styled } from '../terminal/Line.ts';
import { oneLine } from '../terminal/visible.ts';
import { formatUsd } from './renderBudget.ts';

/** Begins each line that agents and commands have written: none of them can look like a line of the story. */
const MARGIN = '         │ ';

/** Characters of what is said in the line that stays. */
const MAX_NOW = 48;

/** What happens, in a few words; `null` for what says nothing about that. */
export function formatCurrent(activity: Activity): string | null {
  const words = formatActivityLine(activity);
  return words === null ? null : cutText(oneLine(words.trim()), MAX_NOW) || null;
}

function formatActivityLine(activity: Activity): string | null {
  if (activity.kind === 'thought') return 'thinking';
  if ('text' in activity) return lastLine(activity.text);
  if (activity.kind === 'tool') return activity.state === 'started' ? formatTool(activity) : null;
  if (activity.kind === 'plan') {
    return activity.entries.find(({ state }) => state === 'in_progress')?.text ?? null;
  }
  return formatOtherActivity(activity);
}

type TranscriptActivity = TranscriptEntry['activity'];
type ActivityOf<Kind extends TranscriptActivity['kind']> = Extract<
  TranscriptActivity,
  { readonly kind: Kind }
>;

function formatOtherActivity(
  activity: ActivityOf<'diff' | 'permission' | 'doing' | 'usage' | 'prompt'>,
): string | null {
  if (activity.kind === 'diff') return `editing ${activity.path}`;
  if (activity.kind === 'doing') return activity.what;
  return activity.kind !== 'permission' || activity.granted ? null : `refused: ${activity.title}`;
}

/** One activity as lines for people; what came in several lines is several. */
export function activityLines(activity: TranscriptEntry['activity']): readonly Line[] {
  const styleOf = activity.kind === 'diff' ? diffStyle : () => undefined;
  const lines = textLines(formatActivity(activity)).map((line) => styled(styleOf(line), MARGIN + line));
  return activity.kind === 'permission' ? linesAtGate(lines) : lines;
}

/** Of a line of a diff behind its path, as it is indented here. */
function diffStyle(line: string): Style | undefined {
  if (line.startsWith('  +')) return 'good';
  return line.startsWith('  -') ? 'bad' : undefined;
}

const TEXTS: { readonly [Kind in TranscriptActivity['kind']]: (activity: ActivityOf<Kind>) => string } = {
  prompt: ({ prompt }) => `> sent: ${prompt.length} characters; --prompt prints them`,
  text: ({ text }) => text,
  output: ({ text }) => text,
  thought: ({ text }) => indentAfterMark(text, '~ '),
  tool: (tool) => oneLine(`${TOOL_MARKS[tool.state]} ${formatTool(tool)}`),
  diff: ({ path, diff }) => `± ${oneLine(path)}\n${indentAfterMark(diff, '  ')}`,
  plan: ({ entries }) => entries.map(({ text, state }) => oneLine(`${PLAN_MARKS[state]} ${text}`)).join('\n'),
  permission: ({ granted, title, why }) => oneLine(`${granted ? 'allowed' : 'refused'}: ${title} (${why})`),
  doing: ({ what }) => oneLine(`> ${what}`),
  usage: ({ usage }) => `used: ${formatUsage(usage)}`,
  skipped: ({ characters }) => `… ${characters} characters were not stored …`,
};

/** `openai:gpt-5, 1200 tokens in, 900 of them cached, 80 out, $0.02`: what is known. */
export function formatUsage({ model, tokensIn, tokensOut, tokensCached = 0, costUsd }: CallUsage): string {
  const parts = [
    model === undefined ? '' : oneLine(model),
    tokensIn === undefined ? '' : `${tokensIn} tokens in`,
    tokensCached === 0 ? '' : `${tokensCached} of them cached`,
    tokensOut === undefined ? '' : `${tokensOut} ${tokensIn === undefined ? 'tokens out' : 'out'}`,
    costUsd === undefined ? '' : formatUsd(costUsd),
  ];
  return parts.filter((part) => part !== '').join(', ') || 'usage unknown';
}

const formatActivity = <Kind extends TranscriptActivity['kind']>(activity: ActivityOf<Kind>): string =>
  (TEXTS[activity.kind as Kind] as (told: ActivityOf<Kind>) => string)(activity);

const TOOL_MARKS = { started: '*', finished: '✓', failed: '✗' } as const;
const PLAN_MARKS = { pending: '[ ]', in_progress: '[>]', completed: '[x]' } as const;

const formatTool = ({ name, detail }: Extract<Activity, { readonly kind: 'tool' }>): string =>
  detail === undefined ? name : `${name} ${detail}`;

/** Without an empty one at the end. */
const textLines = (text: string): readonly string[] => text.replace(/\n$/, '').split('\n');

const indentAfterMark = (text: string, mark: string): string =>
  textLines(text)
    .map((line) => mark + line)
    .join('\n');

/** Rules and dots say nothing about what happens. */
const lastLine = (text: string): string | null =>
  textLines(text).findLast((line) => /[\p{L}\p{N}]/u.test(line)) ?? null;

const cutText = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1)}…`;
