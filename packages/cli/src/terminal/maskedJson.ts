import { maskSensitiveData, visibleJson } from '@devs/core';

/**
 * JSON whose strings passed the broad masking rules; masking the finished text could break its quotes. What cannot be seen
 * is escaped, which leaves it the same JSON.
 */
export function maskedJson(value: unknown, indent = 0): string {
  const masked = (_key: string, item: unknown): unknown =>
    typeof item === 'string' ? maskSensitiveData(item) : item;
  return visibleJson(JSON.stringify(value, masked, indent));
}

/** In how many places a reader of the value sees a mask in the place of text. */
export function maskedPlaces(value: unknown): number {
  return maskedJson(value)?.match(/REDACTED[\]:]/g)?.length ?? 0;
}

/** True when a reader of the output sees less than the value holds. */
export function isMaskedForDisplay(value: unknown): boolean {
  return maskedJson(value) !== visibleJson(JSON.stringify(value));
}
