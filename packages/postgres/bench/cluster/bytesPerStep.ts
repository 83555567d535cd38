import { query } from '../../test/support/query.ts';
import { openKeeper, type Place } from './keepers.ts';

/** Bytes of changes that PostgreSQL is sent for a super-step with one recorded call: a run of twice the length against one. */
export async function bytesPerStep(place: Place, steps: number): Promise<number> {
  await query(
    place.url,
    `CREATE TABLE devs.sent AS SELECT 0::bigint AS bytes;
     CREATE FUNCTION devs.count_sent() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN UPDATE devs.sent SET bytes = bytes + length(NEW.bytes); RETURN NULL; END $$;
     CREATE TRIGGER count_sent AFTER INSERT ON devs.run_changes FOR EACH ROW EXECUTE FUNCTION devs.count_sent()`,
  );
  const sent = async (n: number): Promise<number> => {
    const keeper = await openKeeper('devs cluster', { steps: n, calls: true }, place);
    const id = `bytes-${n}`;
    await keeper.prepare(id);
    await query(place.url, 'UPDATE devs.sent SET bytes = 0');
    await keeper.run(id);
    await keeper.close();
    return Number((await query(place.url, 'SELECT bytes FROM devs.sent'))[0]?.['bytes']);
  };
  const [short, long] = [await sent(steps), await sent(2 * steps)];
  await query(place.url, 'DROP TRIGGER count_sent ON devs.run_changes');
  return (long - short) / steps;
}
