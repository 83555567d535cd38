// Turns the files in script/ into a recording, written to the file named as the argument. Its lines carry no requests,
// so they answer any; record.ts drives the example with them and adds what the engine asked.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const script = join(here, 'script');
const read = (...names) => readFileSync(join(script, ...names), 'utf8');

const document = (type, file) => {
  const content = read(file);
  return { type, title: content.slice(2, content.indexOf('\n')), content };
};

const stage = (name, response) => ({ stage: name, task: '', attempt: 1, step: 'call', response });

function filesOf(task, step) {
  const folder = join(script, task, step);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)).replaceAll('\\', '/'))
    .sort()
    .map((path) => ({ path, content: read(task, step, path) }));
}

function taskLines(task) {
  const answers = JSON.parse(read(task, 'answers.json'));
  const work = (step) => ({ summary: answers[step], files: filesOf(task, step) });
  const responses = {
    test: work('test'),
    implement: work('implement'),
    review: { approved: true, comments: answers.review },
    document: work('document'),
  };
  return Object.entries(responses).map(([step, response]) => ({
    stage: 'task',
    task,
    attempt: 1,
    step,
    response,
  }));
}

const lines = [
  { format: 'devs-recording/1', label: 'scripted', name: 'slugify' },
  stage('research', { documents: [document('RESEARCH', 'RESEARCH.md')] }),
  stage('design', { documents: [document('PRD', 'design/PRD.md'), document('TAS', 'design/TAS.md')] }),
  stage('distill', JSON.parse(read('plan.json'))),
  ...['T1', 'T2', 'T3'].flatMap(taskLines),
];

const [file] = process.argv.slice(2);
if (file === undefined) throw new TypeError('Expected the file to write as the argument.');
writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
