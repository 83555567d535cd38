import { did, failed, nth, rounds, said, type Trace, tested } from '../Trace.ts';

export const looping: readonly Trace[] = [
  {
    kind: 'looping',
    about: 'the same web page is fetched and summed up over and over',
    turns: rounds(6, () => [
      did(
        'fetch https://example.test/pricing',
        'Pricing. Starter 9, Team 29, Business on request. All prices without tax.',
      ),
      said('The page lists three plans: Starter for 9, Team for 29 and Business on request, without tax.'),
    ]),
  },
  {
    kind: 'looping',
    about: 'a to-do list is written, read and written again',
    turns: rounds(6, () => [
      did('todo write', 'Saved 4 items.'),
      did('todo read', '1 collect sources 2 compare them 3 write the draft 4 check the draft'),
    ]),
  },
  {
    kind: 'looping',
    about: 'a dependency goes up and down',
    turns: rounds(5, (i) => [
      did('npm install vite@6', `changed 4 packages in ${i}s`, { tree: 'vite6' }),
      failed('npm run build', 'Error: plugin "legacy" requires vite 5', { tree: 'vite6' }),
      did('npm install vite@5', `changed 4 packages in ${i + 1}s`, { tree: 'vite5' }),
      failed('npm run build', 'Error: plugin "modern" requires vite 6', { tree: 'vite5' }),
    ]),
  },
  {
    kind: 'looping',
    about: 'a shell is asked where it is',
    turns: rounds(8, () => did('bash pwd', '/home/agent/project/packages/web')),
  },
  {
    kind: 'looping',
    about: 'a container is started and dies at another memory address each time',
    turns: rounds(6, (i) =>
      failed(
        'docker run app',
        `segmentation fault at 0x7ffd${i}a0${i}c0, core dumped to /tmp/core.${4000 + i}`,
      ),
    ),
  },
  {
    kind: 'looping',
    about: 'asks itself whether it is done',
    turns: rounds(8, () =>
      said('Is the task complete? Let me verify once more that every requirement has been addressed.'),
    ),
  },
  {
    kind: 'looping',
    about: 'scrolls up and down one page',
    turns: rounds(6, () => [
      did('browser scroll down', 'Visible: Delivery, Returns, Contact. The form is below the fold.'),
      did('browser scroll up', 'Visible: Home, Offers, Basket. The form is not on this part of the page.'),
    ]),
  },
  {
    kind: 'looping',
    about: 'writes a file with what it already holds',
    turns: rounds(7, () =>
      did('write config/app.yaml', 'Wrote 214 bytes to config/app.yaml, content unchanged.', {
        tree: 'same',
      }),
    ),
  },
  {
    kind: 'looping',
    about: 'a missing environment variable stops every run',
    turns: rounds(6, () => failed('node dist/main.js', 'Error: DATABASE_URL is not set')),
  },
  {
    kind: 'looping',
    about: 'a plan, an apology, the plan again',
    turns: rounds(5, () => [
      said(
        'To answer this I will query the sales table grouped by month and draw a line chart from the result.',
      ),
      said('Sorry, I should not repeat myself. I will answer the question about monthly sales now.'),
    ]),
  },
  {
    kind: 'looping',
    about: 'four commands in a circle',
    turns: rounds(4, () => [
      did('git stash', 'Saved working directory and index state', { tree: 'clean' }),
      did('git pull', 'Already up to date.', { tree: 'clean' }),
      did('git stash pop', 'Dropped refs/stash@{0}', { tree: 'dirty' }),
      failed('git commit -a', 'pre-commit hook failed: secrets found in .env.example', { tree: 'dirty' }),
    ]),
  },
  {
    kind: 'looping',
    about: 'a date is parsed the same wrong way, run after run',
    turns: rounds(6, (i) =>
      tested('pytest tests/test_dates.py', 6, ['test_parse_german_dates'], {
        outputHash: `run-${i}`,
        tree: 'dates',
      }),
    ),
  },
  {
    kind: 'looping',
    about: 'delegates to a helper that delegates back',
    turns: rounds(5, () => [
      did('handoff billing', 'This question is about shipping. Please hand it to the shipping assistant.'),
      did('handoff shipping', 'This question is about an invoice. Please hand it to the billing assistant.'),
    ]),
  },
  {
    kind: 'looping',
    about: 'works, then asks the same question of a knowledge base for ever',
    turns: [
      did('kb search onboarding', 'Found: Onboarding checklist, First week, Equipment.'),
      did('kb open "First week"', 'Monday: accounts. Tuesday: introductions. Wednesday: first ticket.'),
      did('kb open Equipment', 'Laptops are ordered two weeks ahead by the team lead.'),
      ...rounds(7, (i) => did('kb search "vacation days"', `No article found. (${12 + i} ms)`)),
    ],
  },
  {
    kind: 'looping',
    about: 'one sentence is rewritten between two wordings',
    turns: rounds(5, (i) => [
      did('edit letter.txt formal', 'Replaced 1 sentence.', { tree: 'formal' }),
      said(
        `${nth(['Hm', 'Well', 'No'], i)}, this sounds too formal for a letter to a friend, I make it friendlier.`,
      ),
      did('edit letter.txt friendly', 'Replaced 1 sentence.', { tree: 'friendly' }),
      said(
        `${nth(['Hm', 'Well', 'No'], i)}, this sounds too casual for a letter to a company, I make it more formal.`,
      ),
    ]),
  },
];
