import { maskView, visibleText } from '@devs/core';

/**
 * A plain JSON value as a person may see it: masked, and with what cannot be seen spelled out. Done here, once, and for
 * every text that leaves: the page shows texts as they come.
 */
export function shownView<View extends object>(view: View): View {
  return visible(maskView(JSON.parse(JSON.stringify(view)))) as View;
}

function visible(value: unknown): unknown {
  if (typeof value === 'string') return visibleText(value);
  if (Array.isArray(value)) return value.map(visible);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [visibleText(name), visible(item)]));
}
