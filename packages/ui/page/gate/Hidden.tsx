import type { Run } from '@devs/core';
import { useSignal } from '@preact/signals';
import type { ErrorView } from '../../src/http/errors.ts';
import type { GateView } from '../../src/views/gateView.ts';
import { gatePath, post } from '../api.ts';
import { Problem } from '../parts.tsx';
import { me, toErrorView } from '../state.ts';

/** That less is shown than a yes is for, and the way to read it. @param count - Places that are hidden. */
export function Hidden({ view, count }: { readonly view: GateView; readonly count: number }) {
  const places = useSignal<readonly Awaited<ReturnType<Run['reveal']>>[number][] | null>(null);
  const error = useSignal<ErrorView | null>(null);
  if (count === 0) return null;
  const reveal = async (): Promise<void> => {
    const { artifactHash } = view;
    try {
      const read = await post<{ readonly places: readonly Awaited<ReturnType<Run['reveal']>>[number][] }>(
        `${gatePath(view)}/reveal`,
        {
          artifactHash,
        },
      );
      places.value = read.places;
    } catch (failure) {
      error.value = toErrorView(failure);
    }
  };
  const lost = view.masked ?? 0;
  return (
    <section class="banner hidden-places">
      <p>
        {count === 1 ? '1 place is' : `${count} places are`} hidden, and an approval includes{' '}
        {count === 1 ? 'it' : 'them'}. Look for <code>REDACTED</code>.
        {lost > 0 && ` ${lost} of them cannot be shown: approve in a terminal with --with-hidden.`}
      </p>
      {places.value === null && view.isOpen && me.value?.isReadOnly === false && (
        <p>
          <button id="reveal" type="button" class="btn" onClick={() => void reveal()}>
            Reveal
          </button>{' '}
          <span class="q2">Shown only to you, and recorded.</span>
        </p>
      )}
      {places.value !== null && <Revealed places={places.value} />}
      {error.value !== null && <Problem error={error.value} />}
    </section>
  );
}

const Revealed = ({ places }: { readonly places: readonly Awaited<ReturnType<Run['reveal']>>[number][] }) => (
  <ol>
    {places.map((place, at) => (
      <li key={at}>
        <code>{place.in}</code> at {place.at}: {place.name}, {place.length} characters, digest {place.digest}
        <pre class="artifact">{place.text}</pre>
      </li>
    ))}
  </ol>
);
