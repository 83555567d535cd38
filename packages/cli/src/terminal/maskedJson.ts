import { maskSensitiveData } from '@devs/core';

/** JSON whose strings passed the broad masking rules; masking the finished text could break its quotes. */
export function maskedJson(value: unknown, indent = 0): string {
  const masked = (_key: string, item: unknown): unknown =>
    typeof item === 'string' ? maskSensitiveData(item) : item;
  return JSON.stringify(value, masked, indent);
}

/** True when a reader of the output sees less than the value holds. */
export function isMaskedForDisplay(value: unknown): boolean {
  return maskedJson(value) !== JSON.stringify(value);
}
