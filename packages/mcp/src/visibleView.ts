import { visibleJson, visibleText } from '@devs/core';

/** A plain JSON value whose texts and names show what cannot be seen; what has been spelled out stays as it is. */
export function visibleView(view: unknown): unknown {
  if (typeof view === 'string') return visibleOnce(view);
  if (Array.isArray(view)) return view.map(visibleView);
  if (typeof view !== 'object' || view === null) return view;
  return Object.fromEntries(
    Object.entries(view).map(([name, value]) => [visibleOnce(name), visibleView(value)]),
  );
}

const visibleOnce = (text: string): string => (visibleJson(text) === text ? text : visibleText(text));
