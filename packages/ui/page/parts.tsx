import type { ComponentChildren } from 'preact';
import type { ErrorView } from '../src/http/errors.ts';
import { formatAgo, formatTime, humanizeName } from './words.ts';

export function Ago({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={formatTime(at)}>
      {formatAgo(at)}
    </time>
  );
}

/** What went wrong, under the code of the command line, and what to do. */
export function Problem({ error }: { readonly error: ErrorView }) {
  return (
    <div class="problem" role="alert">
      <p>
        <code>{error.code}</code> {error.message}
      </p>
      <p class="remedy">{error.remedy}</p>
    </div>
  );
}

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
      <h2>{title}</h2>
      {children}
    </section>
  );
}
