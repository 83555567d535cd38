// Metrics of an app. How many runs and gates there are is asked when they are sent; calls are counted from spans that were sent.

import type { RunNumbers } from '../runs/Runs.ts';
import type { RunSpan } from './RunSpan.ts';

/** A metric with its values. Names are those of docs/reference/metrics.md. */
export interface AppMetric {
  readonly name: string;
  /** As OpenTelemetry writes units. */
  readonly unit: string;
  readonly help: string;
  /** It only grows, from 0 when this process started. */
  readonly isCounter: boolean;
  readonly points: readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}

const INPUT = 'gen_ai.usage.input_tokens';
const OUTPUT = 'gen_ai.usage.output_tokens';
const COST = 'devs.cost.usd';

/** Counts calls, tokens and cost of the spans that this process has sent, and the leases that it has lost. */
export class AppMeters {
  #calls = 0;
  #tokensIn = 0;
  #tokensOut = 0;
  #costUsd = 0;
  #leasesLost = 0;

  leaseLost(): void {
    this.#leasesLost += 1;
  }

  count(spans: readonly RunSpan[]): void {
    for (const { attributes } of spans) {
      // Turns have the sums of their steps.
      if (attributes['devs.step'] === undefined) continue;
      const [tokensIn, tokensOut, costUsd] = [INPUT, OUTPUT, COST].map((name) => attributes[name]);
      if (tokensIn === undefined && costUsd === undefined) continue;
      this.#calls += 1;
      this.#tokensIn += Number(tokensIn ?? 0);
      this.#tokensOut += Number(tokensOut ?? 0);
      this.#costUsd += Number(costUsd ?? 0);
    }
  }

  metrics({ runs, gates }: RunNumbers): readonly AppMetric[] {
    return [
      gauge(
        'devs_runs',
        '{run}',
        'Runs by status and tenant.',
        runs.map(({ tenant, status, runs: value }) => ({
          labels: { tenant, status },
          value,
        })),
      ),
      gauge(
        'devs_gates_open',
        '{gate}',
        'Open gates.',
        gates.map(({ tenant, open: value }) => ({
          labels: { tenant },
          value,
        })),
      ),
      gauge(
        'devs_gates_oldest_seconds',
        's',
        'Waiting time of the oldest open gate.',
        gates.map(({ tenant, oldestSeconds: value }) => ({ labels: { tenant }, value })),
      ),
      counter('devs_calls_total', '{call}', 'Finished calls that reported tokens or a cost.', this.#calls),
      {
        ...counter('devs_tokens_total', '{token}', 'Tokens of these calls.', 0),
        points: [
          { labels: { type: 'input' }, value: this.#tokensIn },
          { labels: { type: 'output' }, value: this.#tokensOut },
        ],
      },
      counter('devs_cost_usd_total', '{USD}', 'Cost of these calls in US dollars.', this.#costUsd),
      counter('devs_leases_lost_total', '{lease}', 'Runs that other processes took over.', this.#leasesLost),
    ];
  }
}

const gauge = (name: string, unit: string, help: string, points: AppMetric['points']): AppMetric => ({
  ...{ name, unit, help, points, isCounter: false },
});

const counter = (name: string, unit: string, help: string, value: number): AppMetric => ({
  ...{ name, unit, help, points: [{ labels: {}, value }], isCounter: true },
});
