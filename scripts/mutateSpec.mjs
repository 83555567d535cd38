// `verify-spec --mutate`: makes every row of the specification ledger false, one at a time, and wants the proof that the
// row names to turn red. The checkout is not touched: each lane spoils a copy of its own.
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './ledger.mjs';
import { proofOf, readMutations } from './mutations.mjs';
import { copySource } from './sourceCopy.mjs';

const LANE = fileURLToPath(new URL('./mutationLane.mjs', import.meta.url));
const LANES = 2;
const RESULTS = 'test-results/mutations.json';

/** A mutation may make a test wait for ever; a command may build and run a suite. In ms. */
const TEST_LIMIT_MS = 240_000;
const COMMAND_LIMIT_MS = 900_000;

/** Changes when a row, its mutation, or one of their files does: then a verdict of before no longer counts. */
function keyOf({ entry, mutation }) {
  const files = [mutation.file, entry.testFile ?? entry.file].map((path) => readFileSync(join(root, path)));
  const hash = createHash('sha256').update(JSON.stringify([entry, mutation]));
  for (const bytes of files) hash.update(bytes);
  return hash.digest('hex').slice(0, 16);
}

const readResults = () =>
  existsSync(join(root, RESULTS)) ? JSON.parse(readFileSync(join(root, RESULTS), 'utf8')) : {};

/** Another run may be under way, of other rows. */
function keepResult(id, result) {
  const results = { ...readResults(), [id]: result };
  mkdirSync(join(root, dirname(RESULTS)), { recursive: true });
  writeFileSync(join(root, RESULTS), `${JSON.stringify(results, null, 2)}\n`);
}

/** Rows of one test file together, so that a lane finds it loaded, and those of one command; the longest group first. */
function grouped(rows) {
  const placeOf = { test: 'testFile', command: 'command', quote: 'file' };
  const groups = new Map();
  for (const row of rows) {
    const { entry, mutation } = row;
    const place = entry[placeOf[proofOf(entry, mutation)]];
    groups.set(place, [...(groups.get(place) ?? []), row]);
  }
  return [...groups.values()].sort((a, b) => b.length - a.length);
}

const limitOf = ({ entry, mutation }) =>
  proofOf(entry, mutation) === 'command' ? COMMAND_LIMIT_MS : TEST_LIMIT_MS;

/** A process with its copy. It is thrown away with its group when a mutation hangs. */
class Lane {
  #copy = null;
  #child = null;
  #log = '';

  #start() {
    this.#copy = copySource();
    this.#log = '';
    const { source, temporary } = this.#copy;
    this.#child = fork(LANE, [source], {
      cwd: source,
      env: { ...process.env, TMPDIR: temporary },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        this.#log = `${this.#log}${text}`.slice(-2_000);
      });
    }
  }

  /** Tells `onVerdict` of each row, in their order. @returns the rows that were not judged, because the process ended */
  run(rows, onVerdict) {
    if (this.#child === null) this.#start();
    const child = this.#child;
    const left = [...rows];
    return new Promise((resolve) => {
      let timer;
      const lose = (why) => {
        const [row, ...others] = left;
        this.close();
        if (row !== undefined) onVerdict(row, { outcome: 'broken', why });
        settle(others);
      };
      const settle = (unjudged) => {
        clearTimeout(timer);
        child.removeAllListeners();
        resolve(unjudged);
      };
      const wait = () => {
        clearTimeout(timer);
        timer = setTimeout(() => lose('it hung'), limitOf(left[0] ?? rows[0]));
      };
      child.on('message', ({ done, id: _, ...verdict }) => {
        if (done) return settle([]);
        onVerdict(left.shift(), verdict);
        return wait();
      });
      child.on('exit', () => lose(`the lane ended: ${this.#log}`));
      wait();
      child.send({ rows });
    });
  }

  close() {
    if (this.#child === null) return;
    this.#child.removeAllListeners();
    try {
      process.kill(-this.#child.pid, 'SIGKILL');
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
    this.#child = null;
    rmSync(this.#copy.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

async function drain(lane, queue, onVerdict) {
  for (let rows = queue.shift(); rows !== undefined; rows = queue.shift()) {
    const left = await lane.run(rows, onVerdict);
    if (left.length > 0) queue.unshift(left);
  }
}

/** Runs them all. @returns `{ id: { key, outcome, why, seconds } }` of these rows */
async function runAll(rows, say) {
  const keys = new Map(rows.map((row) => [row.entry.id, keyOf(row)]));
  const ran = {};
  const lanes = Array.from({ length: LANES }, () => new Lane());
  const onVerdictOf = () => {
    let since = performance.now();
    return (row, verdict) => {
      const { id } = row.entry;
      const seconds = Number(((performance.now() - since) / 1000).toFixed(1));
      since = performance.now();
      ran[id] = { key: keys.get(id), ...verdict, seconds };
      keepResult(id, ran[id]);
      const nth = `${Object.keys(ran).length}/${rows.length}`;
      say(`${nth.padEnd(8)}${id.padEnd(12)}${verdict.outcome.padEnd(9)}${seconds} s  ${verdict.why}\n`);
    };
  };
  const stop = () => {
    for (const lane of lanes) lane.close();
    process.exit(130);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    const queue = grouped(rows);
    await Promise.all(lanes.map((lane) => drain(lane, queue, onVerdictOf())));
  } finally {
    for (const lane of lanes) lane.close();
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
  return ran;
}

const named = (rows, results, outcome) =>
  rows.map(({ entry }) => entry.id).filter((id) => results[id].outcome === outcome);

/**
 * @param only ids of rows; all of them when empty
 * @param resume whether rows that were killed before, by the same files, are not run again
 * @returns `{ ok, killed, survived, broken, notMutable, complaints }`: ids, the reasons of `notMutable`, and complaints
 *   as `{ id, text }`
 */
export async function mutateSpec(ledger, { only, resume, say }) {
  const { rows, notMutable, complaints: all } = readMutations(ledger);
  const unknown = only.filter((id) => rows.every(({ entry }) => entry.id !== id));
  if (unknown.length > 0) throw new TypeError(`There is no mutation of ${unknown.join(', ')}.`);
  const isChosen = (id) => only.length === 0 || only.includes(id);
  const complaints = all.filter(({ id }) => isChosen(id));
  const applicable = rows.filter(
    ({ entry: { id } }) => isChosen(id) && complaints.every((complaint) => complaint.id !== id),
  );
  const before = resume ? readResults() : {};
  const isDone = (row) =>
    before[row.entry.id]?.outcome === 'killed' && before[row.entry.id].key === keyOf(row);
  const ran = await runAll(
    applicable.filter((row) => !isDone(row)),
    say,
  );
  const results = { ...before, ...ran };
  const [killed, survived, broken] = ['killed', 'survived', 'broken'].map((outcome) =>
    named(applicable, results, outcome),
  );
  const ok = survived.length + broken.length + complaints.length === 0;
  return { ok, killed, survived, broken, notMutable, complaints };
}
