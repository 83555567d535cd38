import type { ComponentChildren } from 'preact';
import type { ErrorView } from '../src/http/errors.ts';
import type { Fact } from '../src/views/gateFacts.ts';
import { Icon, type IconName } from './icons.tsx';
import { lineBlocks } from './lineBlocks.ts';
import { formatAgo, formatSince, formatTime, humanizeName } from './words.ts';

export function Ago({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={formatTime(at)}>
      {formatAgo(at)}
    </time>
  );
}

/** As {@link Ago}, in a sentence. */
export const Since = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={formatTime(at)}>
    {formatSince(at)}
  </time>
);

/** The problem, its remedy, and the code of the command line. */
export function Problem({ error }: { readonly error: ErrorView }) {
  return (
    <div class="problem" role="alert">
      <p>{error.message}</p>
      <p class="remedy">
        {error.remedy} <code class="q3">{error.code}</code>
      </p>
    </div>
  );
}

/** While a part is read. */
export const Loading = () => (
  <p class="loading q3" role="status">
    Loading…
  </p>
);

export function Status({ value }: { readonly value: string }) {
  return <span class={`status ${value}`}>{humanizeName(value)}</span>;
}

export function Section({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}) {
  return (
    <section>
      <h2 class="evidence-h">{title}</h2>
      {children}
    </section>
  );
}

interface LineCounts {
  readonly added: number;
  readonly removed: number;
}

/** Added and removed lines. */
export const Lines = ({ added, removed }: LineCounts) => (
  <span class="pm">
    {added > 0 && <span class="a">+{added}</span>} {removed > 0 && <span class="d">−{removed}</span>}
  </span>
);

/** Added and removed lines, and their share. */
export const LineShare = (counts: LineCounts) => (
  <>
    <Lines {...counts} />
    <span class="blocks" aria-hidden="true">
      {lineBlocks(counts.added, counts.removed).map((kind, at) => (
        <i key={at} class={kind} />
      ))}
    </span>
  </>
);

const TONES = { plain: '', ok: 'ok', warning: 'wait', bad: 'bad' } as const;
const SIGNS: Readonly<Record<keyof typeof TONES, IconName | null>> = {
  plain: null,
  ok: 'check',
  warning: 'warning',
  bad: 'cross',
};

/** Facts of a gate, one after the other. */
export const FactWords = ({ facts }: { readonly facts: readonly Fact[] }) => (
  <span class="facts">
    {facts.map(({ text, tone }, at) => {
      const sign = SIGNS[tone];
      return (
        <span key={text} class={TONES[tone]}>
          {at > 0 && <i aria-hidden="true"> · </i>}
          {sign !== null && <Icon name={sign} />}
          {text}
        </span>
      );
    })}
  </span>
);
