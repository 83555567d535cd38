import BetterSqlite3, { type Database, type Statement } from 'better-sqlite3';

/** What the connections of this process were asked, and what they answered with. */
export interface Reads {
  readonly statements: number;
  readonly rows: number;
}

type Prepare = (this: Database, sql: string) => Statement;
const connections = BetterSqlite3.prototype as unknown as { prepare: Prepare };

/** Counts what statements do that are prepared from now on, until the returned function is called for what is counted since. */
export function countReads(): { readonly take: () => Reads; readonly stop: () => void } {
  const real = connections.prepare;
  let reads = { statements: 0, rows: 0 };
  connections.prepare = function (sql) {
    const statement = real.call(this, sql);
    for (const name of ['run', 'get', 'all'] as const) {
      const work = statement[name].bind(statement) as (...bound: unknown[]) => unknown;
      const counted = (...bound: unknown[]): unknown => {
        const answer = work(...bound);
        const rows = Array.isArray(answer) ? answer.length : Number(name === 'get' && answer !== undefined);
        reads = { statements: reads.statements + 1, rows: reads.rows + rows };
        return answer;
      };
      Object.defineProperty(statement, name, { value: counted, configurable: true });
    }
    return statement;
  };
  const take = (): Reads => {
    const taken = reads;
    reads = { statements: 0, rows: 0 };
    return taken;
  };
  return { take, stop: () => Object.assign(connections, { prepare: real }) };
}
