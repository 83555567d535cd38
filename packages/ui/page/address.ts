import { signal } from '@preact/signals';
import { type Place, placeOf } from './place.ts';

export const place = signal<Place>({ kind: 'inbox' });

export function followAddress(): void {
  const read = (): void => {
    place.value = placeOf(location.hash);
    scrollTo(0, 0);
  };
  addEventListener('hashchange', read);
  read();
}
