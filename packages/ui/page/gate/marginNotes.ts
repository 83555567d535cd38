import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** Screens that have room for a margin; the style sheet has the same width. */
const ROOM = '(min-width: 87.01rem)';
/** Between two threads, px. */
const APART = 12;

/** Puts the threads of a paper into its margin, each beside its quote, pushed down until they do not overlap. */
export function useMarginNotes(): RefObject<HTMLDivElement | null> {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const paper = ref.current;
    if (paper === null) return;
    const room = matchMedia(ROOM);
    const place = (): void => (room.matches ? placeNotes(paper) : undefined);
    const sizes = new ResizeObserver(place);
    const observe = (): void => {
      sizes.disconnect();
      sizes.observe(paper);
      for (const element of document.querySelectorAll('.beside, .paper .said')) sizes.observe(element);
    };
    const comings = new MutationObserver(observe);
    comings.observe(paper, { childList: true, subtree: true });
    observe();
    return () => {
      sizes.disconnect();
      comings.disconnect();
    };
  }, []);
  return ref;
}

function placeNotes(paper: HTMLElement): void {
  const margin = paper.parentElement?.querySelector('.beside');
  if (!margin) return;
  const { left, top } = margin.getBoundingClientRect();
  const questions = margin.lastElementChild?.getBoundingClientRect();
  let free = questions === undefined ? top : questions.bottom + APART;
  for (const note of paper.querySelectorAll<HTMLElement>('.said')) free = placeNote(note, left, free);
  // The last thread ends above the bar.
  paper.style.setProperty('--least', `${Math.max(0, free - paper.getBoundingClientRect().top)}px`);
}

/** @param free - The first free place of the margin. Returns the next one. */
function placeNote(note: HTMLElement, left: number, free: number): number {
  const line = note.parentElement?.getBoundingClientRect();
  const origin = note.offsetParent?.getBoundingClientRect();
  if (line === undefined || origin === undefined) return free;
  const at = Math.max(free, line.top);
  note.style.setProperty('--x', `${left - origin.left}px`);
  note.style.setProperty('--y', `${at - origin.top}px`);
  return at + note.offsetHeight + APART;
}
