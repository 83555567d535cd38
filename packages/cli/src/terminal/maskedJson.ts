import { isShownAtGate, maskSensitiveData, visibleJson } from '@devs/core';

/**
 * JSON whose strings passed the broad masking rules; masking the finished text could break its quotes. What gates show has
 * passed theirs and stays as it is. What cannot be seen is escaped, which leaves it the same JSON.
 */
export const maskedJson = (value: unknown, indent = 0): string =>
  visibleJson(JSON.stringify(masked(value), undefined, indent));

function masked(value: unknown): unknown {
  if (typeof value === 'string') return maskSensitiveData(value);
  if (typeof value !== 'object' || value === null || isShownAtGate(value) || hasJson(value)) return value;
  if (Array.isArray(value)) return value.map(masked);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, masked(item)]));
}

/** Such as a date. */
const hasJson = (value: object): boolean => typeof (value as { toJSON?: unknown }).toJSON === 'function';
