import { useStream } from '@langchain/langgraph-sdk/react';
import { type FormEvent, useState } from 'react';
import { createRoot } from 'react-dom/client';

interface Question {
  readonly question: string;
  readonly post: string;
}

interface State extends Record<string, unknown> {
  messages: { id?: string; type: string; content: string }[];
}

const here = new URL(location.href);

/** A reload continues the thread of the address, and an answer that still streams. */
function keepThread(id: string): void {
  here.searchParams.set('thread', id);
  history.replaceState(null, '', here);
}

function Chat() {
  const [text, setText] = useState('');
  const stream = useStream<State, { InterruptType: Question }>({
    apiUrl: 'http://localhost:2024',
    assistantId: 'agent',
    threadId: here.searchParams.get('thread'),
    onThreadId: keepThread,
    reconnectOnMount: () => localStorage,
  });
  const question = stream.interrupt?.value;
  const send = (event: FormEvent) => {
    event.preventDefault();
    void stream.submit(
      { messages: [{ type: 'human', content: text }] },
      { onDisconnect: 'continue', streamResumable: true },
    );
    setText('');
  };
  const answer = (value: string) =>
    void stream.submit(undefined, { command: { resume: value }, streamResumable: true });
  return (
    <main>
      {stream.messages.map(({ id, type, content }) => (
        <p key={id}>
          <b>{type}</b> {String(content)}
        </p>
      ))}
      {question === undefined ? null : (
        <fieldset>
          <legend>{question.question}</legend>
          <button type="button" onClick={() => answer('yes')}>
            Yes
          </button>
          <button type="button" onClick={() => answer('no')}>
            No
          </button>
        </fieldset>
      )}
      {stream.error === undefined ? null : <p role="alert">{String(stream.error)}</p>}
      <form onSubmit={send}>
        <input aria-label="Topic" value={text} onChange={(event) => setText(event.target.value)} />
        <button type="submit" disabled={stream.isLoading || text === ''}>
          Send
        </button>
      </form>
    </main>
  );
}

createRoot(document.body.appendChild(document.createElement('div'))).render(<Chat />);
