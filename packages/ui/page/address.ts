import { signal } from '@preact/signals';
import { type PageRoute, parseRoute } from './place.ts';

export const place = signal<PageRoute>({ kind: 'inbox' });

export function followAddress(): void {
  const read = (): void => {
    place.value = parseRoute(location.hash);
    scrollTo(0, 0);
  };
  addEventListener('hashchange', read);
  read();
}
