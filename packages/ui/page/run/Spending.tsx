import type { RunView, Spent } from '../../src/views/runView.ts';
import { formatCost, formatCount, formatMeasure } from '../words.ts';

/** What the run has used: in all, against its budget, by stage and by task. */
export function Spending({ run: { cost, budget, spending } }: { readonly run: RunView }) {
  return (
    <section class="panel money" aria-label="Spending">
      <header>
        <h2>Spending</h2>
      </header>
      {budget.length > 0 && (
        <ul class="budget">
          {budget.map(({ measure, spent, reserved, limit }) => (
            <li key={measure}>
              <span>{measure}</span>
              <progress
                class="meter"
                value={spent + reserved}
                max={limit}
                aria-label={`${measure} of the budget`}
              />
              <span class="number">
                {formatMeasure(measure, spent + reserved)} of {formatMeasure(measure, limit)}
              </span>
            </li>
          ))}
        </ul>
      )}
      <div class="tables">
        <Table title="By stage" parts={spending.stages} whole={cost} />
        <Table title="By task" parts={spending.tasks} whole={cost} />
      </div>
    </section>
  );
}

function Table({
  title,
  parts,
  whole,
}: {
  readonly title: string;
  readonly parts: readonly Spent[];
  readonly whole: Spent['cost'];
}) {
  if (parts.length === 0) return null;
  return (
    <table class="spending">
      <caption>{title}</caption>
      <thead>
        <tr>
          <th scope="col">of</th>
          <th scope="col">requests</th>
          <th scope="col">in</th>
          <th scope="col">out</th>
          <th scope="col">cost</th>
        </tr>
      </thead>
      <tbody>
        {parts.map(({ name, cost }) => (
          <SpendingRow key={name} name={name} cost={cost} />
        ))}
      </tbody>
      <tfoot>
        <SpendingRow name="all" cost={whole} />
      </tfoot>
    </table>
  );
}

function SpendingRow({ name, cost }: Spent) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{cost.requests}</td>
      <td>{formatCount(cost.tokensIn)}</td>
      <td>{formatCount(cost.tokensOut)}</td>
      <td>
        {formatCost(cost)}
        {cost.unpriced > 0 && <span class="wait"> and {cost.unpriced} without a price</span>}
      </td>
    </tr>
  );
}
