// A message in Slack with a button that opens the gate. Make an incoming webhook in Slack, and give its address as `url`.
import type { DurableOptions } from '@devs/core/langgraph';

type Webhook = NonNullable<DurableOptions<object>['webhooks']>[string];

/** @param page - Where people read and decide, such as `https://devs.example.org`. */
export const slack = (url: string, page: string): Webhook => ({
  url,
  events: ['HITL_SESSION_OPENED', 'GATE_REMINDED'],
  body: ({ run, type, data }) => {
    const words = type === 'GATE_REMINDED' ? 'still waits' : 'waits';
    const link = `${page}/#/runs/${encodeURIComponent(run)}/gates/${encodeURIComponent(String(data['sessionId']))}`;
    const text = `Run ${escaped(run)} ${words} for your decision.`;
    const button = { type: 'button', text: { type: 'plain_text', text: 'Read and decide' }, url: link };
    return {
      text, // for notifications
      blocks: [
        { type: 'section', text: { type: 'mrkdwn', text } },
        { type: 'actions', elements: [button] },
      ],
    };
  },
});

/** Slack reads these as markup: a run's name must not mention everybody. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
