import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Whether an element has come near the screen. @param isAtOnce - Counts as near from the beginning. */
export function useNear(isAtOnce: boolean): {
  readonly place: RefObject<HTMLDivElement | null>;
  readonly isNear: boolean;
} {
  const isNear = useSignal(isAtOnce);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isNear.value || place.current === null) return undefined;
    const observer = new IntersectionObserver(
      (seen) => {
        if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
        isNear.value = true;
        observer.disconnect();
      },
      { rootMargin: '600px' },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return { place, isNear: isNear.value || isAtOnce };
}
