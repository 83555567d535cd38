import type { WaitingView } from '../src/views/inboxView.ts';
import { get } from './api.ts';
import { gateHref, inboxHref, runHref } from './place.ts';
import { screen } from './state.ts';

// Each key presses a button or follows a link of the page.

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.closest('input:not([type=checkbox], [type=radio]), textarea, select') !== null;

const focus = (selector: string): void => document.querySelector<HTMLElement>(selector)?.focus();
const press = (selector: string): void => document.querySelector<HTMLElement>(selector)?.click();

const isSeen = (element: HTMLElement): boolean => element.offsetParent !== null;

/** To the next of some elements after the one that has the focus, or that was come to last. */
function moveTo(selector: string, by: 1 | -1, within = ''): HTMLElement | undefined {
  const all = [...document.querySelectorAll<HTMLElement>(selector)].filter(isSeen);
  const active = document.activeElement;
  const own = within === '' ? active : (active?.closest(within) ?? active);
  const at = all.indexOf(own as HTMLElement);
  const next = at === -1 ? nearest(all, own, by) : all[Math.min(all.length - 1, Math.max(0, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
  return next;
}

/** The first one below the focus, or the last one above it. */
function nearest(all: readonly HTMLElement[], from: Element | null, by: 1 | -1): HTMLElement | undefined {
  if (from === null || from === document.body) return by === 1 ? all[0] : all.at(-1);
  const isAfter = (each: HTMLElement): boolean =>
    (from.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING) > 0;
  return by === 1 ? all.find(isAfter) : all.findLast((each) => !isAfter(each));
}

/** Back to the line that is commented on, if it is one. */
function leave(field: HTMLElement): void {
  field.blur();
  const row = field.closest('tr.thread');
  const line = row === null ? field.closest('.block') : row.previousElementSibling;
  line?.querySelector<HTMLElement>('button.at')?.focus();
}

function moveToFile(by: 1 | -1): void {
  moveTo('[data-section]', by, '[data-section]')?.scrollIntoView({ block: 'start' });
}

/** On the selection, else on the line with the focus. */
function comment(): void {
  if (document.querySelector('#comment') !== null) press('#comment');
  else if (document.activeElement?.matches('button.at') === true) press('button.at:focus');
}

const KEYS: Readonly<Record<string, () => void>> = {
  j: () => moveTo('a.item, button.at', 1),
  k: () => moveTo('a.item, button.at', -1),
  n: () => moveTo('.note.own textarea, .note.last', 1),
  p: () => moveTo('.note.own textarea, .note.last', -1),
  ']': () => moveToFile(1),
  '[': () => moveToFile(-1),
  '/': () => focus('input[type=search]'),
  '?': () => document.querySelector<HTMLElement>('#keys')?.togglePopover(),
  a: () => focus('#approve, .decide .primary'),
  r: () => press('#reject:not([aria-expanded=true])'),
  e: () => press('#edit:not([aria-expanded=true])'),
  q: () => (document.querySelector('#question') === null ? press('#ask') : focus('#question')),
  c: comment,
  d: () => press('#marks, .difference > summary, #changes'),
  u: () => press('#split'),
  v: () => press('.file:focus-within .viewed input, .file.current .viewed input'),
};

/** After `g`; `null` stays where one is. */
const PLACES: Readonly<Record<string, () => string | null | Promise<string | null>>> = {
  i: () => inboxHref,
  r: () => runOfScreen(),
  n: () => nextWaiting().catch(() => inboxHref),
};

async function nextWaiting(): Promise<string> {
  const { gates } = await get<WaitingView>('api/gates');
  const shown = screen.value.kind === 'gate' ? screen.value.view.sessionId : null;
  const next = gates.find(({ sessionId }) => sessionId !== shown);
  return next === undefined ? inboxHref : gateHref(next.threadId, next.sessionId);
}

async function go(key: string): Promise<void> {
  const to = (await PLACES[key]?.()) ?? null;
  if (to !== null) location.hash = to;
}

function runOfScreen(): string | null {
  const shown = screen.value;
  if (shown.kind === 'run') return runHref(shown.view.id);
  return shown.kind === 'gate' ? runHref(shown.view.threadId) : null;
}

/** Presses the button of the form with the focus. */
const send = (target: EventTarget | null): void =>
  (target as HTMLElement | null)
    ?.closest('form')
    ?.querySelector<HTMLElement>('button.send:not(:disabled)')
    ?.click();

function leaveHere(target: EventTarget | null): void {
  if (isWriting(target)) leave(target as HTMLElement);
  else press('.sheet .cancel');
}

/** Keys work outside of fields. A single key does not decide. */
export function listenToKeys(): void {
  let isGoing = false;
  addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send(event.target);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') leaveHere(event.target);
    if (isWriting(event.target)) return;
    const wasGoing = isGoing;
    isGoing = event.key === 'g' && !wasGoing;
    if (wasGoing) {
      void go(event.key);
      return;
    }
    const act = KEYS[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
}
