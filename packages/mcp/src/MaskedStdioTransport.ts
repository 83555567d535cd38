import { maskView } from '@devs/core';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { visibleView } from './visibleView.ts';

/** stdio, with the texts of errors masked and made visible: the protocol's own ones repeat what the client sent. */
export class MaskedStdioTransport extends StdioServerTransport {
  override send(message: JSONRPCMessage): Promise<void> {
    if (!('error' in message)) return super.send(message);
    return super.send({ ...message, error: visibleView(maskView(message.error)) as typeof message.error });
  }
}
