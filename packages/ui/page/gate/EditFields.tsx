import type { DraftDocument, PlanResult } from '@devs/core';
import { gatePath } from '../api.ts';
import { decidedDocumentsFirst } from '../artifacts.ts';
import { Loading, Problem } from '../parts.tsx';
import { useView } from '../useView.ts';
import { keptJson } from './buildAnswer.ts';
import type { GateOnPage } from './gateOnPage.ts';
import { PlanFields } from './PlanFields.tsx';

/** What is shown, as it is: what cannot be seen is not spelled out in a text that is changed. */
type Editable =
  | { readonly documents: readonly DraftDocument[] }
  | { readonly plan: PlanResult }
  | { readonly edit: unknown };

/** In the place of the artifact. It is read once, when it is opened first. */
export function EditFields({ gate }: { readonly gate: GateOnPage }) {
  return (
    <section class="own-version" aria-label="Your version">
      <ReadFields gate={gate} />
    </section>
  );
}

function ReadFields({ gate }: { readonly gate: GateOnPage }) {
  const loaded = useView<Editable>(`${gatePath(gate.view)}/edit`).value;
  if (loaded.kind === 'loading') return <Loading />;
  if (loaded.kind === 'error') return <Problem error={loaded.error} />;
  return <Fields shown={loaded.view} gate={gate} />;
}

function Fields({ shown, gate }: { readonly shown: Editable; readonly gate: GateOnPage }) {
  if ('documents' in shown) {
    return (
      <>
        {decidedDocumentsFirst(shown.documents).map((document) => (
          <DocumentField key={document.type} document={document} gate={gate} />
        ))}
      </>
    );
  }
  if ('plan' in shown) return <PlanFields plan={shown.plan} gate={gate} />;
  return <OwnField shown={shown.edit} gate={gate} />;
}

/** Nothing is kept of a document that says what it said. */
function DocumentField({
  document,
  gate: { store },
}: {
  readonly document: DraftDocument;
  readonly gate: GateOnPage;
}) {
  const name = `document ${document.type}`;
  const kept = store.draft.value.fields[name] ?? '';
  const { content } = keptJson<DraftDocument>(kept) ?? document;
  const write = (text: string): void =>
    store.setField(name, text === document.content ? '' : JSON.stringify({ ...document, content: text }));
  return (
    <label>
      <span>
        {document.title} {kept !== '' && <em>changed</em>}
      </span>
      <textarea
        class="long"
        rows={16}
        value={content}
        onInput={({ currentTarget }) => write(currentTarget.value)}
      />
    </label>
  );
}

/** A text is changed as a text, anything else as JSON. */
function OwnField({ shown, gate: { store } }: { readonly shown: unknown; readonly gate: GateOnPage }) {
  const text = typeof shown === 'string' ? shown : JSON.stringify(shown, null, 2);
  return (
    <label>
      <span>{typeof shown === 'string' ? 'Your version' : 'Your version, as JSON'}</span>
      <textarea
        class="long"
        rows={10}
        value={store.draft.value.fields['edit'] ?? text}
        onInput={({ currentTarget }) => store.setField('edit', currentTarget.value)}
      />
    </label>
  );
}
