import { inboxHref } from './place.ts';

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select') !== null;

const focus = (selector: string): void => document.querySelector<HTMLElement>(selector)?.focus();

function moveFocus(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('a.row, button.at')];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
}

/** Back to the line that is commented on, if it is one. */
function leave(field: HTMLElement): void {
  field.blur();
  field.closest('.block, tr.thread')?.querySelector<HTMLElement>('button.at')?.focus();
  field.closest('tr.thread')?.previousElementSibling?.querySelector<HTMLElement>('button.at')?.focus();
}

const KEYS: Readonly<Record<string, () => void>> = {
  j: () => moveFocus(1),
  k: () => moveFocus(-1),
  i: () => {
    location.hash = inboxHref;
  },
  a: () => focus('#approve'),
  r: () => focus('#words'),
  c: () => document.querySelector<HTMLElement>('#comment')?.click(),
};

/** One key each, but where somebody writes: to the next row, to the inbox, to the answers. None of them decides. */
export function listenToKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape' && isWriting(event.target)) leave(event.target as HTMLElement);
    const act = isWriting(event.target) ? undefined : KEYS[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
}
