const INTERRUPT_ID = /^[0-9a-f]{32}$/;

/** Answers by interrupt id. */
type AnswersById = Readonly<Record<string, unknown>>;

/**
 * Answers that reach the interrupts they are for, and no others. LangGraph looks for an interrupt's id and, where that is
 * not found, for the id of its task's first one: an answer that a node has taken before it failed, given again, would be
 * taken by the node's next `interrupt()`, whatever that asks. The second look finds nothing here.
 */
export function exactAnswers(answers: AnswersById): AnswersById {
  let isSecondLook = false;
  return new Proxy(answers, {
    has(target, id) {
      if (typeof id !== 'string' || !INTERRUPT_ID.test(id)) return Reflect.has(target, id);
      const isFound = !isSecondLook && Object.hasOwn(target, id);
      isSecondLook = !isSecondLook && !isFound;
      return isFound;
    },
  });
}
