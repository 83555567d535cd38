import { isRecord } from '../../engine/isRecord.ts';

/**
 * Settings as one line each, `rules.no-console: "off"`: a list is one value, however it is laid out.
 *
 * @returns `null` where the text is no JSON object.
 */
export function flatJson(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? linesOf(value, []).join('\n') : null;
  } catch {
    return null;
  }
}

function linesOf(value: object, path: readonly string[]): readonly string[] {
  return Object.entries(value).flatMap(([key, inner]: readonly [string, unknown]) => {
    const here = [...path, key];
    return isRecord(inner) ? linesOf(inner, here) : [`${here.join('.')}: ${JSON.stringify(inner)}`];
  });
}
