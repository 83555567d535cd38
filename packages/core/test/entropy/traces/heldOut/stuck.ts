import { did, failed, nth, rounds, said, type Trace, tested } from '../Trace.ts';

export const stuck: readonly Trace[] = [
  {
    kind: 'stuck',
    about: 'fixtures are regenerated in many ways, one snapshot stays wrong',
    turns: rounds(7, (i) => [
      did(`write fixtures/seed-${i}.json`, `Wrote ${200 + i} bytes.`, { tree: `f${i}` }),
      tested('jest --ci', 88, ['renders the invoice'], { tree: `f${i}` }),
    ]),
  },
  {
    kind: 'stuck',
    about: 'certificates: every client, one complaint',
    turns: rounds(7, (i) =>
      failed(
        nth(
          [
            'curl https://intern',
            'wget https://intern',
            'git clone https://intern/r',
            'pip install -i https://intern x',
            'node get.js',
          ],
          i,
        ),
        'SSL certificate problem: unable to get local issuer certificate',
      ),
    ),
  },
  {
    kind: 'stuck',
    about: 'the linker misses a symbol, whatever flag is added',
    turns: rounds(7, (i) =>
      failed(
        `make FLAGS=-l${nth(['m', 'z', 'dl', 'rt', 'ssl', 'crypto'], i)}`,
        "undefined reference to `deflateInit_'; collect2: error: ld returned 1 exit status",
      ),
    ),
  },
  {
    kind: 'stuck',
    about: 'a proof is begun from ever other sides and ends at the same gap',
    turns: rounds(8, (i) =>
      said(
        `Attempt by ${nth(['induction', 'contradiction', 'a counting argument', 'compactness'], i)}. Assume the lemma holds for all smaller graphs. Then it remains to show that removing the cut vertex keeps both parts connected, which does not follow from what we know so far, so the argument is incomplete here.`,
      ),
    ),
  },
  {
    kind: 'stuck',
    about: 'a form is filled in differently and refused alike',
    turns: rounds(7, (i) => [
      did(`fill phone ${nth(['0151', '+49 151', '0049151', '(0151)'], i)} ${i}`, 'filled'),
      did(
        'submit form',
        'The form could not be sent: please enter a valid phone number in the field marked with a star.',
      ),
    ]),
  },
  {
    kind: 'stuck',
    about: 'data is cleaned again and again, the check counts the same bad rows',
    turns: rounds(6, (i) => [
      did(
        `python clean.py --strategy ${nth(['trim', 'lower', 'regex', 'drop', 'fill', 'cast'], i)}`,
        `wrote clean-${i}.csv`,
        {
          tree: `csv${i}`,
        },
      ),
      did(
        'python check.py',
        'checked 12,000 rows: 418 rows with an invalid country code, 0 rows with missing ids',
        {
          tree: `csv${i}`,
        },
      ),
    ]),
  },
  {
    kind: 'stuck',
    about: 'the deployment health check never turns green through config changes',
    turns: rounds(6, (i) => [
      did(`set REPLICAS=${i}`, 'config updated', { tree: `k${i}` }),
      failed('deploy web', 'rollout failed: readiness probe returned 503, deadline exceeded', {
        tree: `k${i}`,
      }),
    ]),
  },
  {
    kind: 'stuck',
    about: 'out of memory with every batch size',
    turns: rounds(6, (i) =>
      failed(
        `train --batch ${256 / i}`,
        'CUDA out of memory. Tried to allocate more than is free on device 0.',
      ),
    ),
  },
  {
    kind: 'stuck',
    about: 'two tests take turns in failing, each repair is new',
    turns: rounds(5, (i) => [
      tested('go test ./...', 40, ['TestReadFirst'], { tree: `x${i}` }),
      did(`edit queue.go lock reader ${i}`, 'applied', { tree: `y${i}` }),
      tested('go test ./...', 40, ['TestWriteFirst'], { tree: `y${i}` }),
      did(`edit queue.go lock writer ${i}`, 'applied', { tree: `x${i + 1}` }),
    ]),
  },
  {
    kind: 'stuck',
    about: 'asks for details that nobody gives',
    turns: rounds(8, (i) =>
      said(
        `Before I can go on I need to know which of the two customers called Meyer is meant, since both have an open order and both live in the same city. ${nth(['Could you tell me the customer number?', 'Do you have the customer number at hand?', 'Please send the customer number.'], i)}`,
      ),
    ),
  },
  {
    kind: 'stuck',
    about: 'the schema refuses each answer for one field',
    turns: rounds(6, (i) =>
      failed(`answer variant ${i}`, 'validation failed: /items/0/price must be number, got string'),
    ),
  },
  {
    kind: 'stuck',
    about: 'some progress on a port, then the same three tests for ever',
    turns: [
      ...rounds(3, (i) => [
        did(`port module ${i}`, 'ported', { tree: `o${i}` }),
        tested('cargo test', 10 * i, ['io', 'net', 'fs', 'time', 'sync', 'proc'].slice(i), { tree: `o${i}` }),
      ]),
      ...rounds(7, (i) => [
        did(`edit time.rs idea ${i}`, 'applied', { tree: `v${i}` }),
        tested('cargo test', 30, ['time', 'sync', 'proc'], { tree: `v${i}` }),
      ]),
    ],
  },
  {
    kind: 'stuck',
    about: 'waits for a lock it holds itself, through different commands',
    turns: rounds(7, (i) =>
      failed(
        nth(
          [
            'apt-get install jq',
            'apt-get update',
            'dpkg --configure -a',
            'apt install jq',
            'apt-get -f install',
          ],
          i,
        ),
        `E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process ${900 + i} (apt-get)`,
      ),
    ),
  },
  {
    kind: 'stuck',
    about: 'translates the same paragraph with other synonyms, the reviewer is never content',
    turns: rounds(6, (i) => [
      did(`write de.md draft ${i}`, `saved draft ${i}`, { tree: `w${i}` }),
      did(
        'review de.md',
        'The second paragraph still reads like a literal translation; the idiom about the weather has to be replaced by one that people here use, and the tone should be that of a newspaper.',
      ),
    ]),
  },
  {
    kind: 'stuck',
    about: 'looks for a setting in file after file and never finds it',
    turns: rounds(8, (i) =>
      did(
        `grep timeout ${nth(['app.toml', 'db.toml', 'web.toml', 'log.toml', 'job.toml', 'mail.toml', 'ui.toml', 'cdn.toml'], i)}`,
        'no lines match; the search was case sensitive and did not include commented lines',
      ),
    ),
  },
];
