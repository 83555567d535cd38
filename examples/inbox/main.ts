// .devs state.sqlite 8080    the page of that state file, for the people in people.json
// add ada                    adds somebody: the password is read from the standard input
import { text } from 'node:stream/consumers';
import { serve } from '@hono/node-server';
import { inbox } from './inbox.ts';
import { addPerson } from './people.ts';

const PEOPLE = 'people.json';
const [first = '.devs', second = 'state.sqlite', port = '8080'] = process.argv.slice(2);

if (first === 'add') addPerson(PEOPLE, second, (await text(process.stdin)).trim());
else {
  const app = inbox({ dir: first, file: second, people: PEOPLE, hosts: [`localhost:${port}`] });
  serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(port) }, () =>
    console.log(`http://localhost:${port}/inbox/`),
  );
}
