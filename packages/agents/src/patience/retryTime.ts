// Reads the time of the next request from a provider's message.

/** Milliseconds of one unit, by its first letters. */
const UNITS: readonly (readonly [unit: RegExp, ms: number])[] = [
  [/^(?:ms|milli)/, 1],
  [/^s/, 1_000],
  [/^m/, 60_000],
  [/^h/, 3_600_000],
  [/^d/, 86_400_000],
];

const AMOUNT = String.raw`\d{1,9}(?:\.\d+)?\s*(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)\b`;
const SEPARATED = String.raw`(?:\s*(?:,|and)?\s*)`;
const IN_SO_LONG = new RegExp(
  String.raw`\b(?:try again|retry|resets?|available)\s+(?:in|after)\s+(${AMOUNT}(?:${SEPARATED}${AMOUNT}){0,4})`,
  'i',
);
/** Units without a space between: `1h2m3.5s`. */
const COMPACT = /\b(?:try again|retry|resets?)\s+(?:in|after)\s+((?:\d{1,9}(?:\.\d+)?(?:ms|[smhd])){2,5})/i;
const AT_MOMENT =
  /\b(?:try again|retry|resets?|until|available)\b[^\n]{0,40}?\b(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d))/i;
/** Seconds since the epoch behind a bar, as a coding CLI reports the end of a usage limit. */
const EPOCH = /\blimit reached\|(\d{10})\b/i;
const AT_HOUR =
  /\b(?:try again|retry|resets?)(?:\s+at)?\s+(?=\d{1,2}(?::\d\d|\s*[ap]m\b))(\d{1,2})(?::(\d\d))?\s*(am|pm)?(?!\d)(?:\s*\(([\w+-]+(?:\/[\w+-]+){0,2})\))?/i;

/**
 * The named time of the next request, in milliseconds since the Unix epoch; `null` without one. An hour
 * of the day is the next one, in the zone that is named behind it, else in that of this process.
 *
 * @param now - Milliseconds since the Unix epoch.
 */
export function retryTime(text: string, now: number): number | null {
  const moment = Date.parse(AT_MOMENT.exec(text)?.[1] ?? '');
  if (Number.isFinite(moment)) return moment;
  const epoch = EPOCH.exec(text)?.[1];
  if (epoch !== undefined) return Number(epoch) * 1_000;
  const length = COMPACT.exec(text)?.[1] ?? IN_SO_LONG.exec(text)?.[1];
  if (length !== undefined) return now + lengthInMs(length);
  const hour = AT_HOUR.exec(text);
  return hour === null ? null : nextHour(hour, now);
}

function lengthInMs(text: string): number {
  return [...text.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi)].reduce((sum, [, amount, unit = '']) => {
    const [, ms = 0] = UNITS.find(([name]) => name.test(unit.toLowerCase())) ?? [];
    return sum + Math.ceil(Number(amount) * ms);
  }, 0);
}

const DAY_MS = 86_400_000;

function nextHour([, digits = '', minutes = '0', half, zone]: RegExpExecArray, now: number): number | null {
  const isHalf = half !== undefined;
  const hour = isHalf ? (Number(digits) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0) : Number(digits);
  if (hour > 23 || Number(minutes) > 59 || (isHalf && Number(digits) > 12)) return null;
  const wanted = hour * 3_600_000 + Number(minutes) * 60_000;
  const past = timeOfDay(now, zone);
  if (past === null) return null;
  const ahead = wanted - past;
  return now + (ahead > 0 ? ahead : ahead + DAY_MS);
}

/** Milliseconds since midnight in a zone; `null` for an unknown zone. */
function timeOfDay(now: number, timeZone: string | undefined): number | null {
  try {
    const format = new Intl.DateTimeFormat('en-GB', {
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
      ...(timeZone !== undefined && { timeZone }),
    });
    const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, Number(value)]));
    const [hour = 0, minute = 0, second = 0] = [parts.get('hour'), parts.get('minute'), parts.get('second')];
    return ((hour * 60 + minute) * 60 + second) * 1_000;
  } catch {
    return null;
  }
}
