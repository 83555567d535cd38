/** The engine of this command; loads LangGraph. */

export { durable } from '@devs/core';
