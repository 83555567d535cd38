// `pnpm bench:soak [--minutes 30] [--rate 2] [--retention 1m]`: memory and tables under a steady load, a line each half minute.
import { parseArgs } from 'node:util';
import { soak } from '../test/soak/soak.ts';
import { startPostgres } from '../test/support/startPostgres.ts';

const { minutes, rate, retention } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    rate: { type: 'string', default: '2' },
    retention: { type: 'string', default: '1m' },
  },
}).values;

const server = await startPostgres({ settings: { fsync: 'on' } });
console.log('seconds  started  completed  kept  memory MB  tables MB  dead rows');
try {
  await soak({
    ...{ url: server.url, minutes: Number(minutes), rate: Number(rate), ended: retention, everySeconds: 30 },
    tell: ({ seconds, started, completed, kept, memoryMb, tablesMb, deadRows }) =>
      console.log(
        [seconds, started, completed, kept, memoryMb, tablesMb, deadRows]
          .map((value) => String(value).padStart(8))
          .join(' '),
      ),
  });
} finally {
  await server.stop();
}
process.exit(0);
