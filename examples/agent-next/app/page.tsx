'use client';
import { useStream } from '@langchain/langgraph-sdk/react';
import { useState } from 'react';

interface State extends Record<string, unknown> {
  messages: { id?: string; type: string; content: string }[];
}

export default function Page() {
  const [text, setText] = useState('');
  const stream = useStream<State>({
    apiUrl: typeof location === 'undefined' ? 'http://localhost:3000/api' : `${location.origin}/api`,
    assistantId: 'agent',
    reconnectOnMount: true,
  });
  const answer = (resume: string) => void stream.submit(undefined, { command: { resume } });
  return (
    <main>
      {stream.messages.map(({ id, type, content }) => (
        <p key={id}>
          <b>{type}</b> {String(content)}
        </p>
      ))}
      {stream.interrupt === undefined ? null : (
        <p>
          Publish it?{' '}
          <button type="button" onClick={() => answer('yes')}>
            Yes
          </button>{' '}
          <button type="button" onClick={() => answer('no')}>
            No
          </button>
        </p>
      )}
      <input aria-label="Topic" value={text} onChange={(event) => setText(event.target.value)} />
      <button
        type="button"
        onClick={() => void stream.submit({ messages: [{ type: 'human', content: text }] })}
      >
        Send
      </button>
    </main>
  );
}
