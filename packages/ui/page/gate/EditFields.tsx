import type { DraftDocument, PlanResult } from '@devs/core';
import { useSignal } from '@preact/signals';
import { gatePath } from '../api.ts';
import { decidedDocumentsFirst } from '../artifacts.ts';
import { Problem } from '../parts.tsx';
import { useView } from '../useView.ts';
import { keptJson } from './buildAnswer.ts';
import type { GateOnPage } from './gateOnPage.ts';
import { PlanFields } from './PlanFields.tsx';

/** What is shown, as it is: what cannot be seen is not spelled out in a text that is changed. */
type Editable =
  | { readonly documents: readonly DraftDocument[] }
  | { readonly plan: PlanResult }
  | { readonly edit: unknown };

interface EditFieldsOf {
  readonly kind: 'edit' | 'proposal';
  readonly label: string;
  readonly gate: GateOnPage;
}

/** Read when it is opened first, and kept: what is written in it is of what was read. */
export function EditFields({ kind, gate }: EditFieldsOf) {
  const isWanted = useSignal(false);
  return (
    <details
      class="own-version"
      onToggle={({ currentTarget }) => {
        isWanted.value ||= currentTarget.open;
      }}
    >
      <summary>{kind === 'edit' ? 'Your edited version' : 'Edit it yourself'}</summary>
      {isWanted.value && <ReadFields gate={gate} />}
    </details>
  );
}

function ReadFields({ gate }: { readonly gate: GateOnPage }) {
  const loaded = useView<Editable>(`${gatePath(gate.view)}/edit`).value;
  if (loaded.kind === 'loading') return null;
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
