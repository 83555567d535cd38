import { type ChatRequest, callOf, type Reply } from './ChatServer.ts';

// A model that knows one project: two epics of one task each. What it says depends on the request alone, so a request
// that is made again is answered again in the same way.

const TASKS = [
  { key: 'add', epic: 'Arithmetic', name: 'Add numbers', file: 'add', body: 'a + b', example: '2, 2), 4' },
  {
    key: 'double',
    epic: 'Shortcuts',
    name: 'Double a number',
    file: 'double',
    body: '2 * a',
    example: '4), 8',
  },
] as const;

type Task = (typeof TASKS)[number];

export function sumModel(request: ChatRequest): Reply {
  const stage = /^Stage: ([\w ]+)/m.exec(contentOf(request, 0))?.[1] ?? '';
  const task = TASKS.find(({ name }) => contentOf(request, 1).includes(`# ${name}\n`)) ?? TASKS[0];
  if (stage.startsWith('research')) return documents(REPORTS);
  if (stage.startsWith('design')) return documents(DESIGN);
  if (stage.startsWith('distill')) return callOf('submit_plan', PLAN);
  if (stage.startsWith('write the failing test')) return inTurn(request, testOf(task));
  if (stage.startsWith('implement')) return inTurn(request, codeOf(task));
  if (stage.startsWith('review')) return inTurn(request, reviewOf(task));
  return inTurn(request, documentationOf(task));
}

/** The first reply that is not yet in the history. */
function inTurn({ messages }: ChatRequest, replies: readonly Reply[]): Reply {
  const said = messages.filter(({ role }) => role === 'assistant').length;
  return replies[said] ?? { kind: 'status', status: 400, message: `Nothing to say after ${said} replies.` };
}

function contentOf({ messages }: ChatRequest, index: number): string {
  return String(messages[index]?.content ?? '');
}

const documents = (contents: Readonly<Record<string, string>>): Reply =>
  callOf('submit_documents', {
    documents: Object.entries(contents).map(([type, content]) => ({ type, title: type, content })),
  });

const REPORT = 'Numbers can be added.\n\n## Claims\n- [unsourced] Everybody adds.\n';
const REPORTS = { MARKET: REPORT, COMPETITION: REPORT, TECHNOLOGY: REPORT, USERS: REPORT };
const DESIGN = {
  PRD: 'Two functions.',
  TAS: 'Two files.\n\n## Left out\n- MCP_DESIGN: no agents\n- SECURITY: no input\n- UI_UX: a library\n',
};

const PLAN = {
  requirements: TASKS.map(({ name }, index) => ({ externalId: `REQ-${index + 1}`, description: name })),
  epics: TASKS.map(({ key, epic, name, example }, index) => ({
    name: epic,
    description: name,
    tasks: [
      {
        key,
        name,
        description: `${name}.`,
        dependsOn: index === 0 ? [] : [TASKS[0].key],
        requirements: [`REQ-${index + 1}`],
        acceptanceCriteria: [`${key}(${example}`],
      },
    ],
  })),
};

function testOf({ key, file, example }: Task): readonly Reply[] {
  const content = `import assert from 'node:assert';
import { test } from 'node:test';
import { ${key} } from '../src/${file}.js';

test('${key}', () => assert.equal(${key}(${example}));
`;
  return [
    callOf('list_files', {}),
    {
      kind: 'calls',
      calls: [
        { name: 'write_file', arguments: JSON.stringify({ path: `test/${file}.test.js`, content }) },
        {
          name: 'write_file',
          arguments: '{"path":"package.json","content":"{ \\"type\\": \\"module\\" }\\n"}',
        },
      ],
    },
    callOf('finish', { summary: `A test of ${key}.` }),
  ];
}

function codeOf({ key, file, body }: Task): readonly Reply[] {
  const path = `src/${file}.js`;
  return [
    callOf('read_file', { path: `test/${file}.test.js` }),
    callOf('write_file', { path, content: `export const ${key} = (a, b) => BODY;\n` }),
    callOf('edit_file', { path, find: 'BODY', replace: body }),
    callOf('finish', { summary: `${key} works.` }),
  ];
}

const reviewOf = ({ file, key, example }: Task): readonly Reply[] => [
  callOf('read_file', { path: `src/${file}.js` }),
  callOf('submit_review', {
    approved: true,
    comments: 'Simple.',
    evidence: [{ criterion: `${key}(${example}`, shownBy: `test/${file}.test.js: ${key}` }],
  }),
];

const documentationOf = ({ key, file }: Task): readonly Reply[] => [
  callOf('write_file', { path: `docs/${file}.md`, content: `# ${key}\n` }),
  callOf('finish', { summary: `${key} is documented.` }),
];
