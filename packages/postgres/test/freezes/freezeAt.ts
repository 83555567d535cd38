import pg from 'pg';
import type { FreezePoint } from './points.ts';

type Query = (...args: unknown[]) => unknown;

/** Has `freeze` called once, when this process comes to that statement; one that finds nothing to reap is none. */
export function freezeAt({ sql, nth, when }: FreezePoint, freeze: () => void): void {
  if (sql === null) return;
  const pattern = sql;
  const client = pg.Client.prototype as unknown as { query: Query };
  const { query } = client;
  let seen = 0;
  client.query = function (this: unknown, ...args: unknown[]): unknown {
    const ask = (): unknown => query.apply(this, args);
    if (seen >= nth || !pattern.test(textOf(args[0]))) return ask();
    if (when === 'once it is answered') return frozenWhenAnswered(ask() as Promise<pg.QueryResult>);
    seen += 1;
    if (seen < nth) return ask();
    if (when === 'before it is sent') freeze();
    else process.nextTick(freeze);
    return ask();
  };

  async function frozenWhenAnswered(answer: Promise<pg.QueryResult>): Promise<pg.QueryResult> {
    const result = await answer;
    if ((result.rowCount ?? 0) > 0) seen += 1;
    if (seen === nth && (result.rowCount ?? 0) > 0) freeze();
    return result;
  }
}

/** Of what is asked: a text, or one with its name. */
function textOf(query: unknown): string {
  const text = typeof query === 'object' && query !== null && 'text' in query ? query.text : query;
  return typeof text === 'string' ? text.trimStart() : '';
}
