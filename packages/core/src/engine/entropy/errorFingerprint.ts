import { PLACES, replaceAccidental, TIMES_AND_IDS } from './accidental.ts';

/**
 * The part of an error's message that says what went wrong: without ids, times, paths, ports, line numbers and
 * durations. Two occurrences of one error have the same fingerprint; an exit code or a count still tells two apart.
 */
export function errorFingerprint(message: string): string {
  return replaceAccidental(replaceAccidental(message, TIMES_AND_IDS), PLACES);
}
