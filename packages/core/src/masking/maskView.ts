import { isShownAtGate } from './maskAtGate.ts';
import { maskSensitiveData } from './maskSensitiveData.ts';

const REDACTED = '[REDACTED]';

/** Ids that the engine issues: they open nothing, and a client needs them to name a gate. */
const ISSUED_ID = /^sessionId:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Masks every text of a plain JSON value with the broad rules for output [8_RISKS-REQ-001]. A text is also looked at
 * together with the name of its field, since `hunter2` is no secret until it is called a password. Text by text,
 * never over serialized JSON: a rule that ends at a quote would break it. What a gate shows, {@link maskAtGate}, stays as it is.
 */
export function maskView(view: unknown, field = ''): unknown {
  return new ViewMasker().view(view, field);
}

/** Of one view: what stands in it a thousand times, such as the names of its fields, is looked at once. */
class ViewMasker {
  /** By field, then by text: what is a secret under one name may be none under another. */
  readonly #known = new Map<string, Map<string, string>>();

  view(view: unknown, field: string): unknown {
    if (typeof view === 'string') return this.#text(view, field);
    if (Array.isArray(view)) return isShownAtGate(view) ? view : view.map((item) => this.view(item, field));
    if (typeof view !== 'object' || view === null || isShownAtGate(view)) return view;
    return Object.fromEntries(
      Object.entries(view).map(([name, value]) => [this.#text(name, ''), this.view(value, name)]),
    );
  }

  #text(text: string, field: string): string {
    const known = this.#known.get(field) ?? new Map<string, string>();
    this.#known.set(field, known);
    const masked = known.get(text) ?? maskText(text, field);
    known.set(text, masked);
    return masked;
  }
}

function maskText(text: string, field: string): string {
  const masked = maskSensitiveData(text);
  if (masked !== text || field === '' || ISSUED_ID.test(`${field}:${text}`)) return masked;
  const named = JSON.stringify({ [field]: text });
  return maskSensitiveData(named) === named ? text : REDACTED;
}
