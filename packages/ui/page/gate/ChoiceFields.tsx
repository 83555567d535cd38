import type { GateChoice, Sum } from '../../src/views/choices.ts';
import { MEASURES } from '../words.ts';
import { proposedSum, type Widget, widgetOf } from './buildAnswer.ts';
import type { GateOnPage } from './gateOnPage.ts';

interface FieldsOf {
  readonly choice: GateChoice;
  readonly gate: GateOnPage;
}

/** What is filled in for a choice, above the buttons. */
export function ChoiceFields({ choice: { form }, gate }: FieldsOf) {
  switch (form?.kind) {
    case undefined:
    case 'edit':
    case 'proposal':
      return null;
    case 'tasks':
      return <Names kind="tasks" title="Tasks to redo" names={form.names} gate={gate} />;
    case 'failures':
      return <Names kind="failures" title="Failures to accept" names={form.names} gate={gate} />;
    case 'raise':
      return (
        <fieldset>
          <legend>Amount to add</legend>
          {form.sums.map((sum) => (
            <SumField key={sum.measure} sum={sum} gate={gate} />
          ))}
        </fieldset>
      );
    case 'value':
      return <ValueField gate={gate} />;
  }
}

interface NamesOf {
  readonly kind: 'tasks' | 'failures';
  readonly title: string;
  readonly names: readonly string[];
  readonly gate: GateOnPage;
}

function Names({ kind, title, names, gate: { store } }: NamesOf) {
  return (
    <fieldset>
      <legend>
        {title}{' '}
        <span class="q3">({kind === 'tasks' ? 'none selected: the last one' : 'none selected: all'})</span>
      </legend>
      {names.map((name) => (
        <label key={name} class="check">
          <input
            type="checkbox"
            checked={store.draft.value.fields[`${kind} ${name}`] === 'on'}
            onChange={({ currentTarget }) =>
              store.setField(`${kind} ${name}`, currentTarget.checked ? 'on' : '')
            }
          />{' '}
          {name}
        </label>
      ))}
    </fieldset>
  );
}

function SumField({ sum, gate: { store } }: { readonly sum: Sum; readonly gate: GateOnPage }) {
  const name = `raise ${sum.measure}`;
  return (
    <label>
      <span>{MEASURES[sum.measure].field}</span>
      <input
        id={`raise-${sum.measure}`}
        inputMode="decimal"
        value={store.draft.value.fields[name] ?? proposedSum(sum)}
        onInput={({ currentTarget }) => store.setField(name, currentTarget.value)}
      />
    </label>
  );
}

/** As its schema has it, where that is simple; else JSON. */
function ValueField({ gate: { store, view } }: { readonly gate: GateOnPage }) {
  const widget = widgetOf(view.responseSchema);
  const value = store.draft.value.fields['value'] ?? '';
  return (
    <>
      <label for="value-field">
        <span>{widget === 'json' ? 'The value, as JSON' : 'The value'}</span>
      </label>
      <ValueControl widget={widget} value={value} write={(text) => store.setField('value', text)} />
      {widget === 'json' && view.responseSchema !== undefined && (
        <pre class="artifact">{JSON.stringify(view.responseSchema, null, 2)}</pre>
      )}
    </>
  );
}

interface ValueControlOf {
  readonly widget: Widget;
  readonly value: string;
  readonly write: (text: string) => void;
}

function ValueControl({ widget, value, write }: ValueControlOf) {
  const own = {
    id: 'value-field',
    value,
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      write(currentTarget.value),
  };
  if (widget === 'number') return <input inputMode="decimal" {...own} />;
  if (widget === 'text' || widget === 'json') return <textarea rows={4} {...own} />;
  const names = widget === 'yes-no' ? Object.keys(YES_NO) : widget;
  return (
    <select {...own}>
      <option value="">choose</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {widget === 'yes-no' ? YES_NO[name] : name}
        </option>
      ))}
    </select>
  );
}

const YES_NO: Readonly<Record<string, string>> = { true: 'yes', false: 'no' };
