/** How the server differs from LangGraph's, on purpose. `/info` and the reference of the API list it. */
export const DIFFERENCES = [
  'A message never answers a question: a thread that waits for an answer takes no input (INPUT_NOT_TAKEN).',
  'A command or `input.respond` with `goto` or `update` is refused.',
  'A resume value without the id of its interrupt is taken only where exactly one question is open.',
  'An answer to a question that was replaced, answered or withdrawn is refused (409, `no_such_interrupt`).',
  'Only a person can update a state, fork or delete a thread, or answer.',
  'A fork is a thread of its own: its id is in `Content-Location`.',
  'A resumed run keeps its id.',
  'The assistants are the registered apps: they are read only, and their id is their name.',
  'A run has the stream modes values, updates, custom, messages and messages-tuple; `events` has the text of models only.',
  'The text of models is not stored: it is streamed once, and the values have it.',
] as const;
