import type pg from 'pg';
import { poolOf } from '../../src/server/pool.ts';

/** Rows that PostgreSQL read for statements. */
export interface RowsRead {
  /** Rows that were looked at, by table; those of an index that were not fetched count, too. */
  readonly rows: ReadonlyMap<string, number>;
  readonly plans: readonly string[];
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

const SETTINGS = [
  'session_preload_libraries=auto_explain',
  'auto_explain.log_min_duration=0',
  'auto_explain.log_analyze=on',
  'auto_explain.log_timing=off',
  'auto_explain.log_format=json',
  'auto_explain.log_level=notice',
];

/** A pool whose server reports the plan of each statement. */
export class PlanReader {
  readonly pool: pg.Pool;
  #plans: string[] = [];

  constructor(url: string) {
    const options = SETTINGS.map((setting) => `-c ${setting}`).join(' ');
    this.pool = poolOf({ connectionString: url, options, max: 1 });
    this.pool.on('connect', (client) => {
      client.on('notice', ({ message = '' }) => {
        const start = message.indexOf('{');
        if (message.includes('plan:') && start >= 0) this.#plans.push(message.slice(start));
      });
    });
  }

  /** Returns the rows read for `work`. */
  async of(work: () => Promise<unknown>): Promise<RowsRead> {
    this.#plans = [];
    await work();
    const rows = new Map<string, number>();
    for (const plan of this.#plans) addRows((JSON.parse(plan) as { readonly Plan: PlanNode }).Plan, rows);
    return { rows, plans: this.#plans };
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}

function addRows(node: PlanNode, rows: Map<string, number>): void {
  const table = node['Relation Name'] ?? node['Index Name'];
  if (table !== undefined && node['Node Type'] !== 'ModifyTable') {
    const each =
      (node['Actual Rows'] ?? 0) +
      (node['Rows Removed by Filter'] ?? 0) +
      (node['Rows Removed by Index Recheck'] ?? 0);
    rows.set(table, (rows.get(table) ?? 0) + each * (node['Actual Loops'] ?? 1));
  }
  for (const below of node.Plans ?? []) addRows(below, rows);
}
