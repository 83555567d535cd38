import { maskAtGate, maskInTurns, visibleText } from '@devs/core/internal';

/**
 * A plain JSON value as a person may see it: masked, and with what cannot be seen spelled out. Done here, once, and for
 * every text that leaves: the page shows texts as they come.
 */
export async function shownView<View extends object>(view: View): Promise<View> {
  return visibleTexts(toPlainJson(await maskInTurns(view))) as View;
}

/** As {@link shownView}, of what a gate shows: it hides what gates hide, and nothing else. */
export function viewAtGate<View extends object>(view: View, gate: string): View {
  return visibleTexts(maskAtGate(toPlainJson(view), { gate }).view) as View;
}

/** As {@link shownView}, with nothing hidden: for a person who asked for that. */
export const revealedView = <View extends object>(view: View): View =>
  visibleTexts(toPlainJson(view)) as View;

const toPlainJson = (view: object): unknown => JSON.parse(JSON.stringify(view));

function visibleTexts(value: unknown): unknown {
  if (typeof value === 'string') return visibleText(value);
  if (Array.isArray(value)) return value.map(visibleTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [visibleText(name), visibleTexts(item)]),
  );
}
