import type { ComponentChildren } from 'preact';
import type { EvidenceShare, EvidenceView, Meter, TriedWay } from '../src/views/evidenceView.ts';
import { meterShapes } from './meterShapes.ts';
import { Section } from './parts.tsx';

/** What a guard has seen: how far it came, why, and what was tried; folded below it, all of it as it was recorded. */
export function Evidence({
  evidence,
  children,
}: {
  readonly evidence: EvidenceView;
  readonly children: ComponentChildren;
}) {
  const { what, meters, shares, tried, said, errors, seenLast } = evidence;
  return (
    <section class="evidence" aria-label="Evidence">
      <p>{what}</p>
      <dl class="meters">
        {meters.map((meter) => (
          <MeterRow key={meter.name} meter={meter} />
        ))}
      </dl>
      {shares.length > 0 && <Shares shares={shares} />}
      {tried.length > 1 && <Tried tried={tried} />}
      <Texts title="Guidance so far" texts={said} />
      <Texts title="Errors" texts={errors} />
      {seenLast !== null && <Texts title="Last observation" texts={[seenLast]} />}
      <details>
        <summary>Recorded data</summary>
        {children}
      </details>
    </section>
  );
}

function MeterRow({ meter }: { readonly meter: Meter }) {
  const { bars, limitAt, words } = meterShapes(meter);
  return (
    <div class="meter-row">
      <dt>{meter.name}</dt>
      <dd>
        <svg viewBox="0 0 1000 16" preserveAspectRatio="none" aria-hidden="true">
          <rect class="ground" width="1000" height="16" />
          {bars.map(({ kind, x, width }) => (
            <rect key={kind} class={`bar ${kind}`} x={x} width={width} y="3" height="10" />
          ))}
          {limitAt !== null && <line class="limit" x1={limitAt} x2={limitAt} y1="0" y2="16" />}
        </svg>
        <span class="number">{words}</span>
      </dd>
    </div>
  );
}

/** Each part with its share of the score, the strongest first. */
function Shares({ shares }: { readonly shares: readonly EvidenceShare[] }) {
  return (
    <ul class="shares">
      {shares.map(({ part, share, evidence }) => (
        <li key={part} class="share">
          <svg viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
            <rect class="ground" width="100" height="12" />
            <rect class="bar" width={Math.min(100, share * 100)} height="12" />
          </svg>
          <span class="number">{share.toFixed(2)}</span>
          <span>{evidence}</span>
        </li>
      ))}
    </ul>
  );
}

function Tried({ tried }: { readonly tried: readonly TriedWay[] }) {
  return (
    <Section title="Strategies tried">
      <ol class="cards tried">
        {tried.map(({ strategy, because }, at) => (
          <li key={at} class="card">
            <p>{strategy}</p>
            <p class="q3">reason: {because}</p>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Texts({ title, texts }: { readonly title: string; readonly texts: readonly string[] }) {
  if (texts.length === 0) return null;
  return (
    <Section title={title}>
      {texts.map((text, at) => (
        <pre key={at} class="artifact">
          {text}
        </pre>
      ))}
    </Section>
  );
}
