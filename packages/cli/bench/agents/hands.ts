import type { Words } from '../../../agents/test/clis/Turn.ts';
import type { Change } from './Job.ts';

export interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

interface Ending {
  readonly summary: string;
  readonly message: string;
}

/** How one client's tools are used. */
export interface Hands {
  readonly search: (text: string, paths: readonly string[]) => Call;
  readonly read: (path: string) => Call;
  readonly edit: (change: Change) => Call;
  /** @param turn - Makes the same command another call. */
  readonly run: (command: string, turn: string) => Call;
  /** Ends a part; the last one has the message of the commit. */
  readonly end: (part: string, ending: Ending) => Words;
  readonly approve: (verdict: Call['input']) => Words;
}

const call = (name: string, input: Call['input']): Call => ({ name, input });
const text = (words: string): Words => ({ kind: 'text', text: words });

/** Of the coding CLI `claude`. */
const CLAUDE: Hands = {
  search: (words, paths) =>
    call('Bash', { command: `grep -rn '${words}' ${paths.join(' ')}`, description: 'Look for it' }),
  read: (path) => call('Read', { file_path: path }),
  edit: (change) =>
    'find' in change
      ? call('Edit', { file_path: change.path, old_string: change.find, new_string: change.replace })
      : call('Write', { file_path: change.path, content: change.content }),
  run: (command, turn) => call('Bash', { command, description: `Run it, ${turn}` }),
  end: (part, { summary, message }) =>
    text(part === 'docs' ? `${summary}\n\nCOMMIT MESSAGE:\n${message}` : summary),
  approve: (verdict) => text(`Read.\n\n\`\`\`json\n${JSON.stringify(verdict)}\n\`\`\`\n`),
};

/** Of devs' own loop around a model. */
const MODEL: Hands = {
  search: (words) => call('search_text', { text: words }),
  read: (path) => call('read_file', { path }),
  edit: (change) =>
    'find' in change
      ? call('edit_file', { path: change.path, find: change.find, replace: change.replace })
      : call('write_file', { path: change.path, content: change.content }),
  run: () => call('run_checks', {}),
  end: (part, { summary, message }) => ({
    kind: 'call',
    ...call('finish', { summary, ...(part === 'docs' && { commit_message: message }) }),
  }),
  approve: (verdict) => ({ kind: 'call', ...call('submit_review', verdict) }),
};

export const handsFor = (tools: readonly string[]): Hands => (tools.includes('read_file') ? MODEL : CLAUDE);
